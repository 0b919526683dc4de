"""How much a client may send, and what happens to the memory when it sends more."""

import time
from concurrent.futures import ThreadPoolExecutor

from contract_checks.backend import Answer, Backend
from contract_checks.docker import wait_until
from contract_checks.errors import assert_error
from contract_checks.needs import for_scenario
from contract_checks.processes import memory
from contract_checks.wire import Wire, chunked, request, wires

BODY = 1_048_576
HEAD = 8192
GROWTH = 64 << 20
CHUNKED = "Transfer-Encoding: chunked"
ANSWER_S = 3.0
FLOOD_S = 5.0
REFUSED_HEAD = (431, 414, 400)


@for_scenario("work")
def check_body_too_large(backend: Backend) -> None:
    """A body of the largest size is read; one byte more is 413, and so are a gigabyte announced and chunks that go on."""
    body = b"[1,2".ljust(BODY) + b"]"
    with Wire(backend) as wire:
        answer = wire.ask(request("POST", "/work", body=body[:-2] + b"]"))
    assert (answer.status, answer.body) == (200, b"Sum: 3"), f"{BODY} bytes: {answer}"
    for what, data in (
        ("one byte too many by length", request("POST", "/work", body=body)),
        ("a gigabyte announced", request("POST", "/work", f"Content-Length: {1 << 30}") + b"[1,"),
        ("more chunks to come", request("POST", "/work", CHUNKED) + chunked(body * 2, 50_000)[:-5]),
    ):
        with Wire(backend, ANSWER_S) as wire:
            assert_error(wire.ask(data), 413, what=what)
    assert_error(backend.get("/nothing"), 404, what="after bodies that were too large")


def check_head(backend: Backend) -> None:
    """A head of 8 KiB is served, whether the request line, one header or many make it so large."""
    for what, data in _heads(HEAD).items():
        with Wire(backend) as wire:
            answer = wire.ask(data)
        assert answer.status == 200, f"a head of {HEAD} bytes, {what}: {answer}"


def check_head_too_large(backend: Backend) -> None:
    """A head beyond 64 KiB is refused, or the connection closed without an answer; the connection ends."""
    for what, data in _heads(72 * 1024).items():
        with Wire(backend, ANSWER_S) as wire:
            wire.send(data)
            answer = wire.answer()
            assert answer is None or answer.status in REFUSED_HEAD, f"a head of 72 KiB, {what}: {answer}"
            assert answer is None or wire.closed(ANSWER_S), f"a head of 72 KiB, {what}: kept open after it"


@for_scenario("work")
def check_endless(backend: Backend) -> None:
    """Clients that send header lines, one line or chunks without an end: the memory stays as it is."""
    head, chunk = request("GET", "/healthz")[:-2], b"10000\r\n%b\r\n" % (b" " * 65536)
    lines = b"".join(b"X-%d: %b\r\n" % (i, b"x" * 1000) for i in range(64))
    _assert_no_growth(backend, 32, head, lines, "endless heads")
    _assert_no_growth(backend, 32, head + b"X: ", b"x" * 65536, "endless lines")
    _assert_no_growth(backend, 16, request("POST", "/work", CHUNKED), chunk, "endless bodies")


def _assert_no_growth(backend: Backend, clients: int, head: bytes, part: bytes, what: str) -> None:
    """Every client sends up to 16 MiB; all connections are still there when the memory is looked at."""
    _settle(backend)
    before = memory(backend)
    with wires(backend, clients, FLOOD_S) as connections, ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda wire: _flood(wire, head, part), connections))
        growth = memory(backend) - before
    print(f"{what} of {clients} clients: {growth / 2**20:.1f} MiB")
    assert growth < GROWTH, f"{what} of {clients} clients: the memory grew by {growth >> 20} MiB"
    assert wait_until(backend.alive, 5), f"no answer after {what} of {clients} clients"


def _flood(wire: Wire, head: bytes, part: bytes) -> None:
    end = time.monotonic() + FLOOD_S
    going = wire.send(head)
    for _ in range((16 << 20) // len(part)):
        if not going or time.monotonic() > end:
            return
        going = wire.send(part)


def _settle(backend: Backend) -> None:
    """Every worker has served something before its memory is the measure."""

    def once(_: int) -> Answer:
        return backend.get("/healthz")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(once, range(64)))


def _heads(size: int) -> dict[str, bytes]:
    """Heads of that size, at most a kilobyte less, by what makes them large."""
    filling = "x" * (size - len(request("GET", "/healthz?", "X:")))
    return {
        "request line": request("GET", f"/healthz?{filling}", "X:"),
        "one header": request("GET", "/healthz", f"X: {filling}"),
        "many headers": request("GET", "/healthz", *(f"X-{i}: {'x' * 980}" for i in range(size // 1000))),
    }


CHECKS = (check_body_too_large, check_head, check_head_too_large, check_endless)

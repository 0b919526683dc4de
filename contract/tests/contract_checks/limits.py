"""How much a client may send, and what happens to the memory when it sends more."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from contract_checks.backend import Backend
from contract_checks.crowds import at_once
from contract_checks.docker import wait_until
from contract_checks.errors import assert_error
from contract_checks.needs import for_scenario
from contract_checks.processes import memory
from contract_checks.wire import CHUNKED, HEALTHY, Closed, Wire, request, wires

BODY = 1_048_576
HEAD = 8192
GROWTH = 64 << 20
FLOOD = 16 << 20
CHUNK = b"10000\r\n%b\r\n" % (b" " * 65536)
ANSWER_S = 3.0
FLOOD_S = 5.0
REFUSED_HEAD = (431, 414, 400)


@for_scenario("work")
def check_body_too_large(backend: Backend) -> None:
    """A body of the largest size is read; one byte more is 413, and so are a gigabyte announced and chunks that go on."""
    body = b"[1,2".ljust(BODY) + b"]"
    with Wire(backend) as wire:
        wire.expect(b"Sum: 3", f"{BODY} bytes", request("POST", "/work", body=body[:-2] + b"]"))
    for what, data in (
        ("one byte too many by length", request("POST", "/work", body=body)),
        ("a gigabyte announced", request("POST", "/work", f"Content-Length: {1 << 30}") + b"[1,"),
        ("more chunks to come", request("POST", "/work", CHUNKED) + CHUNK * 32),
    ):
        with Wire(backend, ANSWER_S) as wire:
            assert_error(wire.ask(data), 413, what=what)


def check_head(backend: Backend) -> None:
    """A head of 8 KiB is served, whether the request line, one header or many make it so large."""
    for data in _heads(HEAD):
        with Wire(backend) as wire:
            wire.expect(HEALTHY, f"a head of {len(data)} bytes, {data[:60]!r}", data)


def check_head_too_large(backend: Backend) -> None:
    """A head beyond 64 KiB is refused, or the connection closed without an answer; the connection ends."""
    for data in _heads(72 * 1024):
        what = f"a head of {len(data)} bytes, {data[:60]!r}"
        with Wire(backend, ANSWER_S) as wire, suppress(Closed):
            assert_error(wire.ask(data), *REFUSED_HEAD, what=what)
            assert wire.closed(ANSWER_S), f"{what}: kept open after it"


def _heads(size: int) -> list[bytes]:
    """Heads of that size, at most a kilobyte less: by the request line, by one header, by many."""
    filling = "x" * (size - len(request("GET", "/healthz?", "X:")))
    many = [f"X-{i}: {'x' * 980}" for i in range(size // 1000)]
    long, large = request("GET", f"/healthz?{filling}", "X:"), request("GET", "/healthz", f"X: {filling}")
    return [long, large, request("GET", "/healthz", *many)]


@for_scenario("work")
def check_endless(backend: Backend) -> None:
    """Clients that send header lines, one line or chunks without an end: the memory stays as it is."""
    head = request("GET", "/healthz")[:-2]
    lines = b"".join(b"X-%d: %b\r\n" % (i, b"x" * 1000) for i in range(64))
    for what, clients, begin, part in (
        ("endless heads", 32, head, lines),
        ("endless lines", 32, head + b"X: ", b"x" * 65536),
        ("endless bodies", 16, request("POST", "/work", CHUNKED), CHUNK),
    ):
        at_once(16, 64, lambda _: backend.get("/healthz"))  # every worker has served something before
        before = memory(backend)
        # All connections are still there when the memory is looked at.
        with wires(backend, clients, FLOOD_S) as connections, ThreadPoolExecutor(clients) as pool:
            list(pool.map(partial(_flood, begin, part), connections))
            growth = memory(backend) - before
        assert growth < GROWTH, f"{what} of {clients} clients: the memory grew by {growth >> 20} MiB"
        assert wait_until(backend.alive, 5), f"no answer after {what} of {clients} clients"


def _flood(begin: bytes, part: bytes, wire: Wire) -> None:
    end = time.monotonic() + FLOOD_S
    for data in (begin, *[part] * (FLOOD // len(part))):
        if time.monotonic() > end or not wire.send(data):
            return


CHECKS = (check_body_too_large, check_head, check_head_too_large, check_endless)

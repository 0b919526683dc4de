"""Requests in odd pieces, in a row, in chunks, and what is no request at all."""

import socket
import time
from contextlib import suppress

from contract_checks.backend import Answer, Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.needs import for_scenario
from contract_checks.wire import Silent, Wire, chunked, request, wires

COOKIE = f"Cookie: sessionid={session(1)}"
CHUNKED = "Transfer-Encoding: chunked"
HEALTHZ = request("GET", "/healthz")
WORK = request("POST", "/work", body=b"[1,2]")
REFUSED_S = 5.0
DELAYED_S, SILENT_S = 0.03, 20.0
# A server says what it dislikes in its own words. 501: the coding is unknown; 505: the version is.
REFUSED = (400, 413, 431, 501, 505)


@for_scenario("work")
def check_fragments(backend: Backend) -> None:
    """A request byte by byte, and cut in two at every place."""
    with Wire(backend) as wire:
        for byte in WORK[:-1]:
            wire.send(bytes([byte]))
            time.sleep(0.001)
        _assert_sum(wire.ask(WORK[-1:]), 3, "byte by byte")
        for cut in range(1, len(WORK)):
            wire.send(WORK[:cut])
            time.sleep(0.003)
            wire.send(WORK[cut:])
            answer = wire.answer()
            assert answer, f"closed after a request that was cut at byte {cut}"
            _assert_sum(answer, 3, f"cut at byte {cut}")


def check_nothing_behind_bodies(backend: Backend) -> None:
    """A body ends where its head says: 120 answers on one connection, and not a byte between or behind them."""
    with Wire(backend, patience_s=3) as wire:
        for turn in range(120):
            _assert_healthy(wire.ask(HEALTHZ), f"request {turn + 1} of 120 on one connection")


@for_scenario("work", "recipe")
def check_pipelined(backend: Backend) -> None:
    """Requests that arrive together are answered in their order, also when the first takes longest."""
    with Wire(backend) as wire:
        wire.send(
            request("POST", "/work?delay_ms=300", body=b"[1]")
            + b"".join(request("POST", "/work", body=b"[%d]" % n) for n in range(2, 20))
            + request("GET", f"{RECIPES}/1", COOKIE)
            + request("GET", "/nothing")
            + request("HEAD", "/healthz")
            + HEALTHZ
        )
        for n in range(1, 20):
            _assert_sum(_next(wire, f"pipelined request {n}"), n, f"pipelined request {n}")
        assert_golden(_next(wire, "a pipelined recipe"), 1)
        assert_error(_next(wire, "a pipelined unknown path"), 404, what="a pipelined unknown path")
        head = wire.answer(b"HEAD")
        assert head, "closed before the pipelined HEAD"
        assert (head.status, head.body) == (200, b""), f"pipelined HEAD: {head}"
        _assert_healthy(_next(wire, "the last pipelined request"), "the last pipelined request")


@for_scenario("work")
def check_chunked(backend: Backend) -> None:
    """Chunks of any size, with extensions and trailers; the next request follows at once."""
    body = b"[10,20,300]"
    head = request("POST", "/work", CHUNKED)
    forms = {f"chunks of {size}": chunked(body, size) for size in (1, 3, len(body))}
    forms["extensions"] = b"4;a=b\r\n[10,\r\n7;c\r\n20,300]\r\n0\r\n\r\n"
    forms["trailers"] = b"b\r\n[10,20,300]\r\n0\r\nX-Sum: 330\r\n\r\n"
    with Wire(backend) as wire:
        for what, data in forms.items():
            _assert_sum(wire.ask(head + data), 330, what)
        wire.send(head)
        for byte in forms["chunks of 3"]:
            wire.send(bytes([byte]))
            time.sleep(0.001)
        _assert_sum(_next(wire, "chunks byte by byte"), 330, "chunks byte by byte")
        wire.send(head + forms["chunks of 1"] + HEALTHZ)
        _assert_sum(_next(wire, "chunks with a request behind"), 330, "chunks with a request behind")
        _assert_healthy(_next(wire, "a request behind chunks"), "a request behind chunks")


def check_no_delay(backend: Backend) -> None:
    """A kept connection costs no 40 ms: TCP_NODELAY is on, or an answer leaves as one piece."""
    asked = [HEALTHZ]
    asked += [request("GET", f"{RECIPES}/1", COOKIE)] if backend.implementation.serves("recipe") else []
    asked += [WORK] if backend.implementation.serves("work") else []
    for data in asked:
        quick_s = [_quick(backend, data)]
        while quick_s[-1] >= DELAYED_S and len(quick_s) < 3:  # a busy machine may be slow as well
            quick_s.append(_quick(backend, data))
        # A program that is slow itself is as slow on new connections, whose first answers are acknowledged at once.
        took_s = min(quick_s) - (_new(backend, data) if min(quick_s) >= DELAYED_S else 0)
        assert took_s < DELAYED_S, (
            f"{data.splitlines()[0]!r} on a kept connection takes {min(quick_s) * 1000:.0f} ms, on a new one {(min(quick_s) - took_s) * 1000:.0f}: Nagle's algorithm waits for the"
            " client's acknowledgement; set TCP_NODELAY on the connections that were accepted"
        )


def _quick(backend: Backend, data: bytes) -> float:
    """A quarter of requests on one connection are as quick as that, without the first: those are acknowledged at once."""
    with Wire(backend) as wire:
        return sorted([wire.ask(data).seconds for _ in range(40)][20:])[5]


def _new(backend: Backend, data: bytes) -> float:
    """A quarter of requests on connections of their own are as quick as that."""
    seconds = []
    for _ in range(8):
        with Wire(backend) as wire:
            seconds.append(wire.ask(data).seconds)
    return sorted(seconds)[2]


def check_silent_connections(backend: Backend) -> None:
    """Eight connections that say nothing, and two threads: another client is answered within 20 s."""
    settings = backend.implementation.honours(THREADS="2", WORKERS="1")
    with backend.variant(**settings) as variant, wires(variant, 8):
        time.sleep(0.5)
        with Wire(variant, SILENT_S) as wire:
            answer = wire.ask(HEALTHZ)
    _assert_healthy(answer, "beside eight silent connections")
    print(f"answered after {answer.seconds:.1f} s")


@for_scenario("recipe")
def check_old_clients(backend: Backend) -> None:
    """HTTP/1.0 and `Connection: close` end the connection, after a whole answer."""
    old = f"GET {RECIPES}/1 HTTP/1.0\r\n{COOKIE}\r\n\r\n".encode()
    for what, data in (
        ("HTTP/1.0", old),
        ("Connection: close", request("GET", f"{RECIPES}/1", COOKIE, "Connection: close")),
    ):
        with Wire(backend) as wire:
            assert_golden(wire.ask(data), 1)
            assert wire.closed(2), f"{what}: the connection stays open"


@for_scenario("work")
def check_malformed(backend: Backend) -> None:
    """What is not HTTP is refused or gets a closed connection: no hanging, and never 500."""
    for what, data in MALFORMED.items():
        for answer in _all(backend, what, data):
            assert answer.status in REFUSED, f"{what}: {answer}"
    for what, (data, status) in TOLERATED.items():
        for answer in _all(backend, what, data):
            assert answer.status in (*REFUSED, *status), f"{what}: {answer}"
    # 2^64 + 5: who counts with 64 bits sees 5. To wait for the rest is right.
    wrapping = _work(CHUNKED, body=b"10000000000000005\r\n[1,2]\r\n0\r\n\r\n")
    for answer in _all(backend, "a huge chunk", wrapping, more=False):
        assert answer.status in REFUSED, f"a huge chunk: {answer}"
    _assert_healthy(backend.get("/healthz"), "after malformed requests")


@for_scenario("work")
def check_conflicting_lengths(backend: Backend) -> None:
    """Where two lengths contradict each other nothing behind the head is taken for a request."""
    inner = request("GET", "/healthz", "X: smuggled")
    for what, headers, body in (
        ("a short and a long length", ("Content-Length: 5", f"Content-Length: {5 + len(inner)}"), b"[1,2]"),
        ("a long and a short length", (f"Content-Length: {5 + len(inner)}", "Content-Length: 5"), b"[1,2]"),
        ("chunks and a length", (CHUNKED, f"Content-Length: {5 + len(inner)}"), b"0\r\n\r\n"),
        ("chunks that are not the last coding", ("Transfer-Encoding: chunked, identity",), b"0\r\n\r\n"),
    ):
        answers = _all(backend, what, request("POST", "/work", *headers) + body + inner)
        assert len(answers) < 2, f"{what}: what follows is answered, too: {list(map(str, answers))}"
        for answer in answers:
            assert answer.status in (*REFUSED, 422), f"{what}: {answer}"


def _all(backend: Backend, what: str, data: bytes, more: bool = True) -> list[Answer]:
    """The answers up to the end of the connection; where there is none at all, it has to end soon.

    Without `more` the client says that it has sent everything.
    """
    answers: list[Answer] = []
    with Wire(backend, REFUSED_S) as wire:
        wire.send(data)
        if not more:
            with suppress(OSError):  # the server was faster
                wire.socket.shutdown(socket.SHUT_WR)
        while True:
            try:
                answer = wire.answer(patience_s=REFUSED_S if not answers else 0.5)
            except Silent as silent:
                if answers:
                    return answers
                raise AssertionError(f"{what}: {silent}") from silent
            if answer is None:
                return answers
            answers.append(answer)


def _next(wire: Wire, what: str) -> Answer:
    answer = wire.answer()
    assert answer, f"{what}: the connection was closed before it"
    return answer


def _assert_sum(answer: Answer, total: int, what: str) -> None:
    assert (answer.status, answer.body) == (200, b"Sum: %d" % total), f"{what}: {answer}"


def _assert_healthy(answer: Answer, what: str) -> None:
    assert (answer.status, answer.body) == (200, b'{"status":"ok"}'), f"{what}: {answer}"


def _work(*headers: str, body: bytes) -> bytes:
    return request("POST", "/work", *headers) + body


MALFORMED = {
    "a TLS greeting": b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + bytes(36) + b"\r\n\r\n",
    "words": b"hello there\r\n\r\n",
    "a version that is none": b"GET /healthz HTTP/1.x\r\nHost: app\r\n\r\n",
    "a method that is no token": b"G(T /healthz HTTP/1.1\r\nHost: app\r\n\r\n",
    "a header without a colon": request("GET", "/healthz", "nonsense"),
    "a blank before the colon": request("GET", "/healthz", "X : y"),
    "NUL in a header": request("GET", "/healthz", "X: a\0b"),
    "a negative length": _work("Content-Length: -5", body=b"[1,2]"),
    "a length with a sign": _work("Content-Length: +5", body=b"[1,2]"),
    "a length of 40 digits": _work(f"Content-Length: {'9' * 40}", body=b"[1,2]"),
    "a chunk's size in words": _work(CHUNKED, body=b"five\r\n[1,2]\r\n0\r\n\r\n"),
    "a chunk longer than its size": _work(CHUNKED, body=b"3\r\n[1,2]\r\n0\r\n\r\n"),
}
# The RFC lets a server be lenient here, or widespread servers are: such an answer is fine, too.
TOLERATED = {
    "two blanks": (b"GET  /healthz HTTP/1.1\r\nHost: app\r\n\r\n", (200, 404)),
    "a path without a slash": (b"GET healthz HTTP/1.1\r\nHost: app\r\n\r\n", (404,)),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", (200,)),
    "bare line feeds": (b"GET /healthz HTTP/1.1\nHost: app\n\n", (200,)),
    "a folded header": (request("GET", "/healthz", "X: a\r\n b"), (200,)),
}

CHECKS = (
    check_fragments,
    check_nothing_behind_bodies,
    check_no_delay,
    check_silent_connections,
    check_old_clients,
    check_pipelined,
    check_chunked,
    check_malformed,
    check_conflicting_lengths,
)

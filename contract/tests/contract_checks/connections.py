"""Requests in odd pieces, in a row, in chunks, and what is no request at all."""

import socket
import time
from contextlib import suppress

from contract_checks.backend import Answer, Backend
from contract_checks.crowds import on_new
from contract_checks.errors import assert_error
from contract_checks.golden import assert_golden
from contract_checks.needs import for_scenario
from contract_checks.wire import CHUNKED, HEALTHY, HEALTHZ, RECIPE, Closed, Silent, Wire, request, wires

WORK = request("POST", "/work", body=b"[1,2]")
DELAYED_S, SILENT_S = 0.03, 20.0
REFUSED_S, MORE_S = 5.0, 0.5
# A server says what it dislikes in its own words. 501: the coding is unknown; 505: the version is.
REFUSED = (400, 413, 431, 501, 505)


@for_scenario("work")
def check_fragments(backend: Backend) -> None:
    """A request cut in two at every place, and byte by byte."""
    cuts = [[WORK[:at], WORK[at:]] for at in range(1, len(WORK))]
    with Wire(backend) as wire:
        for pieces in (*cuts, [bytes([byte]) for byte in WORK]):
            for piece in pieces:
                wire.send(piece)
                time.sleep(0.003)
            wire.expect(b"Sum: 3", f"in {len(pieces)} pieces, the first of {len(pieces[0])} bytes")


def check_nothing_behind_bodies(backend: Backend) -> None:
    """A body ends where its head says: 120 answers on one connection, and not a byte between or behind them."""
    with Wire(backend, patience_s=3) as wire:
        for turn in range(120):
            wire.expect(HEALTHY, f"request {turn + 1} of 120 on one connection", HEALTHZ)


@for_scenario("work", "recipe")
def check_pipelined(backend: Backend) -> None:
    """Requests that arrive together are answered in their order, also when the first takes longest."""
    first = request("POST", "/work?delay_ms=300", body=b"[1]")
    with Wire(backend) as wire:
        sums = b"".join(request("POST", "/work", body=b"[%d]" % n) for n in range(2, 20))
        others = RECIPE + request("GET", "/nothing") + request("HEAD", "/healthz") + HEALTHZ
        wire.send(first + sums + others)
        for n in range(1, 20):
            wire.expect(b"Sum: %d" % n, f"pipelined request {n}")
        assert_golden(wire.answer(), 1)
        assert_error(wire.answer(), 404, what="a pipelined unknown path")
        head = wire.answer(b"HEAD")
        assert (head.status, head.body) == (200, b""), f"pipelined HEAD: {head}"
        wire.expect(HEALTHY, "the last pipelined request")


@for_scenario("work")
def check_chunked(backend: Backend) -> None:
    """Chunks of any size, with extensions and trailers; the next request follows at once."""
    body, head = b"[10,20,300]", request("POST", "/work", CHUNKED)
    forms = {
        "one chunk": b"b\r\n%b\r\n0\r\n\r\n" % body,
        "chunks of a byte": b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n",
        "chunks of 3": b"3\r\n[10\r\n3\r\n,20\r\n3\r\n,30\r\n2\r\n0]\r\n0\r\n\r\n",
        "extensions": b"4;a=b\r\n[10,\r\n7;c\r\n20,300]\r\n0\r\n\r\n",
        "trailers": b"b\r\n%b\r\n0\r\nX-Sum: 330\r\n\r\n" % body,
    }
    with Wire(backend) as wire:
        for what, data in forms.items():
            wire.send(head + data + WORK)
            wire.expect(b"Sum: 330", what)
            wire.expect(b"Sum: 3", f"a request behind {what}")
        for byte in head + forms["chunks of 3"]:
            wire.send(bytes([byte]))
            time.sleep(0.001)
        wire.expect(b"Sum: 330", "chunks byte by byte")


def check_no_delay(backend: Backend) -> None:
    """A kept connection costs no 40 ms: TCP_NODELAY is on, or an answer leaves as one piece."""
    for scenario, data in (("healthz", HEALTHZ), ("recipe", RECIPE), ("work", WORK)):
        if backend.implementation.serves(scenario):
            more_s = min(_more_on_kept(backend, data) for _ in range(3))  # a busy machine may be slow once
            assert more_s < DELAYED_S, (
                f"{data.splitlines()[0]!r} takes {more_s * 1000:.0f} ms more on a kept connection than on a new one:"
                " Nagle's algorithm waits for the client; set TCP_NODELAY on the connections that were accepted"
            )


def _more_on_kept(backend: Backend, data: bytes) -> float:
    """What a request takes on a kept connection beyond what it takes on a new one, as a quarter of each have it. The first
    answers of a connection are acknowledged at once."""
    with Wire(backend) as wire:
        kept = [wire.ask(data).seconds for _ in range(40)][20:]
    return sorted(kept)[5] - on_new(backend, 8, data)[2]


def check_silent_connections(backend: Backend) -> None:
    """Eight connections that say nothing, and two threads: another client is answered within 20 s."""
    settings = backend.implementation.honours(THREADS="2", WORKERS="1")
    with backend.variant(**settings) as variant, wires(variant, 8):
        time.sleep(0.5)
        with Wire(variant, SILENT_S) as wire:
            wire.expect(HEALTHY, "beside eight silent connections", HEALTHZ)


@for_scenario("recipe")
def check_old_clients(backend: Backend) -> None:
    """HTTP/1.0 and `Connection: close` end the connection, after a whole answer."""
    for what, data in (
        ("HTTP/1.0", RECIPE.replace(b"HTTP/1.1", b"HTTP/1.0")),
        ("Connection: close", RECIPE.replace(b"Host: app", b"Host: app\r\nConnection: close")),
    ):
        with Wire(backend) as wire:
            assert_golden(wire.ask(data), 1)
            assert wire.closed(2), f"{what}: the connection stays open"


@for_scenario("work")
def check_malformed(backend: Backend) -> None:
    """What is not HTTP is refused or gets a closed connection: no hanging, and never 500."""
    for what, data in MALFORMED.items():
        for answer in _all(backend, data):
            assert answer.status in REFUSED, f"{what}: {answer}"
    for what, (data, status) in TOLERATED.items():
        for answer in _all(backend, data):
            assert answer.status in (*REFUSED, *status), f"{what}: {answer}"
    # 2^64 + 5: who counts with 64 bits sees 5. To wait for the rest is right.
    wrapping = request("POST", "/work", CHUNKED) + b"10000000000000005\r\n[1,2]\r\n0\r\n\r\n"
    for answer in _all(backend, wrapping, more=False):
        assert answer.status in REFUSED, f"a huge chunk: {answer}"
    assert backend.alive(), "no answer after malformed requests"


def _all(backend: Backend, data: bytes, more: bool = True) -> list[Answer]:
    """The answers up to the end of the connection; where there is none at all, it has to end soon. Without `more` the client
    says that it has sent everything."""
    answers = list[Answer]()
    with Wire(backend, REFUSED_S) as wire, suppress(Closed):
        wire.send(data)
        if not more:
            with suppress(OSError):  # the server was faster
                wire.socket.shutdown(socket.SHUT_WR)
        answers.append(wire.answer())
        wire.patience_s = MORE_S
        with suppress(Silent):
            while True:
                answers.append(wire.answer())
    return answers


@for_scenario("work")
def check_conflicting_lengths(backend: Backend) -> None:
    """Where two lengths contradict each other nothing behind the head is taken for a request."""
    inner = request("GET", "/healthz", "X: smuggled")
    short, long = "Content-Length: 5", f"Content-Length: {5 + len(inner)}"
    for what, headers, body in (
        ("a short and a long length", (short, long), b"[1,2]"),
        ("a long and a short length", (long, short), b"[1,2]"),
        ("chunks and a length", (CHUNKED, long), b"0\r\n\r\n"),
        ("chunks that are not the last coding", ("Transfer-Encoding: chunked, identity",), b"0\r\n\r\n"),
    ):
        with Wire(backend, REFUSED_S) as wire, suppress(Closed):
            asked = request("POST", "/work", *headers) + body + inner
            assert_error(wire.ask(asked), *REFUSED, 422, what=what)
            wire.closed(MORE_S)  # fails where what follows is answered, too


MALFORMED = {
    "a TLS greeting": b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + bytes(36) + b"\r\n\r\n",
    "words": b"hello there\r\n\r\n",
    "a version that is none": b"GET /healthz HTTP/1.x\r\nHost: app\r\n\r\n",
    "a method that is no token": b"G(T /healthz HTTP/1.1\r\nHost: app\r\n\r\n",
    "a header without a colon": request("GET", "/healthz", "nonsense"),
    "a blank before the colon": request("GET", "/healthz", "X : y"),
    "NUL in a header": request("GET", "/healthz", "X: a\0b"),
    "a negative length": request("POST", "/work", "Content-Length: -5") + b"[1,2]",
    "a length with a sign": request("POST", "/work", "Content-Length: +5") + b"[1,2]",
    "a length of 40 digits": request("POST", "/work", f"Content-Length: {'9' * 40}") + b"[1,2]",
    "a chunk's size in words": request("POST", "/work", CHUNKED) + b"five\r\n[1,2]\r\n0\r\n\r\n",
    "a chunk longer than its size": request("POST", "/work", CHUNKED) + b"3\r\n[1,2]\r\n0\r\n\r\n",
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
    check_fragments, check_nothing_behind_bodies, check_no_delay, check_silent_connections, check_old_clients,
    check_pipelined, check_chunked, check_malformed, check_conflicting_lengths,
)  # fmt: skip

"""A connection that sends any bytes at any pace; httpx would send only what is right."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

import h11
import httpx

from contract_checks.backend import Answer, Backend
from contract_checks.golden import RECIPES, session

PATIENCE_S = 10.0
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close() sends a reset
CHUNKED = "Transfer-Encoding: chunked"


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    """A request; a body is JSON, and its length goes with it."""
    length = ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: app", *length, *headers, "", ""]).encode() + body


HEALTHZ, HEALTHY = request("GET", "/healthz"), b'{"status":"ok"}'
RECIPE = request("GET", f"{RECIPES}/1", f"Cookie: sessionid={session(1)}")


class Silent(AssertionError):
    """Nothing came, and the connection is open."""


class Closed(AssertionError):
    """The connection ended before the first byte of an answer."""


class Wire:
    """One TCP connection to the application."""

    def __init__(self, backend: Backend, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self._unread = b""
        self._asked = "nothing"
        self.socket = socket.create_connection((backend.host, backend.port), patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> bool:
        """Whether all of it went out; not so when the server has closed or takes no more."""
        self._asked = f"{data[:80]!r}, {len(data)} bytes on a connection of its own"
        self.socket.settimeout(self.patience_s)
        try:
            self.socket.sendall(data)
        except (ConnectionError, TimeoutError):
            return False
        return True

    def ask(self, data: bytes) -> Answer:
        """Sends a request; the answer to it."""
        self.send(data)
        return self.answer()

    def expect(self, body: bytes, what: str, data: bytes | None = None) -> Answer:
        """Fails unless the next answer, or the one to this request, is 200 with that body."""
        try:
            answer = self.answer() if data is None else self.ask(data)
        except (Closed, Silent) as error:
            raise type(error)(f"{what}: {error}") from error
        assert (answer.status, answer.body) == (200, body), f"{what}: {answer}"
        return answer

    def answer(self, method: bytes = b"GET") -> Answer:
        """The next answer; raises Closed or Silent where there is none, AssertionError where it is broken."""
        began = time.monotonic()
        parser = h11.Connection(h11.CLIENT)
        parser.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        parser.send(h11.EndOfMessage())
        head: h11.Response | None = None
        body = b""
        try:
            while not isinstance(event := parser.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    data = self._receive(began + self.patience_s)
                    if not (data or head or parser.trailing_data[0]):
                        raise Closed(f"the connection was closed without an answer to {self._asked}")
                    parser.receive_data(data)
                elif isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    body += event.data
        except h11.RemoteProtocolError as error:
            raise AssertionError(f"a broken answer: {error}; {head} {body[-200:]!r}") from error
        self._unread = parser.trailing_data[0]
        assert head
        headers, seconds = httpx.Headers(list(head.headers)), time.monotonic() - began
        return Answer(head.status_code, headers, body, seconds, self._asked)

    def closed(self, within_s: float) -> bool:
        """Whether the server closes the connection in that time; raises when it sends something."""
        try:
            data = self._receive(time.monotonic() + within_s)
        except Silent:
            return False
        assert not data, f"bytes that nobody asked for, after {self._asked}: {data[:200]!r}"
        return True

    def abort(self) -> None:
        """Closes with a reset, as a client that dies."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.socket.close()

    def _receive(self, end: float) -> bytes:
        """What has arrived, at least a byte; nothing at the connection's end."""
        data, self._unread = self._unread, b""
        self.socket.settimeout(max(0.01, end - time.monotonic()))
        try:
            return data or self.socket.recv(1 << 16)
        except ConnectionError:
            return b""
        except TimeoutError:
            raise Silent(f"no answer to {self._asked}, and the connection is open") from None


@contextmanager
def wires(backend: Backend, number: int, patience_s: float = PATIENCE_S) -> Iterator[list[Wire]]:
    """That many connections at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(Wire(backend, patience_s)) for _ in range(number)]

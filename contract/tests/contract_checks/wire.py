"""A connection that sends any bytes at any pace; httpx would send only what is right."""

from __future__ import annotations

import resource
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

import h11
import httpx

from contract_checks.backend import Answer, Backend

PATIENCE_S = 10.0
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close() sends a reset


class Silent(AssertionError):
    """Nothing came, and the connection is open."""


class Wire:
    """One TCP connection to the application."""

    def __init__(self, backend: Backend, patience_s: float = PATIENCE_S) -> None:
        self._name = backend.implementation.name
        self._patience_s = patience_s
        self._unread = b""
        self._sent = b""
        self.socket = socket.create_connection((backend.host, backend.port), patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> bool:
        """Whether all of it went out; not so when the server has closed or takes no more."""
        self._sent = data
        try:
            self.socket.sendall(data)
        except (ConnectionError, TimeoutError):
            return False
        return True

    def ask(self, data: bytes) -> Answer:
        """Sends a request for which there has to be an answer."""
        self.send(data)
        try:
            answer = self.answer()
        except Silent as silent:
            raise Silent(f"{silent}, after {data[:80]!r}") from silent
        assert answer, f"the connection was closed without an answer to {data[:80]!r}"
        return answer

    def answer(self, method: bytes = b"GET", patience_s: float | None = None) -> Answer | None:
        """The next answer; None when the connection ends before its first byte.

        Raises AssertionError when it is cut short, is not HTTP, or does not come.
        """
        began = time.monotonic()
        parser = h11.Connection(h11.CLIENT)
        parser.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        parser.send(h11.EndOfMessage())
        head: h11.Response | None = None
        body = bytearray()
        data, self._unread = self._unread, b""
        some = bool(data)
        if data:
            parser.receive_data(data)
        try:
            while not isinstance(event := parser.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    data = self._receive(began + (patience_s or self._patience_s))
                    if not data and not some:
                        return None
                    some = True
                    parser.receive_data(data)
                elif isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    body += event.data
        except h11.RemoteProtocolError as error:
            raise AssertionError(f"a broken answer: {error}; {head} {bytes(body[-200:])!r}") from error
        self._unread = parser.trailing_data[0]
        assert head
        seconds = time.monotonic() - began
        asked = f"{self._sent[:80]!r}, {len(self._sent)} bytes on a connection of its own"
        return Answer(head.status_code, httpx.Headers(list(head.headers)), bytes(body), seconds, asked)

    def closed(self, within_s: float) -> bool:
        """Whether the server closes the connection in that time; raises when it sends something."""
        try:
            data = self._unread or self._receive(time.monotonic() + within_s)
        except Silent:
            return False
        assert not data, f"bytes that nobody asked for: {data[:200]!r}"
        return True

    def abort(self) -> None:
        """Closes with a reset, as a client that dies."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.socket.close()

    def _receive(self, end: float) -> bytes:
        """What has arrived, at least a byte; nothing at the connection's end."""
        self.socket.settimeout(max(0.01, end - time.monotonic()))
        try:
            return self.socket.recv(1 << 16)
        except ConnectionError:
            return b""
        except TimeoutError:
            raise Silent(f"{self._name}: no answer, and the connection is open") from None
        finally:
            self.socket.settimeout(self._patience_s)


@contextmanager
def wires(backend: Backend, number: int, patience_s: float = PATIENCE_S) -> Iterator[list[Wire]]:
    """That many connections at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(Wire(backend, patience_s)) for _ in range(number)]


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    """A request; a body is JSON, and its length goes with it."""
    length = ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: app", *length, *headers, "", ""]).encode() + body


def chunked(body: bytes, size: int) -> bytes:
    """The body in chunks of that size."""
    parts = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def open_files() -> int:
    """How many files this process may open, after it has asked for as many as it can get."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most

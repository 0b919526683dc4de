"""One connection: HTTP/1.1 on a blocking socket, read and checked."""

import contextlib
import http.client
import re
import socket
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from errors import JSON, Answer, Failure
from routes import Request

if TYPE_CHECKING:
    from server import Server

MAX_HEAD = 64 * 1024
MAX_BODY = 1024 * 1024
IDLE_S = 75
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Head:
    """The stream as `http.server` reads a head from it: lines, with a limit on all of them together."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream, self._left = stream, limit
        self.odd = False  # a carriage return inside a line, which parsers read in different ways

    def readline(self, most: int = -1) -> bytes:
        """The next line; raises LineTooLong when the head is beyond its limit."""
        line: bytes = self._stream.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.LineTooLong("head")
        self.odd = self.odd or b"\r" in line.removesuffix(b"\r\n").removesuffix(b"\n")
        return line


class Handler(BaseHTTPRequestHandler):
    """One client connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave in one packet
    server: "Server"

    def setup(self) -> None:
        self.fault = self.server.fault
        if self.fault == "nagle":
            self.disable_nagle_algorithm, self.wbufsize = False, 0
        super().setup()
        self.connection.settimeout(3 if self.fault == "short-keep-alive" else IDLE_S)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            if self.fault == "hung-up-kept":
                self.server.application.pool.lose()

    def handle_one_request(self) -> None:
        stream, self._unread, self._waits = self.rfile, False, False
        self.server.rest(self.connection)
        head = Head(stream, {"no-head-limit": 1 << 40, "small-head": 4096}.get(self.fault, MAX_HEAD))
        self.command, self.close_connection = "", True
        try:
            self.raw_requestline = head.readline()
            if self.raw_requestline in (b"\r\n", b"\n"):  # RFC 9112, 2.2: one blank line before a request
                self.raw_requestline = head.readline()
            self.server.work(self.connection)
            if not self.raw_requestline:
                return
            if self.fault == "one-packet-requests" and b"\r\n\r\n" not in stream.peek():  # type: ignore[attr-defined]
                raise Failure(400)
            self.rfile = head  # type: ignore[assignment]
            parsed = self.parse_request()
            self.rfile = stream
            if not parsed:
                return
            self._check(head)
            answer = self.server.answer(self._request())
        except http.client.LineTooLong:
            self.send_error(431)
            return
        except TimeoutError:
            return
        except Failure as failure:
            self.send_error(500 if self.fault == "odd-requests-500" else failure.status)
            return
        finally:
            self.rfile = stream
        self._reply(answer)
        self._finish()
        if self.fault == "drops-pipelined":
            self.rfile = self.connection.makefile("rb")

    def _check(self, head: Head) -> None:
        """Refuses a head that two servers could read in two ways (RFC 9112, 11.2)."""
        names = [name for name, _ in self.headers.items()]
        bad = self.request_version == "HTTP/0.9" or head.odd or bool(self.headers.defects)
        bad = bad or any(not TOKEN.fullmatch(name) for name in names)
        bad = bad or any(c in value for _, value in self.headers.items() for c in "\0\r\n")
        hosts = len(self.headers.get_all("Host", []))
        if bad or hosts > 1 or (self.request_version == "HTTP/1.1" and not hosts):
            raise Failure(400)
        if not TOKEN.fullmatch(self.command) or not self.path.startswith("/"):
            raise Failure(400)
        codings = [value.lower() for value in self.headers.get_all("Transfer-Encoding", [])]
        lengths = self.headers.get_all("Content-Length", [])
        if self.fault == "smuggling":
            lengths, codings = lengths[:1], [] if lengths else codings
        if codings and self.fault == "no-chunks":
            raise Failure(400)
        if codings not in ([], ["chunked"]) or (codings and lengths):
            raise Failure(400)
        if len(set(lengths)) > 1 or any(not re.fullmatch(r"[0-9]{1,18}", text) for text in lengths):
            raise Failure(400)
        self._length = int(lengths[0]) if lengths else 0
        self._unread = bool(codings) or self._length > 0
        self._chunked = bool(codings)

    def _request(self) -> Request:
        cookie = "; ".join(self.headers.get_all("Cookie", []))
        return Request(self.command, self.path, cookie, self.headers.get("User-Agent", ""), self._body)

    def handle_expect_100(self) -> bool:
        """The client is told to go on when a handler asks for the body, and not before."""
        self._waits = True
        return True

    def _body(self) -> bytes:
        """The body; raises Failure when it is too large, cut off or not well formed."""
        self._most = {"no-body-limit": 1 << 40, "small-body": MAX_BODY - 1}.get(self.fault, MAX_BODY)
        if not self._chunked and self._length > self._most and self.fault != "late-413":
            raise Failure(413)
        if self._waits:
            self._waits = False
            self.send_response_only(100)
            self.end_headers()
            self.wfile.flush()
        body = self._chunks() if self._chunked else self._exactly(self._length)
        self._unread = False
        if len(body) > self._most:
            raise Failure(413)
        return body

    def _exactly(self, length: int) -> bytes:
        data = self.rfile.read(length)
        if len(data) < length:
            raise Failure(400)
        return data

    def _chunks(self) -> bytes:
        parts, size = [], 0
        while True:
            line = self.rfile.readline(1024).partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", line):
                raise Failure(400)
            length = int(line, 16)
            size += length
            if size > self._most:
                raise Failure(413)
            if length == 0:
                break
            parts.append(self._exactly(length))
            if self.rfile.readline(3) not in (b"\r\n", b"\n"):
                raise Failure(400)
        trailers = Head(self.rfile, MAX_HEAD)
        while trailers.readline() not in (b"\r\n", b"\n", b""):
            pass
        return b"".join(parts)

    def _reply(self, answer: Answer) -> None:
        keep = self.headers.get("Connection", "").lower() != "close" and self.request_version == "HTTP/1.1"
        self.close_connection = not keep or self.server.stopping
        if self.fault == "never-closes":
            self.close_connection = False
        self.server.answered += 1
        if self.server.answered % {"closes-at-times": 11, "closes-always": 1}.get(self.fault, 1 << 40) == 0:
            self.close_connection = True
        if self._unread and not self._drain():
            self.close_connection = True
        if self.fault == "blank-line-first" and self.headers.get("User-Agent", "").startswith("oha/"):
            self.wfile.write(b"\r\n")
        self.send_response(answer.status)
        if answer.kind:
            self.send_header("Content-Type", answer.kind)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            half = self.fault == "half-answers" and self.server.stopping
            self.wfile.write(answer.body[: len(answer.body) // 2] if half else answer.body)
            if self.fault == "bytes-behind-body" and self.server.answered % 50 == 0:
                self.wfile.write(b"nothing")
        self.wfile.flush()
        if self.server.logs:
            print(f"{self.command} {self.path} {answer.status}")

    def _drain(self) -> bool:
        """Reads a small body that no handler wanted, else it would be taken for the next request."""
        if self._waits or self._chunked or self._length > MAX_BODY:
            return False
        return len(self.rfile.read(self._length)) == self._length

    def _finish(self) -> None:
        """Lets the client read the answer before what it still sends makes the system reset the connection."""
        if not (self.close_connection and self._unread):
            return
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(0.5)
            end = time.monotonic() + 1
            while time.monotonic() < end and self.rfile.read1(65536):
                pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What `http.server` would say in HTML; the connection ends."""
        status = code if code in (413, 431, 500) else 400
        self.command = self.command or "GET"
        self.request_version, self.headers = "HTTP/1.0", http.client.HTTPMessage()
        self._unread = False
        self._reply(Answer(status, b'{"error":"bad request"}', JSON))
        self._unread, self.close_connection = True, True
        self._finish()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Silent: `_reply` writes the line."""

    log_message = log_request  # type: ignore[assignment]

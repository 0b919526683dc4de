"""A server on this machine, whose answers a test gives."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

type Answer = Callable[[str], tuple[int, bytes]]
"""The method of a request -> status and body."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: apart, each answer waits 40 ms for an acknowledgement
    server: "AnsweringServer"

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, dict(self.headers), sent))
        status, body = self.server.answer(self.command)
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None: ...


class AnsweringServer(ThreadingHTTPServer):
    """asked: path, headers and body of each request."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.asked = answer, list[tuple[str, dict[str, str], bytes]]()


@contextmanager
def serving(answer: Answer) -> Iterator[AnsweringServer]:
    with AnsweringServer(answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()

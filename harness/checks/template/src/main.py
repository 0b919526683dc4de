"""A stub, to be replaced: it answers /healthz, every other path is 404, and SIGTERM ends it."""

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONTRACT = Path(__file__).parents[2] / "contract"


def statements() -> dict[str, str]:
    """The contract's SQL by name: `session`, `recipe_by_id`, ..."""
    return {file.stem: file.read_text() for file in (CONTRACT / "sql/queries").glob("*.sql")}


def setting(name: str, default: str) -> str:
    """A variable of the environment. One that is empty counts as not set."""
    return os.environ.get(name) or default


def answer(method: str, target: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and further headers."""
    if target.split("?")[0] != "/healthz":
        return 404, b'{"error":"not found"}', {}
    if method not in ("GET", "HEAD"):
        return 405, b'{"error":"method not allowed"}', {"Allow": "GET, HEAD"}
    return 200, b'{"status":"ok"}', {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 75

    def handle_any(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, body, headers = answer(self.command, self.path)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = handle_any

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    port = setting("PORT", "8080")
    if not (port.isdecimal() and 0 < int(port) < 65536):
        sys.exit(f"PORT is a number from 1 to 65535, not {port!r}")
    server = ThreadingHTTPServer(("", int(port)), Handler)
    server.daemon_threads = True
    print(f"{len(statements())} statements, port {port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

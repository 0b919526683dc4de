"""Reads the settings, listens, and serves until SIGTERM."""

import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import config
from routes import Application


class Handler(BaseHTTPRequestHandler):
    """One client connection, on a thread of its own."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave in one packet
    application: Application
    logs = False

    def reply(self) -> None:
        self._drain()
        cookie = "; ".join(self.headers.get_all("Cookie", []))
        answer = self.application.answer(self.command, self.path, cookie)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        if self.logs:
            print(f"{self.command} {self.path} {answer.status}")

    def _drain(self) -> None:
        # A body that nobody reads would be taken for the next request. One of unknown length ends
        # the connection, because this server does not know chunks.
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdigit():
            self.close_connection = True
        else:
            self.rfile.read(int(length))

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Silent: `reply` writes the line."""

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = reply


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


def main() -> None:
    settings = config.read()
    Handler.application = Application(settings)
    Handler.logs = (settings.access_log or settings.fault == "log-always") and settings.fault != "log-ignored"
    server = Server(("", 8080 if settings.fault == "port-ignored" else settings.port), Handler)
    # shutdown() waits for the loop below to end, so it needs a thread of its own.
    stop = threading.Thread(target=server.shutdown)
    ignored = settings.fault == "deaf-to-sigterm"
    signal.signal(signal.SIGTERM, lambda *_: None if ignored else stop.start())
    server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    try:
        main()
    except config.BadSetting as error:
        sys.exit(f"broken: {error}")

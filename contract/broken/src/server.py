"""Accepts on WORKERS threads, a thread reads and writes for each connection, THREADS others run the handlers."""

import contextlib
import http.client
import os
import queue
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import ThreadingHTTPServer
from typing import Any

from config import Config
from connection import Handler
from errors import Answer
from routes import Application, Request

GRACE_S = 10


class Server(ThreadingHTTPServer):
    """Accepts on WORKERS threads; knows which connections are idle, so that it can stop in good order."""

    request_queue_size = 4096
    daemon_threads = True

    def __init__(self, port: int, config: Config) -> None:
        super().__init__(("", port), Handler)
        self.fault = fault = config.fault
        if fault == "no-head-limit":
            # Python's own limits are the second line of defence.
            http.client._MAXLINE = http.client._MAXHEADERS = 1 << 40  # type: ignore[attr-defined]
        self._leaked: list[socket.socket] = []
        self._kept: list[bytes] = []
        self.logs = (config.access_log or fault == "log-always") and fault != "log-ignored"
        self.stopping = False
        self.answered = 0
        self.application = Application(config)
        few = {"threads-ignored": 2, "one-request-at-a-time": 1, "last-in-first-out": 4}
        threads = few.get(fault, config.threads)
        self._places = threading.Semaphore(config.threads)
        self._handlers = ThreadPoolExecutor(threads, "handler")
        if fault == "last-in-first-out":
            self._handlers._work_queue = queue.LifoQueue()  # type: ignore[assignment]
        workers = 1 if fault == "workers-ignored" else config.workers
        self._acceptors = [threading.Thread(target=self._accept) for _ in range(workers)]
        self._lock = threading.Lock()
        self._idle: set[socket.socket] = set()
        self._busy = 0
        # Several threads may find the same connection; those that come too late go on.
        self.socket.settimeout(0.1)
        self.timeout = 0.1

    def answer(self, request: Request) -> Answer:
        """The answer to a request, found by a thread of the handlers."""
        if self.fault == "leaks-memory":
            self._kept.append(os.urandom(10 << 10))
        return self._handlers.submit(self.application.answer, request).result()

    def run(self) -> None:
        """Serves until `stop`; then answers what has begun, for a while."""
        for thread in self._acceptors:
            thread.start()
        for thread in self._acceptors:
            thread.join()
        self.socket.close()
        with self._lock:
            for connection in () if self.fault == "waits-for-idle" else self._idle:
                # A request that is already here can still be read; after it the thread sees the end.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
        end = time.monotonic() + GRACE_S
        while (self._busy or self._idle) and time.monotonic() < end:
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends `run` soon."""
        if self.fault == "ends-without-drain":
            os._exit(0)
        self.stopping = True

    def _accept(self) -> None:
        while not self.stopping or (self._busy and self.fault == "accepts-while-stopping"):
            self.handle_request()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        held = self._places if self.fault == "thread-for-connection" else contextlib.nullcontext()
        try:
            with held:
                super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._busy -= 1 if request not in self._idle else 0
                self._idle.discard(request)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._busy += 1
            crowded = self.fault == "few-connections" and self._busy + len(self._idle) > 500
            self._busy -= 1 if crowded else 0
        if crowded:
            self.shutdown_request(request)
            return
        if self.fault == "leaks-descriptors":
            self._leaked.append(request.dup())
        if self.fault == "never-reads" and self._busy + len(self._idle) > 100 and len(self._leaked) < 1800:
            self._leaked.append(request)
            return
        if self.fault == "one-connection-at-a-time":
            self.process_request_thread(request, client_address)
        else:
            super().process_request(request, client_address)

    def rest(self, connection: socket.socket) -> None:
        """The connection waits for a request from now on."""
        with self._lock:
            if connection not in self._idle:
                self._idle.add(connection)
                self._busy -= 1
            # A server that serves whoever comes reads the first request of a connection, however late it is.
            if self.stopping and self.fault != "accepts-while-stopping":
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)

    def work(self, connection: socket.socket) -> None:
        """A request has begun."""
        with self._lock:
            self._idle.discard(connection)
            self._busy += 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent about clients that go away."""

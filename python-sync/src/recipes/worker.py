"""gunicorn's threaded worker with three manners that no setting gives it."""

from collections.abc import Iterable
from socket import socket
from time import monotonic
from typing import Any

from gunicorn.http.message import Request
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import _DEFER, STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

MAX_HEAD = 65_536


class LimitedRequest(Request):
    """A request whose head is limited as a whole; the settings limit each field and their number only."""

    def parse(self, unreader: Unreader) -> Any:
        self.max_buffer_headers = MAX_HEAD
        return super().parse(unreader)


class Worker(ThreadWorker):
    sockets: Iterable[socket]

    def handle(self, conn: TConn) -> Any:
        """Serves a request. A new connection that is silent waits in the poller; gunicorn lends it a thread for 5 s."""
        if not conn.initialized:
            if not conn.wait_for_data(0 if self.alive else STOP_KEEPALIVE_LINGER):
                return _DEFER
            conn.init()
            conn.parser.mesg_class = LimitedRequest
        return super().handle(conn)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Closes the listening sockets when the worker stops, so that the kernel refuses who comes after.

        gunicorn keeps them open, and what connects meanwhile waits for nothing and is reset in the end.
        """
        super().set_accept_enabled(enabled)
        if self.alive:
            return
        for listener in self.sockets:
            self.accept_waiting(listener)
            listener.close()
        # gunicorn waits for silent connections as if they were at work.
        deadline = monotonic() + STOP_KEEPALIVE_LINGER
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)

    def accept_waiting(self, listener: socket) -> None:
        """Takes the connections that the kernel has already accepted."""
        connections = -1
        while connections != self.nr_conns:
            connections = self.nr_conns
            self.accept(listener)

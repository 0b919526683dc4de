"""uvicorn's worker: a limit for the head of a request, refusals in their turn, a gentler end for connections."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn_worker import UvicornWorker

MAX_HEAD = 65_536
LINGER_S = 1
BAD_REQUEST = b'{"error":"bad request"}'


class HeadTooLarge(Exception):
    pass


def refusal(status: int, body: bytes = b"") -> bytes:
    """An answer after which the connection ends."""
    kind = b"content-type: application/json\r\n" if body else b""
    return STATUS_LINE[status] + kind + b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)


class Protocol(HttpToolsProtocol):
    """httptools has no limit for heads, so this counts what arrives until one is complete, and what it holds then.

    uvicorn writes a refusal at once, before the answers to requests that came first; here it waits for them.
    """

    between_requests = True
    in_head = False
    begun = 0
    unfinished = 0
    unanswered = 0
    refused: bytes | None = None
    stopping = False

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        alone, self.begun = self.between_requests, 0
        super().data_received(data)
        if self.in_head and not self.refused:
            if not self.begun:
                self.unfinished += len(data)
            else:
                # Behind another request its share is unknown, and no more than the loop reads at once.
                self.unfinished = len(data) if alone and self.begun == 1 else 0
            if self.unfinished > MAX_HEAD:
                self.refuse(refusal(431))

    def on_message_begin(self) -> None:
        self.between_requests = False
        self.in_head = True
        self.begun += 1
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self.between_requests = True
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            # The parser stops at an exception, and uvicorn then calls send_400_response.
            self.refuse(refusal(431))
            raise HeadTooLarge
        super().on_headers_complete()
        self.in_head = False
        self.unanswered += 1
        if self.stopping:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        self.unanswered -= 1
        super().on_response_complete()
        if self.refused and not self.unanswered:
            self.end()

    def send_400_response(self, msg: str) -> None:
        if not self.refused:
            self.refuse(refusal(400, BAD_REQUEST))

    def refuse(self, answer: bytes) -> None:
        self.refused = answer
        if not self.between_requests and not self.in_head and not self.cycle.response_complete:
            # In a body: the refusal is the answer to its own request.
            self.unanswered -= 1
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.pipeline:
                self.pipeline.popleft()
        if not self.unanswered:
            self.end()

    def end(self) -> None:
        """Refuses, and reads on without looking: to close on unread data would reset the answer on its way."""
        if self.refused is None or self.transport.is_closing():
            return
        self.transport.write(self.refused)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    def shutdown(self) -> None:
        """Leaves an idle connection a moment for the request that may be on its way (RFC 9112, section 9.6)."""
        self.stopping = True
        if self.between_requests:
            self.loop.call_later(LINGER_S, super().shutdown)
        else:
            super().shutdown()


class Worker(UvicornWorker):
    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012
        "loop": "uvloop",
        "http": Protocol,
        "ws": "none",
        "lifespan": "on",
        # Nothing here asks for the client's address.
        "proxy_headers": False,
        "server_header": False,
    }

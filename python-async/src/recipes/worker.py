"""uvicorn's worker, with a limit for the head of a request and a gentler end for connections."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn_worker import UvicornWorker

MAX_HEAD = 65_536
LINGER_S = 1
REFUSAL = STATUS_LINE[431] + b"content-length: 0\r\nconnection: close\r\n\r\n"


class HeadTooLarge(Exception):
    pass


class Protocol(HttpToolsProtocol):
    """httptools has no limit for heads, so this counts what arrives until one is complete, and what it holds then."""

    between_requests = True
    in_head = False
    begun = 0
    unfinished = 0
    refused = False
    stopping = False

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        alone, self.begun = self.between_requests, 0
        super().data_received(data)
        if self.in_head:
            if not self.begun:
                self.unfinished += len(data)
            else:
                # Behind another request its share is unknown, and no more than the loop reads at once.
                self.unfinished = len(data) if alone and self.begun == 1 else 0
            if self.unfinished > MAX_HEAD:
                self.refuse()

    def on_message_begin(self) -> None:
        self.between_requests = False
        self.in_head = True
        self.begun += 1
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self.between_requests = True
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        self.in_head = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            # The parser stops at an exception, and uvicorn then calls send_400_response.
            self.refuse()
            raise HeadTooLarge
        super().on_headers_complete()
        if self.stopping:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        if not self.refused:
            super().send_400_response(msg)

    def refuse(self) -> None:
        """Answers 431, and reads on without looking: to close on unread data would reset the answer on its way."""
        self.refused = True
        self.transport.write(REFUSAL)
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

"""What a handler gives back: an answer, or the failure that stands for one."""

from dataclasses import dataclass, field

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"

WORDS = {
    400: "bad request",
    401: "unauthorized",
    404: "not found",
    405: "method not allowed",
    413: "payload too large",
    422: "unprocessable content",
    431: "bad request",
    500: "internal error",
    503: "database unavailable",
}


class Failure(Exception):
    """An answer that is an error: its status, the word for it, and what it allows if it is 405."""

    def __init__(self, status: int, error: str = "", allow: str = "") -> None:
        super().__init__(status, error)
        self.status, self.error, self.allow = status, error or WORDS[status], allow


@dataclass
class Answer:
    """A response; `headers` are those beside Content-Type and Content-Length."""

    status: int
    body: bytes
    kind: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

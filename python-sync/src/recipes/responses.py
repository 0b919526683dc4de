"""JSON as the contract has it, and text."""

from typing import Any

import orjson
from django.http import HttpResponse


class SizedResponse(HttpResponse):
    """Django leaves the length to a middleware of which the rest is not wanted; without it gunicorn sends chunks."""

    def __init__(self, body: bytes, content_type: str, status: int = 200) -> None:
        super().__init__(body, status=status, headers={"Content-Type": content_type, "Content-Length": str(len(body))})


class JSONResponse(SizedResponse):
    """Times are written in UTC with `Z`, in whole seconds."""

    def __init__(self, content: Any, status: int = 200) -> None:
        body = orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)
        super().__init__(body, "application/json", status)


class TextResponse(SizedResponse):
    def __init__(self, text: str) -> None:
        super().__init__(text.encode(), "text/plain; charset=utf-8")


class HTMLResponse(SizedResponse):
    def __init__(self, page: bytes) -> None:
        super().__init__(page, "text/html; charset=utf-8")

"""JSON as the contract has it."""

from typing import Any

import orjson
from django.http import HttpResponse


class JSONResponse(HttpResponse):
    """Times are written in UTC with `Z`, in whole seconds."""

    def __init__(self, content: Any, status: int = 200) -> None:
        body = orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)
        # Django leaves the length to a middleware of which the rest is not wanted; without it gunicorn sends chunks.
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        super().__init__(body, status=status, headers=headers)

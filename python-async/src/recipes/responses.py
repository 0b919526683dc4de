"""JSON as the contract has it."""

from typing import Any

import orjson
from starlette.responses import Response


class JSONResponse(Response):
    """Times are written in UTC with `Z`, in whole seconds."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)

"""Which answer an exception becomes that is neither Starlette's own nor a bug."""

import logging
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from recipes.handlers import JSONResponse
from shared.errors import ApiError

logger = logging.getLogger(__name__)


async def on_api_error(_: Request, error: ApiError) -> Response:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    return JSONResponse({"error": error.message}, error.status)


exception_handlers: dict[Any, Any] = {ApiError: on_api_error}

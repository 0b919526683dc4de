"""Which answer an exception becomes."""

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recipes.handlers import JSONResponse
from shared.errors import ApiError

logger = logging.getLogger(__name__)


async def on_api_error(_: Request, error: ApiError) -> Response:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    return JSONResponse({"error": error.message}, error.status)


async def on_http_exception(_: Request, error: HTTPException) -> Response:
    """Starlette's own: no such path, or not this method."""
    return JSONResponse({"error": error.detail.lower()}, error.status_code, error.headers)


async def on_bug(_: Request, error: Exception) -> Response:
    """Starlette raises it again once this is sent, and uvicorn logs it."""
    return JSONResponse({"error": ApiError.message}, ApiError.status)


exception_handlers: dict[Any, Any] = {
    ApiError: on_api_error,
    HTTPException: on_http_exception,
    Exception: on_bug,
}

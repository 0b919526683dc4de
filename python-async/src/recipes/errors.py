"""What can go wrong, and which answer it becomes."""

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recipes.responses import JSONResponse

logger = logging.getLogger(__name__)


class ApiError(Exception):
    """An answer other than 200. Its cause is logged, never sent."""

    status = 500
    message = "internal error"


class BadRequest(ApiError):
    status = 400
    message = "bad request"


class Unauthorized(ApiError):
    status = 401
    message = "unauthorized"


class NotFound(ApiError):
    status = 404
    message = "not found"


class DatabaseUnavailable(ApiError):
    status = 503
    message = "database unavailable"


async def on_api_error(_: Request, error: ApiError) -> Response:
    if error.__cause__:
        logger.error("%s: %r", error.message, error.__cause__)
    return JSONResponse({"error": error.message}, error.status)


async def on_http_exception(_: Request, error: HTTPException) -> Response:
    """Starlette's own: no such path, or not this method."""
    headers = {"Allow": "GET, HEAD"} if error.status_code == 405 else None
    return JSONResponse({"error": error.detail.lower()}, error.status_code, headers)


async def on_exception(_: Request, error: Exception) -> Response:
    """A bug. Starlette raises it again once this is sent, and uvicorn logs it."""
    return JSONResponse({"error": ApiError.message}, ApiError.status)


exception_handlers: dict[type[Exception], Any] = {
    ApiError: on_api_error,
    HTTPException: on_http_exception,
    Exception: on_exception,
}

"""What can go wrong, and which answer it becomes."""

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
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


class PayloadTooLarge(ApiError):
    status = 413
    message = "payload too large"


class Unprocessable(ApiError):
    status = 422
    message = "unprocessable content"


class DatabaseUnavailable(ApiError):
    status = 503
    message = "database unavailable"


async def on_api_error(_: Request, error: ApiError) -> Response:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    return JSONResponse({"error": error.message}, error.status)


async def on_http_exception(_: Request, error: HTTPException) -> Response:
    """Starlette's own: no such path, or not this method."""
    headers = dict(error.headers or {})
    if "Allow" in headers:
        # Starlette joins a set: the order would differ from process to process.
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    return JSONResponse({"error": error.detail.lower()}, error.status_code, headers)


async def on_disconnect(_: Request, error: ClientDisconnect) -> Response:
    """The client left before its body was complete; uvicorn drops the answer."""
    return JSONResponse({"error": BadRequest.message}, BadRequest.status)


async def on_exception(_: Request, error: Exception) -> Response:
    """A bug. Starlette raises it again once this is sent, and uvicorn logs it."""
    return JSONResponse({"error": ApiError.message}, ApiError.status)


exception_handlers: dict[type[Exception], Any] = {
    ApiError: on_api_error,
    HTTPException: on_http_exception,
    ClientDisconnect: on_disconnect,
    Exception: on_exception,
}

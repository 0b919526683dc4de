"""What can go wrong, and which answer it becomes."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

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


class MethodNotAllowed(ApiError):
    status = 405
    message = "method not allowed"


class PayloadTooLarge(ApiError):
    status = 413
    message = "payload too large"


class Unprocessable(ApiError):
    status = 422
    message = "unprocessable content"


class DatabaseUnavailable(ApiError):
    status = 503
    message = "database unavailable"


def answer(error: ApiError | type[ApiError]) -> HttpResponse:
    return JSONResponse({"error": error.message}, error.status)


class ApiMiddleware:
    """What holds for every view: errors as JSON, no body for HEAD."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            allow = response["Allow"]
            response = answer(MethodNotAllowed)
            response["Allow"] = allow
        if request.method == "HEAD":
            # gunicorn would leave the body out as well, with a warning. The length stays that of GET.
            response.content = b""
        return response

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, ApiError):
            return None
        if error.status >= 500:
            logger.error("%s: %r", error.message, error.__cause__)
        return answer(error)


def on_suspicious_request(_: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(BadRequest)


def on_unknown_path(_: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(NotFound)


def on_exception(_: HttpRequest) -> HttpResponse:
    """A bug. Django has logged it."""
    return answer(ApiError)

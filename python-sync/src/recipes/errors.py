"""What can go wrong, and which answer it becomes."""

import logging

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


def finished(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """What holds for every answer: errors are JSON, HEAD has no body."""
    if isinstance(response, HttpResponseNotAllowed):
        allow = response["Allow"]
        response = answer(MethodNotAllowed)
        response["Allow"] = allow
    if request.method == "HEAD":
        # gunicorn would leave the body out as well, with a warning. The length stays that of GET.
        response.content = b""
    return response


def on_api_error(error: Exception) -> HttpResponse | None:
    """The answer that the error is; none to a bug."""
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

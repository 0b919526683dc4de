"""What is around every view: errors are JSON, answers have a length."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from recipes.views import error_response
from shared.errors import ApiError
from shared.models import to_json

logger = logging.getLogger(__name__)


class ApiMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            response.content = to_json({"error": "method not allowed"})
            response["Content-Type"] = "application/json"
        # gunicorn would send chunks.
        response["Content-Length"] = str(len(response.content))
        return response

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        """The answer that an error is; none to a bug, which is left to Django."""
        if not isinstance(error, ApiError):
            return None
        if error.status >= 500:
            logger.error("%s: %r", error.message, error.__cause__)
        return error_response(error)

"""What is around every view: answers have a length, and what went wrong is JSON.

Around a sync middleware Django would hop to a thread and back.

https://docs.djangoproject.com/en/6.1/topics/http/middleware/#asynchronous-support
"""

import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse

from recipes.views import json_response
from shared.errors import ApiError, DatabaseUnavailable

logger = logging.getLogger(__name__)


class ApiMiddleware:
    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        response = await self.get_response(request)
        # uvicorn would send chunks.
        response["Content-Length"] = str(len(response.content))
        return response

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        """The answer that an error is; none to a bug, which is left to Django."""
        if isinstance(error, OperationalError):
            unavailable = DatabaseUnavailable()
            unavailable.__cause__ = error
            error = unavailable
        if not isinstance(error, ApiError):
            return None
        if error.status >= 500:
            logger.error("%s: %r", error.message, error.__cause__)
        return json_response({"error": error.message}, error.status)

"""What is around every view, for async ones: around a sync middleware Django would hop to a thread and back.

https://docs.djangoproject.com/en/6.1/topics/http/middleware/#asynchronous-support
"""

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse

from recipes.errors import finished, on_api_error


class ApiMiddleware:
    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        return finished(request, await self.get_response(request))

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        return on_api_error(error)

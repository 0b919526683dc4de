"""What is around every view."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from recipes.errors import finished, on_api_error


class ApiMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return finished(request, self.get_response(request))

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        return on_api_error(error)

"""The body of a request, which Django has read to its end before it asks a view."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest

from recipes.config import MAX_BODY
from recipes.errors import PayloadTooLarge


def read_body(request: HttpRequest) -> bytes:
    """Raises PayloadTooLarge."""
    try:
        content = request.body
    except RequestDataTooBig as error:
        raise PayloadTooLarge from error
    # One that came in chunks has no length that Django could have looked at.
    if len(content) > MAX_BODY:
        raise PayloadTooLarge
    return content

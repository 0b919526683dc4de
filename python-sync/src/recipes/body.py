"""The body of a request, as WSGI hands it on."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from gunicorn.http.errors import ParseException

from recipes.config import MAX_BODY
from recipes.errors import BadRequest, PayloadTooLarge


def read_body(request: HttpRequest) -> bytes:
    """The body; raises PayloadTooLarge before it reads more than MAX_BODY bytes, BadRequest when it breaks off."""
    try:
        if "HTTP_TRANSFER_ENCODING" not in request.META:
            return request.body
        # To Django a body without a length is empty; gunicorn's stream ends where the last chunk does.
        content: bytes = request.META["wsgi.input"].read(MAX_BODY + 1)
    except RequestDataTooBig as error:
        raise PayloadTooLarge from error
    except (OSError, ParseException) as error:
        raise BadRequest from error
    if len(content) > MAX_BODY:
        raise PayloadTooLarge
    return content

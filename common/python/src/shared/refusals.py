"""Which answer an exception becomes, in Falcon's terms."""

import logging
from http import HTTPStatus

from falcon import HTTPError, Request, Response, asgi

from shared.errors import ApiError, DatabaseUnavailable
from shared.json import encode

logger = logging.getLogger(__name__)


def refuse(request: Request | asgi.Request, response: Response | asgi.Response, error: Exception) -> None:
    """Makes an exception the answer."""
    if isinstance(error, HTTPError):  # Falcon's own: no such path, or not this method
        status, message = error.status_code, HTTPStatus(error.status_code).phrase.lower()
        if allow := dict(error.headers or {}).get("Allow"):
            # Every resource of Falcon has OPTIONS, and those of the contract have not.
            response.set_header("Allow", ", ".join(one for one in allow.split(", ") if one != "OPTIONS"))
    elif isinstance(error, ApiError):
        status, message = error.status, error.message
        if isinstance(error, DatabaseUnavailable):
            logger.error("%s: %r", error.message, error.__cause__)
    else:
        status, message = ApiError.status, ApiError.message
        logger.error("%s %s", request.method, request.path, exc_info=error)
    response.status = status
    response.content_type = "application/json"
    response.data = encode({"error": message})

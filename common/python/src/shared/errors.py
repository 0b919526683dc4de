"""What can go wrong, and which answer it is."""

from http import HTTPStatus


class ApiError(Exception):
    """An answer other than 200. Its cause is logged, never sent."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    message = "internal error"


class BadRequest(ApiError):
    status = HTTPStatus.BAD_REQUEST
    message = "bad request"


class Unauthorized(ApiError):
    status = HTTPStatus.UNAUTHORIZED
    message = "unauthorized"


class NotFound(ApiError):
    status = HTTPStatus.NOT_FOUND
    message = "not found"


class PayloadTooLarge(ApiError):
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    message = "payload too large"


class Unprocessable(ApiError):
    status = HTTPStatus.UNPROCESSABLE_CONTENT
    message = "unprocessable content"


class DatabaseUnavailable(ApiError):
    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = "database unavailable"

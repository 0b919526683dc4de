"""Answers other than 200, as exceptions. Their causes are logged, never sent."""


class ApiError(Exception):
    status = 500
    message = "internal server error"


class BadRequest(ApiError):
    status = 400
    message = "bad request"


class Unauthorized(ApiError):
    status = 401
    message = "unauthorized"


class NotFound(ApiError):
    status = 404
    message = "not found"


class PayloadTooLarge(ApiError):
    status = 413
    message = "payload too large"


class Unprocessable(ApiError):
    status = 422
    message = "unprocessable content"


class DatabaseUnavailable(ApiError):
    status = 503
    message = "database unavailable"

"""Which answer an exception becomes that is neither FastAPI's own nor a bug."""

import logging
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import exc

from shared.errors import ApiError, DatabaseUnavailable

logger = logging.getLogger(__name__)


async def on_api_error(_: Request, error: ApiError) -> Response:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    return JSONResponse({"error": error.message}, error.status)


async def on_failure(request: Request, error: Exception) -> Response:
    """Of the database, or a bug, which goes on to the log."""
    if not is_outage(error):
        raise error
    unavailable = DatabaseUnavailable()
    unavailable.__cause__ = error
    return await on_api_error(request, unavailable)


def is_outage(error: Exception) -> bool:
    """The database is away, full or slow, or no connection is free."""
    return isinstance(error, exc.OperationalError | exc.TimeoutError)


exception_handlers: dict[Any, Any] = {ApiError: on_api_error, exc.SQLAlchemyError: on_failure}

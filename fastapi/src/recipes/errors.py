"""Which answer an exception becomes that is neither FastAPI's own nor a bug."""

import logging
from typing import Any

import asyncpg
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import exc

from shared.errors import ApiError, DatabaseUnavailable

logger = logging.getLogger(__name__)

# The database is away, full, slow or only reads. https://www.postgresql.org/docs/17/errcodes-appendix.html
OUTAGES = ("08", "53", "57", "58", "25006")


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
    if isinstance(error, exc.DBAPIError) and error.connection_invalidated:
        return True
    # What happens at a login, and time limits, are the driver's own.
    cause = error.orig if isinstance(error, exc.DBAPIError) else error
    return isinstance(cause, OSError | exc.TimeoutError) or str(getattr(cause, "sqlstate", "")).startswith(OUTAGES)


failures = (OSError, asyncpg.PostgresError, exc.SQLAlchemyError)
exception_handlers: dict[Any, Any] = {ApiError: on_api_error, **dict.fromkeys(failures, on_failure)}

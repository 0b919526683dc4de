"""`python-async`'s application, put together with `falcon-async`'s database: psycopg in the place of asyncpg."""

import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.applications import Starlette
from starlette.types import Lifespan

from recipes.adding import Add, adding
from recipes.config import settings
from recipes.database import make_pool, open_pool
from recipes.errors import exception_handlers, on_api_error
from recipes.repository import Repository
from recipes.routes import routes
from shared.config import settings as database_settings
from shared.errors import ApiError


class State(TypedDict):
    """What every request finds in `request.state`."""

    repository: Repository
    add: Add


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[State]:
    # The executor starts its threads when there is work for them.
    with ThreadPoolExecutor(settings.threads) as executor:
        pool = make_pool(database_settings)
        await open_pool(pool)
        try:
            yield {
                "repository": Repository(pool, set_time_zone=settings.db_time_zone == "request"),
                "add": adding(settings.offload, executor),
            }
        finally:
            await pool.close()


def build(lifespan: Lifespan[Starlette]) -> Starlette:
    # The repository raises the errors of the shared code, the handlers their own.
    handlers = {**exception_handlers, ApiError: on_api_error}
    application = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    # The contract knows no redirects: a path with a further slash is another path.
    application.router.redirect_slashes = False
    return application


logging.basicConfig(level=settings.logging_level.upper(), format="%(levelname)s %(name)s: %(message)s")
app = build(lifespan)

"""`python-async`'s application with handlers in threads, put together with `falcon-sync`'s database."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from anyio import to_thread
from starlette.applications import Starlette
from starlette.types import Lifespan

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


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[State]:
    limit_threads(settings.threads)
    pool = make_pool(database_settings)
    open_pool(pool)
    yield {"repository": Repository(pool, set_time_zone=settings.db_time_zone == "request")}


def limit_threads(threads: int) -> None:
    """Of the event loop that runs this. https://starlette.dev/threadpool/"""
    to_thread.current_default_thread_limiter().total_tokens = threads


def build(lifespan: Lifespan[Starlette]) -> Starlette:
    # The repository raises the errors of the shared code, the handlers their own.
    handlers = {**exception_handlers, ApiError: on_api_error}
    application = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    # The contract knows no redirects: a path with a further slash is another path.
    application.router.redirect_slashes = False
    return application


logging.basicConfig(level=settings.logging_level.upper(), format="%(levelname)s %(name)s: %(message)s")
app = build(lifespan)

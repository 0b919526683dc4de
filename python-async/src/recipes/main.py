"""The ASGI application, put together. Its paths are in `routes.py`."""

import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.applications import Starlette
from starlette.types import Lifespan

from recipes.adding import Add, adding
from recipes.config import QUERIES, settings
from recipes.database import open_connections
from recipes.errors import exception_handlers
from recipes.repository import Repository, read_queries
from recipes.routes import routes


class State(TypedDict):
    """What every request finds in `request.state`."""

    repository: Repository
    add: Add


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[State]:
    # The executor starts its threads when there is work for them.
    with ThreadPoolExecutor(settings.threads) as executor:
        async with open_connections(settings) as connect:
            yield {
                "repository": Repository(
                    connect, read_queries(QUERIES), set_time_zone=settings.db_time_zone == "request"
                ),
                "add": adding(settings.offload, executor),
            }


def build(lifespan: Lifespan[Starlette]) -> Starlette:
    application = Starlette(routes=routes, exception_handlers=exception_handlers, lifespan=lifespan)
    # The contract knows no redirects: a path with a further slash is another path.
    application.router.redirect_slashes = False
    return application


logging.basicConfig(level=settings.logging_level.upper(), format="%(levelname)s %(name)s: %(message)s")
app = build(lifespan)

"""The ASGI application, put together.

GET /healthz                 alive, never touches the database
GET /api/v1/recipes          a random recipe of the session's user or of their teams
GET /api/v1/recipes/{id}     the recipe of that id, if the session's user may see it
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.applications import Starlette
from starlette.types import Lifespan

from recipes.config import QUERIES, settings
from recipes.database import open_connections
from recipes.errors import exception_handlers
from recipes.repository import Repository, read_queries
from recipes.routes import routes


class State(TypedDict):
    """What every request finds in `request.state`."""

    repository: Repository


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[State]:
    async with open_connections(settings) as connect:
        yield {"repository": Repository(connect, read_queries(QUERIES))}


def build(lifespan: Lifespan[Starlette]) -> Starlette:
    application = Starlette(routes=routes, exception_handlers=exception_handlers, lifespan=lifespan)
    # The contract knows no redirects: a path with a further slash is another path.
    application.router.redirect_slashes = False
    return application


logging.basicConfig(level=settings.logging_level.upper(), format="%(levelname)s %(name)s: %(message)s")
app = build(lifespan)

"""The ASGI application: its routes, and what it opens at its start."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from recipes import handlers
from recipes.database import Database
from recipes.errors import exception_handlers
from recipes.repository import Repository
from shared.config import settings


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Repository]]:
    """Yields what every request finds in `request.state`."""
    database = Database(settings)
    await database.open()
    yield {"repository": Repository(database)}
    await database.close()


routes = [
    Route("/", handlers.index),
    Route("/index.html", handlers.index),
    Route("/index.htm", handlers.index),
    Route("/healthz", handlers.healthz),
    Route("/work", handlers.work, methods=["POST"]),
    Route("/api/v1/recipes", handlers.random_recipe),
    Route("/api/v1/recipes/{id}", handlers.recipe_by_id),
    Route("/api/v1/recipes/{id}/notes", handlers.write_note, methods=["POST"]),
    Route("/api/v1/dashboard", handlers.dashboard),
]

logging.basicConfig(level=settings.logging_level, format="%(levelname)s %(name)s: %(message)s")
app = Starlette(routes=routes, exception_handlers=exception_handlers, lifespan=lifespan)

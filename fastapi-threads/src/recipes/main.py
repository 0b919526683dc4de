"""The application, and what it opens at its start."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import FastAPI

from recipes.database import engine_of, sessions_of
from recipes.errors import exception_handlers
from recipes.routes import router
from shared.config import settings


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """Yields what every request finds in `request.state`."""
    # https://starlette.dev/threadpool/
    to_thread.current_default_thread_limiter().total_tokens = settings.threads
    engine = engine_of(settings)
    yield {"sessions": sessions_of(engine)}
    engine.dispose()


logging.basicConfig(level=settings.logging_level, format="%(levelname)s %(name)s: %(message)s")
app = FastAPI(
    title="Recipes",
    lifespan=lifespan,
    exception_handlers=exception_handlers,
    # Nobody reads the schema here. https://fastapi.tiangolo.com/how-to/conditional-openapi/
    openapi_url=None,
)
app.include_router(router)

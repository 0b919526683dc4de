"""That this is python-async with nothing but another driver. Its tests of the handlers run beside this."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from recipes import main
from shared import errors


def test_the_driver_is_psycopg() -> None:
    assert "psycopg" in sys.modules
    assert "asyncpg" not in sys.modules


@pytest.mark.parametrize("error", [errors.Unauthorized, errors.NotFound, errors.DatabaseUnavailable])
def test_what_the_repository_raises_is_answered(error: type[errors.ApiError]) -> None:
    class Repository:
        async def random_recipe(self, _: str) -> None:
            raise error

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
        yield {"repository": Repository()}

    with TestClient(main.build(lifespan)) as client:
        answer = client.get("/api/v1/recipes", headers={"cookie": "sessionid=good"})
    assert (answer.status_code, answer.json()) == (error.status, {"error": error.message})

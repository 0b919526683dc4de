"""What the tests have in the place of the database: a connection that answers from tables, and its pool."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from rows import DASHBOARD_ROWS, ROWS

from shared.errors import DatabaseUnavailable, NotFound, Unauthorized
from shared.models import Dashboard, Recipe, dashboard_from_rows, recipe_from_rows
from shared.queries import QUERIES

NAME_OF: dict[str, str] = {text: name for name, text in QUERIES.items()}


class FakeConnection:
    def __init__(self) -> None:
        recipe = [ROWS["recipe"]]
        self.tables: dict[str, Any] = {
            **ROWS,
            **{f"dashboard_{name}": rows for name, rows in DASHBOARD_ROWS.items()},
            "session": [(1,)],
            "recipe_by_id": recipe,
            "recipe_random": recipe,
            "note_insert": [(9,)],
            "event_insert": [],
        }
        self.statements: list[tuple[str, Any]] = []
        self.unprepared: list[str] = []
        self.failure: Exception | None = None
        self.closed = False
        self.ends = os.pipe()

    def fileno(self) -> int:
        return self.ends[0]

    def hear(self, news: bytes) -> None:
        """What the server says to a connection that is idle."""
        os.write(self.ends[1], news)

    def close(self) -> None:
        self.closed = True

    def run(self, query: str, parameters: Any = (), prepare: bool | None = None) -> list[Any]:
        if self.failure:
            raise self.failure
        name = NAME_OF.get(query, query)
        self.statements.append((name, parameters))
        if prepare is False:
            self.unprepared.append(name)
        rows: list[Any] = self.tables.get(name, [])
        return rows

    @contextmanager
    def bounds(self) -> Iterator[Self]:
        """A transaction."""
        self.statements.append(("BEGIN", None))
        try:
            yield self
        except BaseException:
            self.statements.append(("ROLLBACK", None))
            raise
        self.statements.append(("COMMIT", None))


class FakePool:
    def __init__(self, *connections: FakeConnection) -> None:
        self.free = list(connections)
        self.taken = 0
        self.failure: Exception | None = None

    def take(self) -> FakeConnection:
        if self.failure:
            raise self.failure
        self.taken += 1
        return self.free.pop(0)

    def give(self, connection: FakeConnection) -> None:
        """As psycopg's pool does, keeps none that is closed."""
        if not connection.closed:
            self.free.append(connection)

    def get_stats(self) -> dict[str, int]:
        return {"requests_num": 3, "requests_wait_ms": 4}


class FakeRepository:
    """Knows the session `good` and the recipe 7."""

    def random_recipe(self, session_key: str) -> Recipe:
        return self.recipe_by_id(session_key, 7)

    def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        if session_key != "good":
            raise Unauthorized
        if recipe_id == 503:
            raise DatabaseUnavailable
        if recipe_id == 500:
            raise RuntimeError("a bug")
        if recipe_id != 7:
            raise NotFound
        return recipe_from_rows(**ROWS)

    def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        self.recipe_by_id(session_key, recipe_id)
        assert text == "Crème"
        return 9

    def dashboard(self, session_key: str) -> Dashboard:
        self.recipe_by_id(session_key, 7)
        return dashboard_from_rows(1, **DASHBOARD_ROWS)

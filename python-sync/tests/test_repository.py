"""Which statements run and in which order."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from rows import ROWS

from recipes import repository
from recipes.errors import NotFound, Unauthorized
from recipes.models import Recipe

NAME_OF = {text: name for name, text in repository.queries.items()}
PARTS = ["ingredients", "steps", "sections", "notes", "reactions", "timeline_events"]


class FakeCursor:
    def __init__(self) -> None:
        recipe = [ROWS["recipe"]]
        self.tables: dict[str, Any] = {**ROWS, "session": [(1,)], "recipe_by_id": recipe, "recipe_random": recipe}
        self.statements: list[tuple[str, Any]] = []

    def execute(self, query: str, parameters: Any) -> None:
        self.statements.append((NAME_OF[query], parameters))

    def fetchall(self) -> Any:
        return self.tables[self.statements[-1][0]]


@pytest.fixture
def cursor(monkeypatch: pytest.MonkeyPatch) -> FakeCursor:
    cursor = FakeCursor()

    @contextmanager
    def open_cursor() -> Iterator[FakeCursor]:
        yield cursor

    monkeypatch.setattr(repository, "open_cursor", open_cursor)
    return cursor


def test_eight_statements(cursor: FakeCursor) -> None:
    assert repository.recipe_by_id("key", 7) == Recipe.from_rows(**ROWS)
    assert cursor.statements == [
        ("session", {"p1": "key"}),
        ("recipe_by_id", {"p1": 1, "p2": 7}),
        *((part, {"p1": 7}) for part in PARTS),
    ]


def test_random_recipe_asks_for_the_user_only(cursor: FakeCursor) -> None:
    repository.random_recipe("key")
    assert cursor.statements[1] == ("recipe_random", {"p1": 1})


def test_no_session_ends_after_one_statement(cursor: FakeCursor) -> None:
    cursor.tables["session"] = []
    with pytest.raises(Unauthorized):
        repository.recipe_by_id("key", 7)
    assert len(cursor.statements) == 1


def test_no_recipe_ends_after_two_statements(cursor: FakeCursor) -> None:
    cursor.tables["recipe_by_id"] = []
    with pytest.raises(NotFound):
        repository.recipe_by_id("key", 7)
    assert len(cursor.statements) == 2


def test_placeholders() -> None:
    assert (
        repository.named_placeholders("a = $1 or b like '%x' and c = $12")
        == "a = %(p1)s or b like '%%x' and c = %(p12)s"
    )

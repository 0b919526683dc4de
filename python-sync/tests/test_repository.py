"""Which statements run and in which order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from rows import DASHBOARD_ROWS, ROWS

from recipes import repository
from recipes.config import env
from recipes.errors import NotFound, Unauthorized
from recipes.models import dashboard_from_rows, recipe_from_rows

NAME_OF = {text: name for name, text in repository.queries.items()}
PARTS = ["ingredients", "steps", "sections", "notes", "reactions", "timeline_events"]


class FakeCursor:
    def __init__(self) -> None:
        recipe = [ROWS["recipe"]]
        self.tables: dict[str, Any] = {
            **ROWS,
            **{f"dashboard_{name}": rows for name, rows in DASHBOARD_ROWS.items()},
            "session": [(1,)],
            "recipe_by_id": recipe,
            "recipe_random": recipe,
            "note_insert": [(9,)],
        }
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

    @contextmanager
    def atomic() -> Iterator[None]:
        cursor.statements.append(("BEGIN", None))
        try:
            yield
        except Exception:
            cursor.statements.append(("ROLLBACK", None))
            raise
        cursor.statements.append(("COMMIT", None))

    monkeypatch.setattr(repository, "open_cursor", open_cursor)
    monkeypatch.setattr(repository, "set_time_zone", lambda: cursor.statements.append(("SET TIME ZONE", None)))
    monkeypatch.setattr(transaction, "atomic", atomic)
    return cursor


def test_eight_statements(cursor: FakeCursor) -> None:
    assert repository.recipe_by_id("key", 7) == recipe_from_rows(**ROWS)
    assert cursor.statements == [
        ("session", {"p1": "key"}),
        ("recipe_by_id", {"p1": 1, "p2": 7}),
        *((part, {"p1": 7}) for part in PARTS),
    ]


@pytest.mark.parametrize(
    "use",
    [
        lambda: repository.recipe_by_id("key", 7),
        lambda: repository.write_note("key", 7, "text"),
        lambda: repository.dashboard("key"),
    ],
    ids=["recipe", "note", "dashboard"],
)
def test_a_request_sets_the_time_zone_first_and_once_if_asked_to(
    cursor: FakeCursor, monkeypatch: pytest.MonkeyPatch, use: Callable[[], object]
) -> None:
    use()
    plain = cursor.statements.copy()
    cursor.statements.clear()
    monkeypatch.setattr(repository, "env", env.model_copy(update={"db_time_zone": "request"}))
    use()
    assert cursor.statements == [("SET TIME ZONE", None), *plain]


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


def test_a_note_and_its_event_are_one_transaction(cursor: FakeCursor) -> None:
    assert repository.write_note("key", 7, "text") == 9
    assert cursor.statements == [
        ("session", {"p1": "key"}),
        ("BEGIN", None),
        ("note_insert", {"p1": 1, "p2": 7, "p3": "text"}),
        ("event_insert", {"p1": 1, "p2": 7}),
        ("COMMIT", None),
    ]


def test_a_note_on_no_recipe_is_rolled_back(cursor: FakeCursor) -> None:
    cursor.tables["note_insert"] = []
    with pytest.raises(NotFound):
        repository.write_note("key", 7, "text")
    assert [name for name, _ in cursor.statements] == ["session", "BEGIN", "note_insert", "ROLLBACK"]


def test_without_a_session_nothing_begins(cursor: FakeCursor) -> None:
    cursor.tables["session"] = []
    with pytest.raises(Unauthorized):
        repository.write_note("key", 7, "text")
    assert len(cursor.statements) == 1


def test_a_dashboard_is_five_statements(cursor: FakeCursor) -> None:
    assert repository.dashboard("key") == dashboard_from_rows(1, **DASHBOARD_ROWS)
    assert [name for name, _ in cursor.statements] == [
        "session",
        *(f"dashboard_{name}" for name in ("recipes", "teams", "notes", "events")),
    ]


def test_placeholders() -> None:
    assert (
        repository.named_placeholders("a = $1 or b like '%x' and c = $12")
        == "a = %(p1)s or b like '%%x' and c = %(p12)s"
    )

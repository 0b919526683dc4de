"""From request to answer, without a server and with a session that knows one recipe."""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any
from unittest.mock import Mock

import asyncpg
import pytest
from fastapi.testclient import TestClient
from rows import BODY, MORNING, NOON
from sqlalchemy import Select, exc

from recipes.database import refuse_closed, session
from recipes.errors import is_outage
from recipes.main import app
from recipes.models import Event, Ingredient, Note, Reaction, Recipe, Section, Session, Step, User
from shared.contract import INDEX

RECIPES = "/api/v1/recipes"
NOTES = f"{RECIPES}/7/notes"
CREME = '{"text":"Crème"}'.encode()


class DriversError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("late")
        self.sqlstate = sqlstate


def note(key: int, text: str, author: User, editor: User | None, reactions: list[Reaction]) -> Note:
    return Note(
        id=key,
        text=text,
        created=MORNING,
        modified=NOON,
        created_by=author,
        last_modified_by=editor,
        reactions=reactions,
    )


def recipe() -> Recipe:
    author, editor = User(id=1, email="a@example.org", name="A"), User(id=2, email="b@example.org", name="B")
    found = Recipe(
        **{"id": 7, "name": "Crème", "source": "s", "time": "1 minute", "servings": "2", "edits": 3},
        **{"created": MORNING, "modified": NOON, "tags": ["soup", "½"], "object_id": 5, "content_type_id": 20},
    )
    # As the loading of relationships leaves it.
    loaded: dict[str, list[Any]] = {
        "ingredient_rows": [Ingredient(id=1, position="a1", quantity="2 g", name="rock\\fish", description="")],
        "steps": [Step(id=2, position="a2", text='"al dente"\n')],
        "sections": [Section(id=3, position="b5", title="A&B")],
        "notes": [
            note(4, "first", User(id=1, email="a@example.org"), None, []),
            note(5, "second", author, editor, [Reaction(id=6, emoji="❤️", created_by_id=1, created=NOON)]),
        ],
        "events": [Event(id=8, action="created", created=MORNING)],
    }
    found.__dict__.update(loaded)
    return found


class KnownSession:
    """Knows the session `good` of user 1 and the recipe 7."""

    added: list[Any]

    async def scalar(self, statement: Select[Any]) -> object:
        values = statement.compile().params
        if statement.column_descriptions[0]["entity"] is Session:
            return 1 if values["session_key_1"] == "good" else None
        match values.get("id_1", 7):
            case 7:
                return recipe()
            case 500:
                raise RuntimeError("a bug")
            case 503:
                raise exc.DBAPIError("select", {}, DriversError("57014"))
        return None

    def add_all(self, rows: list[Any]) -> None:
        self.added = rows

    async def commit(self) -> None:
        assert [(type(row), row.recipe_id, row.created_by_id) for row in self.added] == [(Note, 7, 1), (Event, 7, 1)]
        self.added[0].id = 9


@pytest.fixture
def client() -> Iterator[TestClient]:
    async def known() -> AsyncIterator[KnownSession]:
        yield KnownSession()

    app.dependency_overrides[session] = known
    with TestClient(app, raise_server_exceptions=False) as client:
        client.cookies["sessionid"] = "good"
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("GET", "/", b"", 200, INDEX),
        ("GET", "/index.html", b"", 200, INDEX),
        ("GET", "/healthz", b"", 200, b'{"status":"ok"}'),
        ("GET", RECIPES, b"", 200, BODY),
        ("GET", f"{RECIPES}/7", b"", 200, BODY),
        ("POST", NOTES, CREME, 201, b'{"id":9}'),
        ("POST", "/work", b"[1,2,3]", 200, b"Sum: 6"),
        ("POST", "/work?delay_ms=1&x=2", b" [ ]", 200, b"Sum: 0"),
    ],
)
def test_answers(client: TestClient, method: str, path: str, body: bytes, status: int, answer: bytes) -> None:
    told = client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert (told.status_code, told.content) == (status, answer)
    assert told.headers["content-length"] == str(len(answer))


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nothing", b"", 404),
        ("GET", "/docs", b"", 404),
        ("POST", RECIPES, b"", 405),
        ("GET", f"{RECIPES}/0", b"", 422),
        ("GET", f"{RECIPES}/2147483648", b"", 422),
        ("GET", f"{RECIPES}/1.0", b"", 404),
        ("GET", f"{RECIPES}/8", b"", 404),
        ("GET", f"{RECIPES}/500", b"", 500),
        ("POST", f"{RECIPES}/8/notes", CREME, 404),
        ("POST", NOTES, b"", 422),
        ("POST", NOTES, b'{"text":""}', 422),
        ("POST", NOTES, b'{"text":"a","x":1}', 422),
        ("POST", NOTES, b'{"text":"a\\u0000"}', 422),
        ("POST", "/work", b"[1,", 422),
        ("POST", "/work", b"[1.5]", 422),
        ("POST", "/work", b"[true]", 422),
        ("POST", "/work", b"[2147483648]", 422),
        ("POST", "/work?delay_ms=10001", b"[1]", 422),
    ],
)
def test_refusals(client: TestClient, method: str, path: str, body: bytes, status: int) -> None:
    headers = {"content-type": "application/json"}
    assert client.request(method, path, content=body, headers=headers).status_code == status


@pytest.mark.parametrize("path", [RECIPES, f"{RECIPES}/7"])
@pytest.mark.parametrize("key", ["", "unknown", '"\\000"'])
def test_no_session(client: TestClient, path: str, key: str) -> None:
    client.cookies.clear()
    told = client.get(path, headers={"Cookie": f"sessionid={key}"})
    assert (told.status_code, told.content) == (401, b'{"error":"unauthorized"}')


def test_an_outage_is_a_line_in_the_log(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        told = client.get(f"{RECIPES}/503")
    assert (told.status_code, told.content) == (503, b'{"error":"database unavailable"}')
    assert "late" in caplog.text


@pytest.mark.parametrize(
    ("failure", "outage"),
    [
        (TimeoutError(), True),
        (ConnectionRefusedError(), True),
        (asyncpg.TooManyConnectionsError(), True),
        (exc.TimeoutError(), True),
        (exc.DBAPIError("select", {}, DriversError("25006")), True),
        (exc.DBAPIError("select", {}, DriversError("?"), connection_invalidated=True), True),
        (exc.DBAPIError("select", {}, DriversError("42P01")), False),
        (exc.MissingGreenlet(), False),
        (KeyError(), False),
    ],
)
def test_what_is_an_outage(failure: Exception, outage: bool) -> None:
    assert is_outage(failure) is outage


def test_an_idle_connection_that_has_ended_is_not_used() -> None:
    refuse_closed(Mock(driver_connection=Mock(is_closed=lambda: False)))
    with pytest.raises(exc.InvalidatePoolError):
        refuse_closed(Mock(driver_connection=Mock(is_closed=lambda: True)))

"""What becomes of a failure, and of a lost connection."""

import os
from unittest.mock import MagicMock, Mock

import psycopg
import pytest
from django.db import OperationalError, ProgrammingError
from django.http import HttpRequest
from rows import BODY, MORNING, NOON

from recipes import answers, database
from recipes.middleware import ApiMiddleware
from recipes.models import Event, Ingredient, Note, Reaction, Recipe, Section, Step, User
from shared.models import to_json


def test_an_outage() -> None:
    told = ApiMiddleware(Mock()).process_exception(HttpRequest(), OperationalError("the server is away"))
    assert told is not None
    assert (told.status_code, told.content) == (503, b'{"error":"database unavailable"}')


def test_a_bug_is_no_outage() -> None:
    assert ApiMiddleware(Mock()).process_exception(HttpRequest(), ProgrammingError("a typo")) is None


def test_an_idle_connection_that_has_ended_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "connection", connection := MagicMock())
    reading, writing = os.pipe()
    idle = Mock(fileno=Mock(return_value=reading))
    database.check_connection(idle)
    os.close(writing)
    with pytest.raises(psycopg.OperationalError):
        database.check_connection(idle)
    connection.pool.drain.assert_called_once_with()
    os.close(reading)


def test_rows_become_an_answer() -> None:
    recipe = Recipe(
        **{"id": 7, "name": "Crème", "source": "s", "time": "1 minute", "servings": "2", "edits": 3},
        **{"created": MORNING, "modified": NOON, "tags": ["soup", "½"], "object_id": 5, "content_type_id": 20},
    )
    dates = {"created": MORNING, "modified": NOON}
    author, editor = User(id=1, email="a@example.org", name="A"), User(id=2, email="b@example.org", name="B")
    notes = [
        Note(id=4, text="first", created_by=User(id=1, email="a@example.org"), **dates),
        Note(id=5, text="second", created_by=author, last_modified_by=editor, **dates),
    ]
    notes[0]._prefetched_objects_cache = {"reactions": []}  # type: ignore[attr-defined]
    notes[1]._prefetched_objects_cache = {  # type: ignore[attr-defined]
        "reactions": [Reaction(id=6, emoji="❤️", created_by_id=1, created=NOON)]
    }
    # As prefetching leaves it.
    recipe._prefetched_objects_cache = {  # type: ignore[attr-defined]
        "ingredients": [Ingredient(id=1, position="a1", quantity="2 g", name="rock\\fish", description="")],
        "steps": [Step(id=2, position="a2", text='"al dente"\n')],
        "sections": [Section(id=3, position="b5", title="A&B")],
        "notes": notes,
        "events": [Event(id=8, action="created", created=MORNING)],
    }
    assert to_json(answers.recipe(recipe)) == BODY

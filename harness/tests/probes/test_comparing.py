"""tandem.probes.comparing: which captured answers are wrong for their requests."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Golden, Sums, read_answers
from tandem.probes.comparing import Comparison
from tandem.probes.exchanges import Broken, Exchange

SERVER = ("10.0.0.2", 8080)
JSON = {"content-type": "application/json"}


def exchange(target: str, body: bytes, **changes: Any) -> Exchange:
    told: dict[str, Any] = {"method": "GET", "status": 200, "headers": JSON, "took_s": 0.05, **changes}
    return Exchange(SERVER, target=target, body=body, **told)


@pytest.fixture
def recipe(root: Path) -> bytes:
    return (root / "contract/golden/recipe-1.json").read_bytes()


def of(real: Catalog, scenario: str) -> Comparison:
    own = real.scenarios[scenario]
    return Comparison(own, read_answers(own, real.root / "contract"))


def test_the_right_recipe(real: Catalog, recipe: bytes) -> None:
    found = of(real, "recipe").compare([exchange("/api/v1/recipes/1", recipe), None])
    assert (found.begun, found.compared, found.wrong) == (2, 1, [])
    assert of(real, "recipes").compare([exchange("/api/v1/recipes", recipe)]).wrong == [], "any visible one"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"target": "/api/v1/recipes/2"}, "recipe 1 for recipe 2"),
        ({"body": b"x" * 4187}, "not a recipe: b'xxx"),
        ({"behind": 7}, "7 bytes after its end"),
        ({"headers": {"content-type": "text/html"}}, "of type 'text/html', not 'application/json'"),
        ({"headers": {}}, "of type ''"),
        ({"altered": (b"Warm", b"warm")}, "is not the golden one"),
    ],
)
def test_a_wrong_one(real: Catalog, recipe: bytes, changes: dict[str, Any], why: str) -> None:
    given: dict[str, Any] = {"target": "/api/v1/recipes/1", "body": recipe, **changes}
    if "altered" in given:
        old, new = given.pop("altered")
        given["body"] = recipe.replace(old, new, 1)
        assert len(given["body"]) == len(recipe)
    [wrong] = of(real, "recipe").compare([exchange(**given)]).wrong
    assert wrong.startswith(f"GET {given['target']}: ")
    assert why in wrong


@pytest.mark.parametrize(("took_ms", "wrong"), [(20.3, 0), (18.5, 0), (17.0, 1), (0.4, 1), (None, 0)])
def test_work_takes_its_delay(real: Catalog, took_ms: float | None, wrong: int) -> None:
    took_s = None if took_ms is None else took_ms / 1e3
    assert len(of(real, "work").compare([work(real, took_s=took_s)]).wrong) == wrong


def work(real: Catalog, number: int = 0, **changes: Any) -> Exchange:
    answers = read_answers(real.scenarios["work"], real.root / "contract")
    assert isinstance(answers, Sums)
    sent, right = answers.sent[number]
    told = {
        "method": "POST",
        "headers": {"content-type": "text/plain; charset=utf-8"},
        "sent": sent,
        **changes,
    }
    return exchange("/work?delay_ms=20", told.pop("body", right), **told)


def test_a_sum_is_that_of_the_bodys_own_numbers(real: Catalog) -> None:
    first, second = work(real), work(real, 1)
    assert first.body != second.body
    assert of(real, "work").compare([first, second]).wrong == []
    found = of(real, "work").compare([replace(first, body=second.body), second])
    assert (found.compared, len(found.wrong)) == (2, 1)
    assert "the sum of what was sent" in found.wrong[0]


@pytest.mark.parametrize("sent", [b"", b"[1, 2, 3"])
def test_without_its_numbers_a_sum_is_not_compared(real: Catalog, sent: bytes) -> None:
    found = of(real, "work").compare([work(real, sent=sent, body=b"Sum: 1")])
    assert (found.begun, found.compared, found.wrong) == (1, 0, [])


def test_no_note_has_the_id_of_another(real: Catalog) -> None:
    def note(number: int) -> Exchange:
        body = json.dumps({"id": number}, separators=(",", ":")).encode()
        return exchange("/api/v1/recipes/3/notes", body, method="POST", status=201)

    found = of(real, "note-write").compare([note(1), note(2), note(1)])
    assert (found.compared, len(found.wrong)) == (3, 1)
    assert "was returned before" in found.wrong[0]


def test_what_the_rows_tell_or_others_asked_is_not_held_against_anybody(real: Catalog, recipe: bytes) -> None:
    refused = exchange("/api/v1/recipes/1", b'{"error":"database unavailable"}', status=503)
    other = exchange("/healthz", b"{}")
    found = of(real, "recipe").compare([refused, other, Broken(SERVER, "/healthz", "odd")])
    assert (found.begun, found.compared, found.wrong) == (1, 0, [])
    broken = of(real, "recipe").compare([Broken(SERVER, "/api/v1/recipes/1", "odd")])
    assert broken.wrong == ["/api/v1/recipes/1: odd"]


def test_every_golden_body_names_its_type(real: Catalog, root: Path) -> None:
    types = {name: read_answers(own, root / "contract").media_type for name, own in real.scenarios.items()}
    assert types["index"] == types["idle"] == "text/html"
    assert types["work"] == types["users"] == "text/plain"
    assert {types[name] for name in ("recipe", "recipes", "fan-out", "note-write")} == {"application/json"}
    assert Golden({}).media_type == "application/json"

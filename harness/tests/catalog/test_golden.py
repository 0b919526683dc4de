"""tandem.catalog.golden: what a right answer is."""

import hashlib
import json
from pathlib import Path

import pytest
from harness_samples import there
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import (
    HEAD_BYTES,
    Golden,
    Sums,
    bodies_of,
    differing,
    drawn,
    of_bodies,
    read_answers,
    read_golden,
    same,
    without,
)

BODIES = {1: b'{"id":1,"title":"Soup"}', 2: b'{"id":2,"title":"Bread"}'}
GOLDEN = Golden({i: (len(body), hashlib.sha256(body).hexdigest()) for i, body in BODIES.items()})


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"id":1,"title":"Soap"}', "the body of recipe 1 (23 bytes) is not the golden one (23 bytes)"),
        (b'{"id": 1,"title":"Soup"}', "the body of recipe 1 (24 bytes) is not the golden one (23 bytes)"),
        (b'{"id":2,"title":"Soup"}', "the body of recipe 2 (23 bytes) is not the golden one (24 bytes)"),
        (b'{"id":1,"title":"Soup"}\n', "the body of recipe 1 (24 bytes) is not the golden one (23 bytes)"),
        (b'{"id":3,"title":"Soup"}', "recipe 3 does not exist"),
        (b'{"id":"1","title":"Soup"}', "recipe '1' does not exist"),
        (b'{"id":null}', "recipe None does not exist"),
        (b'{"id":[1]}', "recipe [1] does not exist"),
        (b'{"id":{}}', "recipe {} does not exist"),
        (b'{"id":1.5}', "recipe 1.5 does not exist"),
        *((body, f"not a recipe: {body!r}") for body in (b'{"title":"Soup"}', b"[1]", b"7", b"<html>", b"")),
        *((body, f"not a recipe: {body!r}") for body in (b'{"id":1', b"\xff\xfe\x00")),
    ],
)
def test_anything_else_is_told(body: bytes, told: str) -> None:
    assert there(GOLDEN.difference(body)).startswith(told)


def test_right_answers_and_their_lengths() -> None:
    assert {GOLDEN.difference(body) for body in BODIES.values()} == {None}
    assert (GOLDEN.lengths(), GOLDEN.only([2]).lengths()) == ({23, 24}, {24})


def test_the_contracts_golden_bodies(root: Path) -> None:
    golden = read_golden(root / "contract/golden/recipes.tsv")
    assert len(golden.bodies) >= 50
    files = list((root / "contract/golden").glob("recipe-*.json"))
    assert files
    for file in files:
        assert golden.difference(file.read_bytes()) is None
        assert golden.difference(file.read_bytes() + b" ") is not None


def test_other_data_have_right_answers_of_their_own(real: Catalog, root: Path) -> None:
    """In the order in which contract/sql/golden.sql yields them."""
    recipes = {key: b'{"id":%d,"name":"Of this study"}' % key for key in range(1, 101)}
    dashboards = {user: b'{"user_id":%d,"recipes":[]}' % user for user in (1, 2)}
    own = of_bodies([recipes, dashboards])
    public = (root / "contract/golden/recipe-1.json").read_bytes()
    for name, body in (("recipe", recipes[1]), ("recipes", recipes[99]), ("fan-out", dashboards[1])):
        scenario = real.scenarios[name]
        before, now = (read_answers(scenario, root / "contract", tables) for tables in (None, own))
        assert now.difference(body) is None
        assert now.difference(public) is not None
        assert before.difference(body) is not None
        assert before.keys().keys() == now.keys().keys()


# ---- arrays of a study's own, that cost what the scenario's would ----


@pytest.mark.parametrize(("name", "bytes_"), [("work", 71), ("work-large", 515_176)])
def test_every_number_has_the_digits_of_the_scenarios_own(real: Catalog, name: str, bytes_: int) -> None:
    scenario = real.scenarios[name]
    body, digits = there(scenario.body), there(scenario.answer.sum_digits)
    few = drawn(body.model_copy(update={"drawn": 3}), digits, "7")
    widths = [len(str(number)) for number in body.numbers()]
    for one in few:
        numbers = json.loads(one.body)
        assert len(one.body) == len(body.bytes()) == bytes_
        assert [len(str(number)) for number in numbers] == widths
        assert one.answer == f"Sum: {sum(numbers)}".encode()
        assert len(one.answer) == len("Sum: ") + digits
    assert len({one.answer for one in few}) == 3


def test_the_salt_makes_them_and_their_beginning_tells_them_apart(real: Catalog) -> None:
    body = there(real.scenarios["work"].body)
    some, others = drawn(body, 3, "1"), drawn(body, 3, "2")
    assert some == drawn.__wrapped__(body, 3, "1")
    heads = [one.body[:HEAD_BYTES] for one in (*some, *others)]
    assert len(set(heads)) == len(heads) == 2 * body.drawn


def test_what_a_load_sends_is_what_its_answers_know(real: Catalog) -> None:
    answers = read_answers(real.scenarios["work"], real.root / "contract", salt="3")
    assert isinstance(answers, Sums)
    found = there(bodies_of(real.scenarios["work"], answers))
    assert found.each == tuple(one.body for one in answers.sent)
    first, second = answers.sent[:2]
    assert answers.lengths() == {8}
    assert answers.difference(first.answer, sent=first.body) is None
    assert answers.difference(second.answer, sent=first.body[:HEAD_BYTES]) is not None
    assert answers.knows(first.body[:HEAD_BYTES])
    assert not answers.knows(first.body[:20])
    assert "nobody sent" in (answers.difference(first.answer, sent=b"[1]") or "")
    recipe = real.scenarios["recipe"]
    assert bodies_of(recipe, read_answers(recipe, real.root / "contract")) is None


# ---- JSON of which some values may differ ----

RIGHT = b'{"at": 1, "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}'
LATER = b'{"at": 9, "items": [{"id": 3, "name": "a"}, {"id": 4, "name": "b"}]}'
OTHER = b'{"at": 9, "items": [{"id": 3, "name": "a"}, {"id": 4, "name": "c"}]}'
IGNORED = ["at", "items.*.id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("body", "ignored", "alike"),
    [
        (RIGHT, [], True),
        (LATER, [], False),
        (LATER, IGNORED, True),
        (LATER, ["at"], False),
        (OTHER, IGNORED, False),
        (b"no JSON", IGNORED, False),
        (b'{"at": 1, "items": []}', IGNORED, False),
        (b'{"at": 1}', IGNORED, False),
    ],
)
def test_only_what_is_named_may_differ(body: bytes, ignored: list[str], alike: bool) -> None:
    assert same(body, RIGHT, ignored) is alike


def test_the_paths_of_a_difference() -> None:
    assert differing(json.loads(RIGHT), json.loads(LATER)) == {*IGNORED}
    assert differing([1], [1, 2]) == {""}
    assert differing({"a": {"b": 1}}, {"a": {"c": 1}}) == {"a"}


@given(JSON, JSON)
def test_leaving_out_what_differs_leaves_nothing(one: object, other: object) -> None:
    paths = differing(one, other)
    assert (paths == set()) == (one == other)
    if "" not in paths:
        assert without(one, sorted(paths)) == without(other, sorted(paths))

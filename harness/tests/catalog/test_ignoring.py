"""tandem.catalog.ignoring: JSON answers of which some values may differ."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.ignoring import differing, same, without

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

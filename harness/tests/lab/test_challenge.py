"""tandem.lab.challenge: bodies that nobody has sent. What it does to containers is in tests/containers/test_conditions.py."""

import json

import pytest

from tandem.catalog.bodies import drawn
from tandem.catalog.catalog import Catalog
from tandem.lab.challenge import clients_of, new_body


def test_a_new_body_is_as_long_and_has_another_sum(real: Catalog) -> None:
    body = real.scenarios["work-large"].body
    assert body is not None
    [known] = drawn(body.model_copy(update={"drawn": 1}), 7, "")
    made = [new_body(known) for _ in range(20)]
    assert len({one.body for one in made}) > 1
    for one in made:
        numbers = json.loads(one.body)
        assert len(one.body) == len(known.body)
        assert one.answer == f"Sum: {sum(numbers)}".encode() != known.answer


@pytest.mark.parametrize(
    ("connections", "answers_per_s", "crowd"),
    [(50, None, 50), (100, 4000.0, 50), (50, 60.0, 30), (50, 5.0, 6), (4, 5.0, 4), (8, 4000.0, 8)],
)
def test_a_slow_application_meets_the_lock_with_fewer(
    connections: int, answers_per_s: float | None, crowd: int
) -> None:
    assert clients_of(connections, answers_per_s) == crowd

"""tandem.lab.challenge: bodies that nobody has sent. What it does to containers is in tests/containers/test_conditions.py."""

import json

from tandem.catalog.catalog import Catalog
from tandem.lab.challenge import new_body


def test_a_new_body_is_as_long_and_has_another_sum(real: Catalog) -> None:
    body = real.scenarios["work-large"].body
    assert body is not None
    known, total = body.bytes(), sum(body.numbers())
    made = [new_body(known, total) for _ in range(20)]
    assert len({one.body for one in made}) > 1
    for one in made:
        numbers = json.loads(one.body)
        assert len(one.body) == len(known)
        assert one.answer == f"Sum: {sum(numbers)}".encode()
        assert sum(numbers) != total

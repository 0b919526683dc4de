"""tandem.catalog.bodies: arrays of a study's own, that cost what the scenario's would."""

import json

import pytest

from tandem.catalog.bodies import HEAD_BYTES, drawn
from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Sums, bodies_of, read_answers


@pytest.mark.parametrize(("name", "bytes_"), [("work", 71), ("work-large", 515_176)])
def test_every_number_has_the_digits_of_the_scenarios_own(real: Catalog, name: str, bytes_: int) -> None:
    scenario = real.scenarios[name]
    body, digits = scenario.body, scenario.answer.sum_digits
    assert body is not None
    assert digits is not None
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
    body = real.scenarios["work"].body
    assert body is not None
    some, others = drawn(body, 3, "1"), drawn(body, 3, "2")
    assert some == drawn.__wrapped__(body, 3, "1")
    heads = [one.body[:HEAD_BYTES] for one in (*some, *others)]
    assert len(set(heads)) == len(heads) == 2 * body.drawn


def test_what_a_load_sends_is_what_its_answers_know(real: Catalog) -> None:
    answers = read_answers(real.scenarios["work"], real.root / "contract", salt="3")
    assert isinstance(answers, Sums)
    found = bodies_of(real.scenarios["work"], answers)
    assert found is not None
    assert found.each == tuple(one.body for one in answers.sent)
    first, second = answers.sent[:2]
    assert answers.lengths() == {8}
    assert answers.difference(first.answer, sent=first.body) is None
    assert answers.difference(second.answer, sent=first.body[:HEAD_BYTES]) is not None
    assert answers.knows(first.body[:HEAD_BYTES])
    assert not answers.knows(first.body[:20])
    assert "nobody sent" in (answers.difference(first.answer, sent=b"[1]") or "")
    assert (
        bodies_of(
            real.scenarios["recipe"], answers=read_answers(real.scenarios["recipe"], real.root / "contract")
        )
        is None
    )

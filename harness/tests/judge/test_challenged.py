"""tandem.judge.challenged: which answers cannot be, while a table is locked and after a change."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import Scenario
from tandem.judge.challenged import (
    HONEST_MOST,
    CostRatio,
    DataState,
    Lock,
    Order,
    judged,
    remembered,
    rows_remembered,
    spoken,
    wrong,
)
from tandem.load.asking import TimedAnswer
from tandem.record.trial import Challenge

LOCK = Lock("core_step", 1.0, 2.0)
NEW = DataState(since_s=2.1, mark="f00", left=2, hidden=frozenset({76, 77}), until_s=3.0)
ENDED = replace(NEW, since_s=3.1, session=False, until_s=4.0)
RENEWED = replace(NEW, since_s=4.1, until_s=float("inf"))
WORLDS = [NEW, ENDED, RENEWED]
IN_ORDER = Order(late=0, ahead=0)


def recipe(key: int = 1, name: str = "f00 1", notes: tuple[str, ...] = ("old", "f00")) -> bytes:
    parts = [{"kind": "note", "text": text} for text in notes] + [{"kind": "event", "action": "created"}]
    return json.dumps({"id": key, "name": name, "timeline": parts}).encode()


def dashboard(name: str = "f00 3", note: str = "f00", team: int = 1) -> bytes:
    body = {"recipes": [{"id": 3, "name": name}], "notes": [{"text": note}], "teams": [{"id": team}]}
    return json.dumps(body).encode()


def told(
    began_s: float, ended_s: float, status: int = 200, body: bytes = b"", key: int | None = 1
) -> TimedAnswer:
    return TimedAnswer(key, began_s, ended_s, status, body or recipe())


HONEST = [
    told(0.9, 1.5, body=recipe(name="Stew")),  # sent before the lock: it may have been past the table
    told(1.1, 2.05, body=recipe(name="Stew")),
    told(2.2, 2.3),
    told(2.9, 3.05, 401),  # on its way when the session ended
    told(3.2, 3.3, 401),
    told(4.2, 4.3),
    told(4.3, 4.4, 404, key=76),
    told(4.4, 4.5, 503),
]


@pytest.fixture
def scenario(real: Catalog) -> Scenario:
    return real.scenarios["recipe"]


def codes(scenario: Scenario, answers: list[TimedAnswer], order: Order = IN_ORDER) -> list[tuple[str, str]]:
    return [(f.code, f.severity) for f in judged(answers, LOCK, WORLDS, scenario, order)[1]]


def test_the_honest_are_not_accused(scenario: Scenario) -> None:
    came, found = judged(HONEST, LOCK, WORLDS, scenario, IN_ORDER)
    assert found == []
    assert (came.locked, came.met_lock, came.compared, came.looked_for) == ("core_step", 1, 4, 0)


@pytest.mark.parametrize(
    ("answers", "order", "told"),
    [
        ([*HONEST, told(1.1, 1.9)], IN_ORDER, [("answered-locked", "invalid")]),
        ([*HONEST, told(1.1, 1.9, 503)], IN_ORDER, []),
        (HONEST, Order(late=3, ahead=0), [("answered-first", "invalid")]),
        (HONEST, Order(late=0, ahead=1), [("session-not-awaited", "invalid")]),
        (HONEST, Order(late=None, ahead=None), [("not-challenged", "warning")]),
        # Statements of who gave up are nobody's lie.
        ([*HONEST, told(0.1, 0.2, 0)], Order(late=3, ahead=0), []),
        ([*HONEST, told(0.1, 0.2, 503)], Order(late=3, ahead=0), []),
        # What cannot be decided is said, and not held against anyone.
        (HONEST[2:], IN_ORDER, [("not-challenged", "warning")]),
        (HONEST[:4], IN_ORDER, [("not-challenged", "warning")]),
    ],
)
def test_the_lock_and_the_order(
    scenario: Scenario, answers: list[TimedAnswer], order: Order, told: list[tuple[str, str]]
) -> None:
    assert codes(scenario, answers, order) == told


@pytest.mark.parametrize(
    "stale",
    [
        told(2.2, 2.3, body=recipe(name="Stew")),
        told(2.2, 2.3, body=recipe(notes=("old",))),
        told(2.2, 2.3, body=recipe(notes=())),
        told(2.2, 2.3, body=recipe(key=76, name="f00 76")),
        told(2.2, 2.3, key=76),
        told(2.2, 2.3, 404),
        told(2.2, 2.3, 401),
        told(2.2, 2.3, body=b"<html>"),
        told(3.2, 3.3),
        told(4.2, 4.3, 401),
    ],
)
def test_an_answer_that_does_not_show_a_change_is_a_lie(scenario: Scenario, stale: TimedAnswer) -> None:
    assert codes(scenario, [*HONEST, stale]) == [("change-unseen", "invalid")]


def test_a_dashboard_shows_it_too(real: Catalog) -> None:
    def problem(body: bytes) -> str:
        return wrong(told(2.2, 2.3, body=body, key=None), NEW, real.scenarios["fan-out"]) or ""

    assert problem(dashboard()) == ""
    assert "names" in problem(dashboard(name="Stew"))
    assert "note" in problem(dashboard(note="old"))
    assert "team" in problem(dashboard(team=2))


def test_what_is_acknowledged_has_to_be_there(real: Catalog) -> None:
    scenario = real.scenarios["note-write"]
    there = [replace(told(began, began + 0.1, 201), stored=True) for began in (2.2, 4.2)]
    there += [told(1.5, 2.1, 201), told(3.2, 3.3, 401)]
    came, found = judged(there, LOCK, WORLDS, scenario, IN_ORDER)
    assert (came.looked_for, found) == (2, [])
    lost = replace(there[0], stored=False)
    assert codes(scenario, [*there, lost]) == [("not-readable", "invalid")]


@pytest.mark.parametrize(("new_by_known", "code"), [(1.4, []), (3.3, ["work-remembered"])])
def test_a_body_that_is_new_takes_as_long_as_one_that_is_known(new_by_known: float, code: list[str]) -> None:
    sent = [told(0, 1), replace(told(0, 1), right=True), replace(told(0, 1, 0), right=False)]
    came, found = remembered(sent, new_by_known)
    assert (came.compared, came.new_by_known, came.locked) == (1, new_by_known, None)
    assert [f.code for f in found] == code
    _, found = remembered([replace(told(0, 1), right=False)], 1.0)
    assert [f.code for f in found] == ["change-unseen"], "the answer to a new body is its own"


def test_a_silent_connection_that_asks_again_gets_the_right_answer() -> None:
    assert spoken([True] * 3) == (Challenge(compared=3), [])
    [found] = spoken([True, False, True])[1]
    assert (found.code, found.severity) == ("idle-unanswered", "invalid")


# ---- rows that keep changing ----


def told_of(changed: float, noise: float, rng: np.random.Generator) -> CostRatio:
    """What is said after at most ten loads. noise: standard deviation of a load's ratio."""
    each: list[float] = []
    while len(each) < 10:
        each.append(changed * float(np.exp(rng.normal(0, noise))))
        if (cost := CostRatio.of(each)).honest or cost.remembers:
            break
    return cost


@pytest.mark.parametrize(
    ("noise", "found_least"), [(0.02, 1.0), (0.05, 0.999), (0.1, 0.98), (0.15, 0.9), (0.25, 0.3)]
)
def test_who_remembers_rows_is_told_from_the_honest(noise: float, found_least: float) -> None:
    """A host on which two loads differ by a fifth (0.1) was seen; on one that differs more nobody is accused."""
    rng, repeats = np.random.default_rng(1), 500
    assert sum(told_of(1.0, noise, rng).remembers for _ in range(repeats)) <= 0.002 * repeats
    assert sum(told_of(1.4, noise, rng).remembers for _ in range(repeats)) >= found_least * repeats


def test_a_memo_of_rows_is_a_finding() -> None:
    assert rows_remembered(CostRatio(1.02, None, 1)) == rows_remembered(CostRatio(1.09, 1.0, 3)) == []
    for low in (None, HONEST_MOST - 0.01):  # on a host whose speed changes
        [undecided] = rows_remembered(CostRatio(1.3, low, 10))
        assert (undecided.code, undecided.severity) == ("not-challenged", "warning")
    assert CostRatio.of([1.05]).honest is CostRatio.of([1.05, 1.2]).honest is False
    assert CostRatio.of([1.05, 1.1]).honest
    [found] = rows_remembered(CostRatio(1.3, HONEST_MOST + 0.01, 3))
    assert (found.code, found.severity) == ("rows-remembered", "invalid")
    assert "1.30" in found.text

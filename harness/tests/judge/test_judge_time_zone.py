"""SET TIME ZONE, which DB_TIME_ZONE=request makes a statement of each request: the gate wants it then, and only then."""

import pytest

from tandem.judge.judge import AnsweredRequests, Expectation, statements
from tandem.probes.postgres import name_statements
from tandem.record.window import Statement

ANSWERED = 10_000
NAMES = ["session", "recipe_by_id"]
QUERIES = {"select session": "session", "select recipe": "recipe_by_id"}


def counted(zone: str, calls: int) -> dict[str, Statement]:
    """What the database tells of a window in which `zone` ran so often besides the scenario's statements."""
    rows = [(text, ANSWERED, ANSWERED) for text in QUERIES]
    return name_statements([*rows, (zone, calls, 0)] if calls else rows, QUERIES)


def codes(zone: str, calls: int, asked_for: bool) -> list[str]:
    expected = Expectation(statements=NAMES, proxied=True, time_zone=asked_for)
    return [
        finding.code for finding in statements(counted(zone, calls), [AnsweredRequests(expected, ANSWERED)])
    ]


@pytest.mark.parametrize(
    ("asked_for", "calls", "told"),
    [
        (True, ANSWERED, []),
        (True, 0, ["sql-mismatch"]),
        (True, ANSWERED // 2, ["sql-mismatch"]),
        (True, 2 * ANSWERED, ["sql-mismatch"]),
        (False, 0, []),
        (False, ANSWERED, ["sql-extra"]),
        (False, ANSWERED // 20, ["sql-extra"]),
    ],
)
def test_once_per_request_or_never(asked_for: bool, calls: int, told: list[str]) -> None:
    assert codes("SET TIME ZONE 'UTC'", calls, asked_for) == told


def test_what_pgbouncer_sends_is_not_the_applications() -> None:
    assert codes("SET TimeZone='UTC'", ANSWERED, asked_for=True) == ["sql-mismatch", "sql-extra"]


def test_a_scenario_without_statements_sets_no_time_zone() -> None:
    expected = Expectation(statements=[], proxied=True, time_zone=True)
    assert statements({}, [AnsweredRequests(expected, ANSWERED)]) == []

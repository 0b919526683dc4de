"""tandem.judge.evidence: two counts of one thing, and what no honest load can do. The numbers are of real windows."""

from dataclasses import replace
from typing import Any

import pytest
from harness_samples import EXPECTED, good_window, pooler, quiet_roles, role

from tandem.judge.bottleneck import Concurrency
from tandem.judge.evidence import impossible, in_flight, round_trips
from tandem.judge.judge import AnsweredRequests, Expectation
from tandem.record.window import DatabaseWire, DbRtt, Statement, Window

EIGHT = [f"statement_{number}" for number in range(8)]
KEPT = replace(EXPECTED, statements=EIGHT, prepared=True)
UNPREPARED = replace(KEPT, prepared=False)
NOTES = replace(
    KEPT, statements=["session", "begin", "note_insert", "event_insert", "commit"], transactions_unseen=True
)
POOL = Concurrency(db_pool_usable=20, round_trips=8)


def disagree(answered: int, queries: int, expected: Expectation, failed: int = 0, **calls: int) -> bool:
    each = dict.fromkeys(expected.statements, answered) | calls
    counted = {name: Statement(calls=number, rows=0) for name, number in each.items()}
    found = [*round_trips(pooler(queries=queries), counted, [AnsweredRequests(expected, answered, failed)])]
    assert [(one.code, one.severity) for one in found] in ([], [("witnesses-disagree", "invalid")])
    return bool(found)


@pytest.mark.parametrize(
    ("answered", "queries", "expected", "calls", "told"),
    [
        (12_050, 96_400, KEPT, {}, False),
        (10_510, 84_065, KEPT, {}, False),  # 15 fewer: the most of all committed windows
        (89, 751, KEPT, {}, False),  # 39 connections' statements were prepared meanwhile
        (3_243, 9_729, KEPT, {}, True),  # pipelined: three flights
        (33_350, 33, KEPT, {}, True),  # past PgBouncer
        (33_350, 0, KEPT, {}, True),
        (12_050, 95_800, KEPT, {}, True),
        (12_050, 97_200, KEPT, {}, True),
        (412, 6_652, UNPREPARED, {}, False),
        (412, 6_652, KEPT, {}, True),
        (412, 9_900, UNPREPARED, {}, True),
        # asyncpg resets by four statements in one flight.
        (2_148, 19_332, replace(UNPREPARED, resets=True), {"reset": 4 * 2_148}, False),
        (2_148, 19_332, UNPREPARED, {"other": 4 * 2_148}, True),
        (2_000, 16_000, KEPT, {"begin": 2_000}, False),
        (2_000, 16_000, KEPT, {"commit": 2_000}, True),
        # Of transactions that PostgreSQL does not count; then each insert in one of its own.
        (1_000, 4_000, NOTES, {"begin": 5, "commit": 5}, False),
        (1_000, 3_000, NOTES, {"begin": 5, "commit": 5}, True),
        # A request that failed may have been counted by one alone.
        (1_000, 7_900, KEPT, {}, True),
        (1_000, 7_900, KEPT, {"failed": 10}, False),
    ],
)
def test_two_counts_of_the_statements(
    answered: int, queries: int, expected: Expectation, calls: dict[str, int], told: bool
) -> None:
    assert disagree(answered, queries, expected, **calls) is told


def test_without_pgbouncer_or_statements_there_is_one_witness() -> None:
    parts = [AnsweredRequests(KEPT, 1_000)]
    assert [*round_trips(None, {}, parts)] == []
    assert [*round_trips(pooler(), {}, [AnsweredRequests(Expectation([]), 1_000)])] == []


def far(rps: float, setting: int = 15, used: str = "app", us: float = 900) -> Window:
    """A window through the latency proxy whose role used so much CPU for each answer."""
    trip = DbRtt(setting=setting, before_p50=15.9, during_p50=16.4, during_p90=18.0, samples=20)
    roles = quiet_roles(**{"faults": role(0.3, "0"), used: role(us * rps / 1e6)})
    return good_window(goodput_rps=rps, db_rtt_ms=trip, roles=roles)


def codes(window: Window, expected: Expectation = KEPT) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in impossible(window, expected, POOL)]


@pytest.mark.parametrize(("name", "least"), [("proxy", 20), ("pgbouncer", 150), ("db", 273), ("faults", 455)])
def test_who_used_no_cpu_took_no_part(name: str, least: float) -> None:
    """least: the least that one used for an answer in the committed windows."""
    assert codes(far(691.0, 0, name, least)) == []
    assert codes(far(691.0, 0, name, 0.0)) == codes(far(691.0, 0, name, 3.0)) == [("bypassed", "invalid")]
    nothing = good_window(roles=quiet_roles(**{name: role(0.0)}), proxy=None, pooler=None)
    assert codes(nothing, Expectation([])) == [], "who is not in the path may rest"


@pytest.mark.parametrize(
    ("rps", "expected", "told"),
    [
        (154.2, KEPT, False),  # the nearest of all committed windows: 0.93 of the time
        (167.2, KEPT, False),  # what was under way at the beginning
        (175.0, KEPT, True),
        (175.0, replace(KEPT, db_pool_max=None), False),  # without kept connections the pool is no limit
    ],
)
def test_answers_take_the_time_of_their_round_trips(rps: float, expected: Expectation, told: bool) -> None:
    assert codes(far(rps), expected) == [("too-fast", "invalid")] * told


def seen(
    executed: int,
    flights: int,
    calls: dict[str, int] | None = None,
    in_turn: bool = False,
    expected: Expectation = KEPT,
    **wired: Any,
) -> list[str]:
    """The findings of a window in which that was read on the wire. calls: of statements, beside those that are expected. in_turn:
    several programs took turns, whose statements are counted together."""
    wired = {"packets_lost": 0, "cpu_s": 0.02, **wired}
    wire = DatabaseWire(executed=executed, flights=flights, connections=20, **wired)
    each = dict.fromkeys(expected.statements, 1_000) | (calls or {})
    counted = {name: Statement(calls=number, rows=0) for name, number in each.items()}
    window = good_window(database_wire=wire, statements={} if in_turn else counted)
    return [f"{one.severity} {one.code}" for one in in_flight(window, expected, counted)]


LIED = ["invalid witnesses-disagree"]


@pytest.mark.parametrize(
    ("executed", "flights", "calls", "told"),
    [
        (2_948, 2_948, {}, []),
        (2_948, 2_933, {}, []),
        (2_948, 2_900, {}, LIED),
        (1_134, 434, {}, LIED),  # six together: contract/broken, on a slow host
        (2_315, 1_850, {"begin": 2_000}, []),  # java-virtual: BEGIN travels with the statement behind it
        (2_315, 1_800, {"begin": 2_000}, []),  # a burst may have more of them than the window
        (2_315, 1_700, {"begin": 2_000}, LIED),
        (2_315, 1_850, {"other": 2_000}, LIED),
        (0, 0, {}, LIED),  # past the wire that was looked at
    ],
)
def test_a_statement_waits_for_the_answer_to_the_one_before(
    executed: int, flights: int, calls: dict[str, int], told: list[str]
) -> None:
    assert seen(executed, flights, calls) == told


def test_reads_that_are_pipelined_travel_together_where_that_was_asked_for() -> None:
    """Measured: node with DB_PIPELINE=1."""
    reads = [f"dashboard_{name}" for name in ("recipes", "teams", "notes", "events")]
    apart = Expectation(["session", *reads])
    together = replace(apart, pipelined=True)
    assert seen(1_382, 559, expected=apart) == seen(1_382, 200, expected=together) == LIED
    assert seen(1_382, 559, expected=together) == []


def test_bursts_may_miss_one_of_several_that_take_turns() -> None:
    assert seen(0, 0, in_turn=True) == []
    assert seen(1_134, 434, in_turn=True) == LIED


def test_a_capture_that_failed_accuses_nobody() -> None:
    assert seen(0, 0, problem="tcpdump: no such device") == ["warning few-compared"]
    assert seen(0, 0, packets_lost=9) == ["warning few-compared"]
    assert [*in_flight(good_window(database_wire=None), KEPT, {})] == []

"""Evidence that an application cannot make up: two counts of one thing, and what no honest load can do. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence

from tandem.judge.bottleneck import Concurrency
from tandem.judge.judge import SLACK, AnsweredRequests, Expectation, with_unseen
from tandem.record.window import Finding, Pooler, Statement, Window

TRIPS_TOLERANCE = 0.005
"""PostgreSQL's count of statements and PgBouncer's of round trips agree to this share. In the committed windows
PgBouncer's is 0.02 % smaller at most; a test has that one."""
IN_COMPANY = frozenset({"begin", "reset"})
"""Statements that may share a round trip: BEGIN with the statement behind it, those of a reset with each other."""
WIRE_SLACK, STANDARD_ERRORS, UNSEEN_LEAST = 2, 4, 1_000
"""Statements that may have been sent with another, besides; standard errors of a burst's share of those in company (of a binomial,
which is wider than that of requests with a fixed number each); and so many cannot pass unseen where one program is loaded."""
WORKED_LEAST_US = 5.0
"""CPU time of a service for each answer. HAProxy needs the least of all: 20 µs in the committed windows."""


def round_trips(
    pooler: Pooler | None, counted: dict[str, Statement], parts: Sequence[AnsweredRequests]
) -> Iterator[Finding]:
    """Do PostgreSQL and PgBouncer agree? Statements that are sent together are fewer round trips.

    parts: of the applications that asked one database. More round trips than statements are for preparing: once for each
    connection and statement where that is kept, else as many again.
    """
    if pooler is None or not any(part.expected.statements for part in parts):
        return
    counted = with_unseen(counted, parts)
    calls = sum(one.calls for one in counted.values())
    alone = _alone(counted, any(part.expected.pipelined for part in parts))
    slack = sum(SLACK + part.failed * len(part.expected.statements) for part in parts)
    preparing = sum((part.expected.db_pool_max or 0) * len(part.expected.statements) for part in parts)
    trips = 1 if all(part.expected.prepared for part in parts) else 2
    least, most = alone * (1 - TRIPS_TOLERANCE), trips * calls * (1 + TRIPS_TOLERANCE) + preparing
    if not least - slack <= pooler.queries <= most + trips * slack:
        text = f"pg_stat_statements has {calls} statements of the application, but PgBouncer counted {pooler.queries} round trips"
        yield Finding.of("witnesses-disagree", "invalid", text)


def _alone(counted: Mapping[str, Statement], pipelined: bool) -> int:
    """Calls of statements that wait for the answer to the one before. pipelined: the reads of a dashboard travel together."""
    together = (*IN_COMPANY, *(name for name in counted if pipelined and name.startswith("dashboard_")))
    return sum(one.calls for name, one in counted.items() if name not in together)


def in_flight(window: Window, expected: Expectation, counted: Mapping[str, Statement]) -> Iterator[Finding]:
    """Did each statement wait for the answer to the one before? By the wire between application and database.

    counted: of the applications that asked the database in these seconds.
    """
    wire = window.database_wire
    if wire is None or not any(of.statements for of in (expected, *expected.beside)):
        return
    calls = sum(one.calls for one in counted.values())
    alone = _alone(counted, expected.pipelined)
    share = alone / calls if calls else 0
    error = STANDARD_ERRORS * math.sqrt(wire.executed * share * (1 - share))
    least = wire.executed * share * (1 - TRIPS_TOLERANCE) - error - WIRE_SLACK
    if wire.flights < least:
        text = f"of {wire.executed:,} statements that were read on their way to the database only {wire.flights:,} waited for the answer to the one before"
        yield Finding.of("witnesses-disagree", "invalid", text)
    # Of several that took turns, a burst meets one: whoever takes part has had windows alone.
    if wire.executed or not window.statements:
        return
    if alone > UNSEEN_LEAST and wire.problem is None and not wire.packets_lost:
        text = f"the database counted {alone:,} statements, and not one was seen on its way there"
        yield Finding.of("witnesses-disagree", "invalid", text)
    elif alone:
        why = f": {wire.problem}" if wire.problem else ""
        text = f"not one statement was seen on its way to the database{why}"
        yield Finding.of("few-compared", "warning", text)


def impossible(window: Window, expected: Expectation, at_once: Concurrency) -> Iterator[Finding]:
    """Did services answer without work, or requests without the time that their way to the database takes?"""
    asks, trip = bool(expected.statements), window.db_rtt_ms
    if window.goodput_rps <= 0:
        return
    must = {"proxy": window.proxy, "pgbouncer": asks and window.pooler, "db": asks, "faults": asks and trip}
    for role in (name for name, needed in must.items() if needed and name in window.roles):
        us = window.roles[role].cpu_cores / window.goodput_rps * 1e6
        if us < WORKED_LEAST_US:
            text = f"{role} used {us:.1f} µs of CPU for each answer, too little to have taken part in it"
            yield Finding.of("bypassed", "invalid", text)
    usable = at_once.in_use if expected.db_pool_max is not None else None
    if trip is None or not usable or not at_once.round_trips:
        return
    # What was under way when a measured part began had some of its round trips before.
    spans = len(window.slices.from_s) if window.slices else 1
    needs_s = at_once.round_trips * trip.setting / 1e3
    asking_rps = window.classes[0].goodput_rps if window.classes else window.goodput_rps
    share = asking_rps * needs_s / min(usable, window.connections)
    if share > 1 + spans * needs_s / window.measured_s:
        text = f"{asking_rps:,.0f} answers a second need {share:.2f} of the time that all database connections have: a request waits for {at_once.round_trips} round trips of {trip.setting} ms"
        yield Finding.of("too-fast", "invalid", text)

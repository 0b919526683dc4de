"""tandem.judge.judge: every gate, each reached by changing one thing of a good window, and missed just below its limit."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from harness_samples import (
    EXPECTED,
    PROBES,
    REQUESTS,
    STATEMENTS,
    codes,
    counted,
    finding,
    good_window,
    host,
    proxy,
    quiet_roles,
    role,
)

from tandem.judge.judge import AnsweredRequests, Expectation, gates, statements, verdict
from tandem.probes.postgres import name_statements
from tandem.record.window import ClassFigures, ImpliedRows, Statement, Times, Verdict, Window

Load = Literal["closed", "open"]
Codes = list[tuple[str, str]]
ANSWERED = REQUESTS + PROBES
ANSWERED_99 = round(0.99 * ANSWERED)
WARNED, WRONG = ("wrong-answers", "warning"), ("wrong-answers", "invalid")


def calls(**calls: int) -> dict[str, Statement]:
    return counted(ANSWERED) | {name: Statement(calls=n, rows=n) for name, n in calls.items()}


def slow(**exec_ms: float) -> dict[str, Statement]:
    """Five calls of each of these, or those of the answers, that took the database so long."""
    found = counted(ANSWERED)
    return found | {
        name: found.get(name, Statement(calls=5, rows=5)).model_copy(update={"exec_ms": ms})
        for name, ms in exec_ms.items()
    }


def rows_of(**rows: int) -> dict[str, Statement]:
    """As often as there were answers, with other rows than belong to them."""
    return counted(ANSWERED) | {name: Statement(calls=ANSWERED, rows=n) for name, n in rows.items()}


def implied(answered: int, error: float = 10.0) -> dict[str, ImpliedRows]:
    """Of the six steps that a recipe has in the mean, and seven at most."""
    return {"steps": ImpliedRows(rows=6.0 * answered, error=error, most=7)}


def lateness(p99: float | None, worst: float) -> dict[str, Any]:
    return {"lateness_ms": Times(samples=REQUESTS, mean=0.5, p50=0.5, p90=0.9, p99=p99, max=worst)}


def probed(probes: int) -> dict[str, Any]:
    """Everything right, with so many looks at whole bodies."""
    return {
        "probes": probes,
        "statements": counted(REQUESTS + probes),
        "implied_rows": implied(REQUESTS + probes),
        "proxy": proxy(responses_2xx=REQUESTS + probes),
    }


NOTHING = {"requests": 0, "good": 0, "statements": {}, "proxy": None}
FAST = Times(samples=REQUESTS, mean=0.9)

ONE_FAULT: list[tuple[dict[str, Any], str]] = [
    ({"probe_failures": ["/api/v1/recipes: the body is not the golden one"]}, "wrong-body"),
    (probed(0), "not-probed"),
    ({"statements": {name: counted(ANSWERED)[name] for name in STATEMENTS[1:]}}, "sql-mismatch"),
    *(({"statements": calls(steps=n)}, "sql-mismatch") for n in (0, ANSWERED_99, 2 * ANSWERED)),
    *(({"statements": rows_of(session=n)}, "sql-rows") for n in (0, ANSWERED - 9)),
    *(({"statements": rows_of(steps=n)}, "sql-rows") for n in (0, 6 * ANSWERED - 110, 6 * ANSWERED + 110)),
    ({"choice_p": 1e-10}, "not-random"),
    ({"foreign_settings": ["app: synchronous_commit=off"]}, "foreign-settings"),
    ({"db_connections_max": 21}, "too-many-connections"),
    ({"stored_rows": ANSWERED - 1}, "not-stored"),
    *(({"statements": calls(**{name: ANSWERED})}, "sql-extra") for name in ("reset", "begin", "other")),
    ({"statements": calls(other=round(0.01 * ANSWERED))}, "sql-extra"),
    *(
        ({"proxy": proxy(responses_2xx=n)}, "proxy-mismatch")
        for n in (0, ANSWERED_99, round(1.01 * ANSWERED))
    ),
    *(({"proxy": proxy(connections_opened=n)}, "not-kept-alive") for n in (50 + 5 + 25, ANSWERED)),
    ({"proxy": None, "connections_opened": ANSWERED}, "not-kept-alive"),
    ({"failed": {"wrong length": 1}}, "wrong-length"),
    ({"statements": slow(other=211.0)}, "sql-extra-time"),
]


@pytest.mark.parametrize("load", ["closed", "open"])
@pytest.mark.parametrize(("changes", "code"), ONE_FAULT)
def test_work_that_was_not_done_is_one_finding_and_invalid(
    load: Load, changes: dict[str, Any], code: str
) -> None:
    """HAProxy's requests in flight are those of a closed loop, so they are not compared with the rows'."""
    window = good_window(load, **changes, in_flight_mean=None)
    assert codes(window) == [(code, "invalid")]
    assert verdict(gates(window, EXPECTED)) is Verdict.INVALID


def fails(told: Codes, **failed: int) -> tuple[Load, dict[str, Any], Codes]:
    """Requests that failed by their reasons, which have `_` in place of spaces."""
    return "closed", {"failed": {name.replace("_", " "): n for name, n in failed.items()}}, told


def tolerated(**changes: Any) -> tuple[Load, dict[str, Any], Codes]:
    return "closed", changes, []


@pytest.mark.parametrize(
    ("load", "changes", "told"),
    [
        # A good window passes every gate.
        ("closed", {}, []),
        ("open", {}, []),
        # Hardly a request may fail; a wrong length is a finding of its own.
        *(fails([WARNED], status_503=n) for n in (1, 7)),
        *(fails([WRONG], **failed) for failed in ({"status_503": 8}, {"deadline": 300})),
        fails([("wrong-length", "invalid"), WARNED], wrong_length=1, deadline=1),
        ("closed", {**probed(0), "failed": {"probe not answered": PROBES}, "probes": PROBES}, [WRONG]),
        ("closed", NOTHING, [("no-answers", "invalid")]),
        ("closed", {**NOTHING, "probes": 0, "failed": {"error: refused": 99}}, [("no-answers", "invalid")]),
        # A few in ten thousand are tolerated.
        *(tolerated(statements=calls(session=ANSWERED + n)) for n in (-6, 6)),
        *(tolerated(statements=rows_of(steps=6 * ANSWERED + n)) for n in (-90, 90)),
        tolerated(statements=rows_of(steps=6 * ANSWERED - 500), implied_rows=implied(ANSWERED, error=100.0)),
        tolerated(statements=calls(other=24)),
        tolerated(statements=slow(other=199.0)),
        tolerated(statements=slow(session=20_000.0, other=390.0)),
        tolerated(answer_ms_max=249.0),
        tolerated(answer_ms_max=2500.0, service_time_ms=Times(samples=900, mean=300.0)),
        ("closed", {"answer_ms_max": 2500.0}, [("starving", "warning")]),
        ("open", {"answer_ms_max": 2500.0}, []),
        tolerated(proxy=proxy(responses_2xx=ANSWERED + 6)),
        tolerated(proxy=proxy(connections_opened=50 + 5 + 24)),
        tolerated(choice_p=1e-8),
        # What is not known is not judged.
        *(tolerated(**{field: None}) for field in ("proxy", "pooler", "choice_p", "db_connections_max")),
        # Every acknowledged row is stored; one may be written whose answer came too late.
        *(tolerated(stored_rows=n) for n in (ANSWERED, ANSWERED + 3)),
        # Requests of the harness take a share of a closed loop's rate, not of a given one.
        ("closed", probed(121), []),
        ("closed", probed(122), [("own-requests", "warning")]),
        ("open", {**probed(122), "in_flight_mean": None}, []),
        # Little's law has its limits, which are wider below a millisecond, and is not asked of an open loop.
        *(("closed", {"little": value}, []) for value in (0.97, 1.01)),
        *(("closed", {"little": value}, [("littles-law", "invalid")]) for value in (0.969, 1.011)),
        ("closed", {"little": 0.90, "service_time_ms": FAST}, []),
        ("closed", {"little": 0.899, "service_time_ms": FAST}, [("littles-law", "invalid")]),
        ("open", {"little": 0.2}, []),
        # An open loop: the generator's lateness, and what it did not send.
        *(("open", lateness(*late), []) for late in ((1.2, 99.0), (None, 50.0))),
        *(("open", lateness(p99, 101.0), [("generator-stalled", "void")]) for p99 in (1.2, 50.0, None)),
        ("open", lateness(3.1, 99.0), [("generator-late", "warning")]),
        ("open", {**lateness(3.1, 99.0), "arrivals": "poisson"}, [("generator-late", "void")]),
        ("open", {"scheduled": REQUESTS + 60, "unsent": 60}, []),
        ("open", {"scheduled": REQUESTS + 61, "unsent": 61}, [("incomplete", "invalid")]),
        ("closed", {"roles": quiet_roles(db=role(0.5, "2", throttled_s=0.01))}, [("throttled", "void")]),
    ],
)  # fmt: skip
def test_where_the_limits_are(load: Load, changes: dict[str, Any], told: Codes) -> None:
    assert codes(good_window(load, **changes)) == told


@pytest.mark.parametrize(
    ("good", "failed", "share"), [(0, REQUESTS, "100.00%"), (9000, 3000, "25.00%"), (REQUESTS, 12, "0.10%")]
)
def test_the_share_of_failures_is_of_all_requests(good: int, failed: int, share: str) -> None:
    window = good_window(good=good, failed={"status 503": failed})
    [told] = [f for f in gates(window, EXPECTED) if f.code == "wrong-answers"]
    assert told.text == f"{share} of the requests failed: {failed} x status 503"
    assert good or "own-requests" not in dict(codes(window)), "no rate could be higher"


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        ({}, []),
        ({"status 503": 600}, [("refused", "warning")]),
        ({"status 503": 1200}, [("refused", "warning")]),
        ({"status 503": 1500}, [WRONG, ("refused", "warning")]),
        ({"status 500": 600}, [WRONG]),
        ({"status 503": 600, "status 500": 300}, [WRONG, ("refused", "warning")]),
        ({"status 503": 600, "error: deadline": 2}, [("refused", "warning"), WARNED]),
    ],
)
def test_a_load_that_is_meant_to_be_too_much_may_be_refused(failed: dict[str, int], told: Codes) -> None:
    """A tenth here; what fails otherwise is judged as ever."""
    window = good_window(failed=failed)
    assert codes(window, replace(EXPECTED, refused_most=0.1)) == told
    if "status 503" in failed:
        assert WRONG in codes(window), "elsewhere none may be"


def test_a_request_that_failed_may_have_run_any_of_its_statements() -> None:
    few = {"error: deadline": 5}
    for run in (ANSWERED, ANSWERED + 5):
        window = good_window(failed=few, statements=counted(run), proxy=proxy(responses_2xx=run))
        assert codes(window) == [WARNED]
    assert ("sql-mismatch", "invalid") in codes(good_window(failed=few, statements=counted(ANSWERED + 20)))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"statements": calls(steps=0)}, "sql-mismatch"),
        ({"statements": rows_of(steps=ANSWERED)}, "sql-rows"),
        ({"proxy": proxy(responses_2xx=ANSWERED // 2)}, "proxy-mismatch"),
    ],
)
def test_requests_that_failed_excuse_no_statement_that_is_missing(changes: dict[str, Any], code: str) -> None:
    """They may have run some of their own; they take none from the right answers."""
    window = good_window(failed={"wrong length": 3 * ANSWERED}, **changes)
    assert (code, "invalid") in codes(window)


@pytest.mark.parametrize(
    ("load", "changes", "code", "told"),
    [
        ("closed", {"requests": 0, "good": 0}, "no-answers", "void"),
        ("closed", probed(0), "not-probed", "void"),
        ("closed", {"failed": {"error: deadline": 300}}, "wrong-answers", "void"),
        ("closed", {"little": 0.5}, "littles-law", "void"),
        ("open", {"scheduled": 2 * REQUESTS}, "incomplete", "void"),
        ("closed", {"statements": calls(steps=0)}, "sql-mismatch", "void"),
        ("closed", {"proxy": proxy(responses_2xx=0)}, "proxy-mismatch", "void"),
        ("closed", {"statements": slow(other=900.0)}, "sql-extra-time", "void"),
        ("closed", {"probe_failures": ["/: differs"]}, "wrong-body", "invalid"),
        ("closed", {"failed": {"wrong length": 1}}, "wrong-length", "invalid"),
        ("closed", {"statements": rows_of(steps=0)}, "sql-rows", "invalid"),
        ("closed", {"choice_p": 1e-10}, "not-random", "invalid"),
        ("closed", {"db_connections_max": 21}, "too-many-connections", "invalid"),
        ("closed", {"statements": calls(other=ANSWERED)}, "sql-extra", "invalid"),
    ],
)
def test_a_disturbed_host_excuses_what_starvation_can_cause_and_no_wrong_work(
    load: Load, changes: dict[str, Any], code: str, told: str
) -> None:
    disturbed = good_window(load, host=host(steal_share=0.2), **changes)
    assert codes(disturbed) == [(code, told), ("steal", "void")]
    assert verdict(gates(disturbed, EXPECTED)) is Verdict(told)
    warned = good_window(load, host=host(steal_share=0.05), **changes)
    assert codes(warned) == [(code, "invalid"), ("steal", "warning")], "a warning excuses nothing"


def test_the_gravest_finding_decides() -> None:
    warning, void, invalid = finding("warning"), finding("void"), finding("invalid")
    assert verdict([]) is verdict([warning]) is Verdict.OK
    assert verdict([warning, void]) is Verdict.VOID
    assert verdict([void, invalid, warning]) is Verdict.INVALID


# ---- what only some scenarios have ----


def answers_after(least: float | None, half: float) -> dict[str, Any]:
    return {"answer_ms_min": least, "service_time_ms": Times(samples=REQUESTS, mean=half, p50=half)}


DELAYED = replace(EXPECTED, least_ms=20)
SILENT = replace(EXPECTED, idle_connections=2000)
OWN = replace(EXPECTED, contract=False)
CLOSING = replace(EXPECTED, requests_per_connection=10)
COMMITS = replace(EXPECTED, statements=[*STATEMENTS, "commit"])
COMMITTED = calls(commit=ANSWERED)
UNSEEN, COUNTED_ONCE = replace(COMMITS, transactions_unseen=True), calls(commit=20)


@pytest.mark.parametrize(
    ("expected", "changes", "told"),
    [
        # No answer comes before the delay that was asked for.
        (DELAYED, answers_after(20.1, 25.0), []),
        (DELAYED, answers_after(18.1, 20.0), []),
        (DELAYED, answers_after(17.9, 25.0), [("too-early", "invalid")]),
        (DELAYED, answers_after(18.1, 19.9), [("too-early", "invalid")]),
        (DELAYED, answers_after(None, 25.0), []),
        (EXPECTED, {"answer_ms_min": 0.1}, []),
        # 12,050 commits on 20 connections wait for 602 flushes at least; of 30 s two may not be told yet.
        (COMMITS, {"statements": COMMITTED, "wal_syncs": 563}, []),
        (COMMITS, {"statements": COMMITTED, "wal_syncs": 562}, [("not-flushed", "invalid")]),
        # Of prepared ones the first executions alone are counted.
        (UNSEEN, {"statements": COUNTED_ONCE, "wal_syncs": 563}, []),
        (UNSEEN, {"statements": COUNTED_ONCE, "wal_syncs": 562}, [("not-flushed", "invalid")]),
        (COMMITS, {"statements": COUNTED_ONCE, "wal_syncs": 563}, [("sql-mismatch", "invalid")]),
        (EXPECTED, {"wal_syncs": 0}, []),
        # One that was closed is seen until the database has noticed: nothing follows without kept connections.
        (replace(EXPECTED, db_pool_max=None), {"db_connections_max": 40}, []),
        # Silent connections have to stay open.
        (SILENT, {"idle_connections": 2000}, []),
        (SILENT, {"idle_connections": 2050}, []),
        (SILENT, {"idle_connections": 1999}, [("idle-lost", "invalid")]),
        # A reader's own service asks what it likes, and may close its connections.
        (OWN, {"statements": {}, "foreign_settings": ["app: x=1"]}, []),
        (OWN, {"proxy": proxy(connections_opened=ANSWERED)}, [("not-kept-alive", "warning")]),
        # Clients that close each tenth connection open as many; HAProxy keeps its own nevertheless.
        (CLOSING, {"proxy": None, "connections_opened": ANSWERED // 10}, []),
        (CLOSING, {"proxy": None, "connections_opened": ANSWERED // 5}, [("not-kept-alive", "invalid")]),
        (CLOSING, {"proxy": proxy(connections_opened=ANSWERED // 10)}, [("not-kept-alive", "invalid")]),
        # What was given up and sent again may have been answered, and have asked the database, all the same.
        (EXPECTED, {"retried": 300, "proxy": proxy(responses_2xx=ANSWERED + 300)}, []),
        (EXPECTED, {"proxy": proxy(responses_2xx=ANSWERED + 300)}, [("proxy-mismatch", "invalid")]),
        # A reset that was asked for is no extra statement.
        (replace(EXPECTED, resets=True), {"statements": calls(reset=ANSWERED)}, []),
    ],
)
def test_what_only_some_expect(expected: Expectation, changes: dict[str, Any], told: Codes) -> None:
    assert codes(good_window(**changes), expected) == told


ZONE = "SET TIME ZONE 'UTC'"


@pytest.mark.parametrize(
    ("zone", "calls", "asked_for", "told"),
    [
        (ZONE, ANSWERED, True, []),
        *((ZONE, calls, True, ["sql-mismatch"]) for calls in (0, ANSWERED // 2, 2 * ANSWERED)),
        (ZONE, 0, False, []),
        *((ZONE, calls, False, ["sql-extra"]) for calls in (ANSWERED // 20, ANSWERED)),
        ("SET TimeZone='UTC'", ANSWERED, True, ["sql-mismatch", "sql-extra"]),
    ],
)
def test_the_time_zone_is_set_once_per_request_or_never(
    zone: str, calls: int, asked_for: bool, told: list[str]
) -> None:
    """DB_TIME_ZONE=request makes it a statement of each request. The last spelling is PgBouncer's own."""
    queries = {"select session": "session", "select recipe": "recipe_by_id"}
    rows = [(text, ANSWERED, ANSWERED, 1.0) for text in queries] + [(zone, calls, 0, 1.0)] * bool(calls)
    expected = Expectation(statements=list(queries.values()), time_zone=asked_for)
    found = statements(name_statements(rows, queries), [AnsweredRequests(expected, ANSWERED)])
    assert [one.code for one in found] == told
    none = replace(expected, statements=[])
    assert statements({}, [AnsweredRequests(none, ANSWERED)]) == [], "a scenario without statements sets none"


# ---- a mix ----

WRITES = Expectation(statements=["session", "begin", "note_insert", "commit"], db_pool_max=20, least_ms=5)
LIGHT, HEAVY = 11_000, 1_000
MIX = replace(EXPECTED, stores=False, beside=(WRITES,))


def of_a_mix(
    light: dict[str, Any] | None = None, heavy: dict[str, Any] | None = None, **changes: Any
) -> Window:
    """11,000 reads and 1,000 writes; the harness itself reads."""
    classes = [
        ClassFigures(
            name=name,
            weight=weight,
            good=good,
            failed=0,
            goodput_rps=good / 30,
            service_time_ms=Times(samples=LIGHT, mean=4.0, p50=quickest),
            answer_ms_min=quickest,
        ).model_copy(update=own or {})
        for name, weight, good, quickest, own in (
            ("read", 11, LIGHT, 1.0, light),
            ("write", 1, HEAVY, 6.0, heavy),
        )
    ]
    read, written = LIGHT + PROBES, dict.fromkeys(("begin", "note_insert", "commit"), HEAVY)
    numbers = {"session": read + HEAVY, "recipe_random": read, **written}
    counts = {name: Statement(calls=n, rows=n) for name, n in numbers.items()}
    counts["steps"] = Statement(calls=read, rows=6 * read)
    made = {"statements": counts, "stored_rows": HEAVY, "wal_syncs": HEAVY, **changes}
    return good_window(implied_rows=implied(read), classes=classes, **made)


def test_each_class_of_a_mix_runs_its_own_statements() -> None:
    assert codes(of_a_mix(), MIX) == []
    silent = replace(MIX, beside=(replace(WRITES, statements=["session"]),))
    assert ("sql-extra", "invalid") in codes(of_a_mix(), silent), "a class that does not write"
    parts = AnsweredRequests.of(of_a_mix(), MIX)
    assert [part.answered for part in parts] == [LIGHT + PROBES, HEAVY]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"stored_rows": HEAVY - 1}, "not-stored"),
        ({"wal_syncs": 1}, "not-flushed"),
        ({"heavy": {"answer_ms_min": 2.0}}, "too-early"),
        ({"light": {"good": LIGHT + HEAVY}, "heavy": {"good": 0}}, "sql-mismatch"),
    ],
)
def test_a_class_of_a_mix_that_is_not_served(changes: dict[str, Any], code: str) -> None:
    assert code in {found for found, _ in codes(of_a_mix(**changes), MIX)}


@pytest.mark.parametrize(("commits", "told"), [(1_000, []), (500, ["sql-mismatch"]), (0, ["sql-mismatch"])])
def test_commits_that_are_counted_are_due_beside_a_program_whose_are_not(
    commits: int, told: list[str]
) -> None:
    once = replace(EXPECTED, statements=["commit"])
    parts = [AnsweredRequests(replace(once, transactions_unseen=one), 1_000) for one in (True, False)]
    found = statements({"commit": Statement(calls=commits, rows=0)}, parts)
    assert [one.code for one in found] == told

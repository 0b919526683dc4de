"""tandem.judge.judge: every gate, each reached by changing one thing of a good window."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from harness_samples import (
    EXPECTED,
    PROBES,
    REQUESTS,
    STATEMENTS,
    counted,
    finding,
    good_window,
    host,
    proxy,
    quiet_roles,
    role,
)

from tandem.judge.judge import Expectation, gates, verdict
from tandem.record.window import ImpliedRows, Statement, Times, Verdict, Window

Load = Literal["closed", "open"]
ANSWERED = REQUESTS + PROBES


def found(window: Window, expected: Expectation = EXPECTED) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in gates(window, expected)]


def statements(**calls: int) -> dict[str, Statement]:
    return {**counted(ANSWERED), **{name: Statement(calls=n, rows=n) for name, n in calls.items()}}


def lateness(p99: float | None, worst: float) -> Times:
    return Times(samples=REQUESTS, mean=0.5, p50=0.5, p90=0.9, p99=p99, max=worst)


def implied(answered: int, error: float = 10.0) -> dict[str, ImpliedRows]:
    """Of the six steps that a recipe has in the mean, and seven at most."""
    return {"steps": ImpliedRows(rows=6.0 * answered, error=error, most=7)}


UNPROBED = {
    "probes": 0,
    "statements": counted(REQUESTS),
    "implied_rows": implied(REQUESTS),
    "proxy": proxy(responses_2xx=REQUESTS),
}
"""Everything right, but nobody looked at a whole body."""

# ---- gates ----


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_good_window_passes_every_gate(load: Load) -> None:
    window = good_window(load)
    assert gates(window, EXPECTED) == []
    assert verdict(gates(window, EXPECTED)) is Verdict.OK


def rows_of(**rows: int) -> dict[str, Statement]:
    """As often as there were answers, with other rows than belong to them."""
    out = counted(ANSWERED)
    return {**out, **{name: Statement(calls=ANSWERED, rows=number) for name, number in rows.items()}}


WORK = [
    ({"failed": {"status 500": 300}, "good": REQUESTS - 300}, "wrong-answers"),
    ({"failed": {"error: deadline": 300}}, "wrong-answers"),
    ({"probe_failures": ["/api/v1/recipes: the body is not the golden one"]}, "wrong-body"),
    ({"requests": 0, "good": 0, "statements": {}, "proxy": None}, "no-answers"),
    (UNPROBED, "not-probed"),
    ({"statements": statements(steps=0)}, "sql-mismatch"),
    ({"statements": {name: counted(ANSWERED)[name] for name in STATEMENTS[1:]}}, "sql-mismatch"),
    ({"statements": rows_of(session=0)}, "sql-rows"),
    ({"statements": rows_of(session=ANSWERED - 9)}, "sql-rows"),
    ({"statements": rows_of(steps=0)}, "sql-rows"),
    ({"statements": rows_of(steps=6 * ANSWERED - 110)}, "sql-rows"),
    ({"statements": rows_of(steps=6 * ANSWERED + 110)}, "sql-rows"),
    ({"choice_p": 1e-10}, "not-random"),
    ({"foreign_settings": ["app: synchronous_commit=off"]}, "foreign-settings"),
    ({"db_connections_max": 21}, "too-many-connections"),
    ({"statements": statements(steps=2 * ANSWERED)}, "sql-mismatch"),
    ({"statements": statements(steps=round(0.99 * ANSWERED))}, "sql-mismatch"),
    ({"stored_rows": ANSWERED - 1}, "not-stored"),
    ({"statements": statements(reset=ANSWERED)}, "sql-extra"),
    ({"statements": statements(begin=ANSWERED)}, "sql-extra"),
    ({"statements": statements(other=ANSWERED)}, "sql-extra"),
    ({"statements": statements(other=round(0.01 * ANSWERED))}, "sql-extra"),
    ({"proxy": proxy(responses_2xx=0)}, "proxy-mismatch"),
    ({"proxy": proxy(responses_2xx=round(0.99 * ANSWERED))}, "proxy-mismatch"),
    ({"proxy": proxy(responses_2xx=round(1.01 * ANSWERED))}, "proxy-mismatch"),
    ({"proxy": proxy(connections_opened=ANSWERED)}, "not-kept-alive"),
    ({"proxy": proxy(connections_opened=round(0.01 * ANSWERED))}, "not-kept-alive"),
    ({"proxy": proxy(connections_opened=50 + 5 + 25)}, "not-kept-alive"),
    ({"failed": {"wrong length": 1}}, "wrong-length"),
]


@pytest.mark.parametrize("load", ["closed", "open"])
@pytest.mark.parametrize(("changes", "code"), WORK)
def test_work_that_was_not_done_makes_a_window_invalid(
    load: Load, changes: dict[str, Any], code: str
) -> None:
    told = found(good_window(load, **changes))
    assert (code, "invalid") in told
    assert verdict(gates(good_window(load, **changes), EXPECTED)) is Verdict.INVALID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        *((changes, code) for changes, code in WORK if code not in ("wrong-answers", "no-answers")),
        ({"little": 0.96}, "littles-law"),
        ({"little": 1.02}, "littles-law"),
    ],
)
def test_one_fault_gives_one_finding(changes: dict[str, Any], code: str) -> None:
    assert found(good_window(**changes)) == [(code, "invalid")]


@pytest.mark.parametrize(("own", "told"), [(121, False), (122, True)])
def test_own_requests_that_take_a_share_of_the_rate_are_told(own: int, told: bool) -> None:
    own_too = {
        "probes": own,
        "statements": counted(REQUESTS + own),
        "implied_rows": implied(REQUESTS + own),
        "proxy": proxy(responses_2xx=REQUESTS + own),
    }
    assert found(good_window("closed", **own_too)) == [("own-requests", "warning")] * told
    assert ("own-requests", "warning") not in found(good_window("open", **own_too)), "the rate is given"


def test_where_no_answer_was_right_no_rate_could_be_higher() -> None:
    window = good_window(good=0, failed={"status 503": REQUESTS})
    assert "own-requests" not in [code for code, _ in found(window)]


def test_errors_without_a_row_are_one_finding() -> None:
    assert found(good_window(failed={"error: deadline": 300})) == [("wrong-answers", "invalid")]


def test_no_answers_are_one_finding() -> None:
    window = good_window(requests=0, good=0, statements={}, probes=0, failed={"error: refused": 99})
    assert found(window) == [("no-answers", "invalid")]
    assert "99 x error: refused" in gates(window, EXPECTED)[0].text


@pytest.mark.parametrize(
    ("good", "failed", "share"), [(0, REQUESTS, "100.00%"), (9000, 3000, "25.00%"), (REQUESTS, 12, "0.10%")]
)
def test_the_share_of_failures_is_of_all_requests(good: int, failed: int, share: str) -> None:
    window = good_window(good=good, failed={"status 503": failed})
    [told] = [f for f in gates(window, EXPECTED) if f.code == "wrong-answers"]
    assert told.text == f"{share} of the requests failed: {failed} x status 503"


@pytest.mark.parametrize(("failed", "severity"), [(1, "warning"), (7, "warning"), (8, "invalid")])
def test_hardly_a_request_may_fail(failed: int, severity: str) -> None:
    assert found(good_window(failed={"status 503": failed})) == [("wrong-answers", severity)]


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        ({}, []),
        ({"status 503": 600}, [("refused", "warning")]),
        ({"status 503": 1200}, [("refused", "warning")]),
        ({"status 503": 1500}, [("wrong-answers", "invalid"), ("refused", "warning")]),
        ({"status 500": 600}, [("wrong-answers", "invalid")]),
        ({"status 503": 600, "status 500": 300}, [("wrong-answers", "invalid"), ("refused", "warning")]),
        ({"status 503": 600, "error: deadline": 2}, [("refused", "warning"), ("wrong-answers", "warning")]),
    ],
)
def test_a_load_that_is_meant_to_be_too_much_may_be_refused(
    failed: dict[str, int], told: list[tuple[str, str]]
) -> None:
    """A tenth here; what fails otherwise is judged as ever."""
    window = good_window(failed=failed)
    overloaded = replace(EXPECTED, refused_most=0.1)
    assert [(f.code, f.severity) for f in gates(window, overloaded)] == told
    if "status 503" in failed:
        assert ("wrong-answers", "invalid") in found(window), "elsewhere none may be"


def test_a_wrong_length_beside_other_failures_is_a_finding_of_its_own() -> None:
    told = found(good_window(failed={"wrong length": 1, "error: deadline": 1}))
    assert told == [("wrong-length", "invalid"), ("wrong-answers", "warning")]


def test_a_few_failures_are_a_warning() -> None:
    assert found(good_window(failed={"error: deadline": 5})) == [("wrong-answers", "warning")]


@pytest.mark.parametrize(
    "changes",
    [
        {"statements": {**counted(ANSWERED), "session": Statement(calls=ANSWERED + 6, rows=ANSWERED + 6)}},
        {"statements": {**counted(ANSWERED), "session": Statement(calls=ANSWERED - 6, rows=ANSWERED - 6)}},
        {"statements": rows_of(steps=6 * ANSWERED + 90)},
        {"statements": rows_of(steps=6 * ANSWERED - 90)},
        {"statements": rows_of(steps=6 * ANSWERED - 500), "implied_rows": implied(ANSWERED, error=100.0)},
        {"statements": statements(other=24)},
        {"proxy": proxy(responses_2xx=ANSWERED + 6)},
        {"proxy": proxy(connections_opened=50 + 5 + 24)},
        {"proxy": None},
        {"pooler": None},
        {"choice_p": 1e-8},
        {"choice_p": None},
        {"db_connections_max": None},
    ],
)
def test_a_few_in_ten_thousand_are_tolerated(changes: dict[str, Any]) -> None:
    assert found(good_window(**changes)) == []


def test_probes_that_got_no_answer_ran_no_statement() -> None:
    refused = PROBES  # all of them
    window = good_window(
        failed={"probe not answered": refused},
        statements=counted(REQUESTS),
        implied_rows=implied(REQUESTS),
        proxy=proxy(responses_2xx=REQUESTS),
    )
    assert found(window) == [("wrong-answers", "invalid")]


def test_a_request_that_failed_may_have_run_any_of_its_statements() -> None:
    few = {"error: deadline": 5}
    for calls in (ANSWERED, ANSWERED + 5):
        window = good_window(failed=few, statements=counted(calls), proxy=proxy(responses_2xx=calls))
        assert found(window) == [("wrong-answers", "warning")]
    assert ("sql-mismatch", "invalid") in found(good_window(failed=few, statements=counted(ANSWERED + 20)))


def test_requests_that_failed_excuse_no_statement_that_is_missing() -> None:
    """They may have run some of their own; they take none from the right answers."""
    many = {"wrong length": 3 * ANSWERED}
    assert ("sql-mismatch", "invalid") in found(good_window(failed=many, statements=statements(steps=0)))
    fewer = {**counted(ANSWERED), "steps": Statement(calls=ANSWERED, rows=ANSWERED)}
    assert ("sql-rows", "invalid") in found(good_window(failed=many, statements=fewer))
    told = found(good_window(failed=many, proxy=proxy(responses_2xx=ANSWERED // 2)))
    assert ("proxy-mismatch", "invalid") in told


@pytest.mark.parametrize(("quickest", "ok"), [(20.1, True), (18.1, True), (17.9, False), (10.0, False)])
def test_no_answer_comes_before_the_delay_that_was_asked_for(quickest: float, ok: bool) -> None:
    expected = Expectation(statements=STATEMENTS, proxied=True, least_ms=20)
    told = found(good_window(answer_ms_min=quickest), expected)
    assert told == ([] if ok else [("too-early", "invalid")])
    assert found(good_window(answer_ms_min=0.1)) == [], "nothing was to be waited for"


def test_time_that_was_not_measured_is_not_judged() -> None:
    expected = Expectation(statements=STATEMENTS, proxied=True, least_ms=20)
    assert found(good_window(answer_ms_min=None), expected) == []


@pytest.mark.parametrize(("syncs", "ok"), [(603, True), (563, True), (562, False), (150, False)])
def test_a_flush_can_have_waited_for_as_many_commits_as_there_are_connections(syncs: int, ok: bool) -> None:
    """12,050 commits on 20 connections wait for 602 flushes at least; of 30 s two may not be told yet."""
    names = [*STATEMENTS, "commit"]
    expected = Expectation(statements=names, proxied=True, db_pool_max=20)
    committed = {**counted(ANSWERED), "commit": Statement(calls=ANSWERED, rows=0)}
    window = good_window(statements=committed, wal_syncs=syncs)
    assert found(window, expected) == ([] if ok else [("not-flushed", "invalid")])
    assert found(good_window(wal_syncs=0)) == [], "nothing is committed there"


def test_connections_are_counted_only_where_they_are_kept() -> None:
    """One that was closed is seen until the database has noticed: nothing follows from a number with DB_PERSISTENT=0."""
    expected = Expectation(statements=STATEMENTS, proxied=True)
    assert found(good_window(db_connections_max=40), expected) == []


def test_a_probe_that_differs_is_told_with_its_number() -> None:
    [told] = gates(good_window(probe_failures=["/x: differs", "/y: differs"]), EXPECTED)
    assert told.text.startswith(f"2 of {PROBES} probes")
    assert "/x: differs" in told.text


@pytest.mark.parametrize(("little", "ok"), [(0.97, True), (1.01, True), (0.969, False), (1.011, False)])
def test_littles_law_has_its_limits(little: float, ok: bool) -> None:
    assert (found(good_window(little=little)) == []) is ok


@pytest.mark.parametrize(("little", "ok"), [(0.90, True), (0.899, False), (1.011, False)])
def test_littles_law_is_wider_below_a_millisecond(little: float, ok: bool) -> None:
    window = good_window(little=little, service_time_ms=Times(samples=REQUESTS, mean=0.9))
    assert (found(window) == []) is ok


def test_littles_law_is_not_asked_of_an_open_loop() -> None:
    assert found(good_window("open", little=0.2)) == []


@pytest.mark.parametrize(
    ("p99", "worst", "told"),
    [
        (1.2, 99.0, []),
        (1.2, 101.0, [("generator-stalled", "void")]),
        (3.1, 99.0, [("generator-late", "warning")]),
        (None, 101.0, [("generator-stalled", "void")]),
        (None, 50.0, []),
        (50.0, 101.0, [("generator-stalled", "void")]),
    ],
)
def test_the_generators_lateness(p99: float | None, worst: float, told: list[tuple[str, str]]) -> None:
    assert found(good_window("open", lateness_ms=lateness(p99, worst))) == told


@pytest.mark.parametrize(("scheduled", "ok"), [(REQUESTS + 60, True), (REQUESTS + 61, False)])
def test_an_open_loop_must_be_complete(scheduled: int, ok: bool) -> None:
    told = found(good_window("open", scheduled=scheduled, unsent=scheduled - REQUESTS))
    assert told == ([] if ok else [("incomplete", "invalid")])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"steal_share": 0.019}, []),
        ({"steal_share": 0.021}, [("steal", "warning")]),
        ({"steal_share": 0.101}, [("steal", "void")]),
        ({"foreign_cpu_share": 0.049}, []),
        ({"foreign_cpu_share": 0.051}, [("foreign-cpu", "warning")]),
        ({"foreign_cpu_share": 0.151}, [("foreign-cpu", "void")]),
        ({"harness_cpu_cores": 0.049}, []),
        ({"harness_cpu_cores": 0.051}, [("harness-cpu", "warning")]),
        ({"harness_cpu_cores": None}, []),
    ],
)
def test_the_host(changes: dict[str, float | None], told: list[tuple[str, str]]) -> None:
    assert found(good_window(host=host(**changes))) == told


def test_throttling_voids() -> None:
    window = good_window(roles=quiet_roles(db=role(0.5, "2", throttled_s=0.01)))
    assert found(window) == [("throttled", "void")]
    assert "db" in gates(window, EXPECTED)[0].text


STARVED: list[tuple[Load, dict[str, Any], str]] = [
    ("closed", {"requests": 0, "good": 0}, "no-answers"),
    ("closed", UNPROBED, "not-probed"),
    ("closed", {"failed": {"error: deadline": 300}}, "wrong-answers"),
    ("closed", {"little": 0.5}, "littles-law"),
    ("open", {"scheduled": 2 * REQUESTS}, "incomplete"),
    ("closed", {"statements": statements(steps=0)}, "sql-mismatch"),
    ("closed", {"proxy": proxy(responses_2xx=0)}, "proxy-mismatch"),
]


@pytest.mark.parametrize(("load", "changes", "code"), STARVED)
def test_what_starvation_can_cause_is_void_on_a_disturbed_host(
    load: Load, changes: dict[str, Any], code: str
) -> None:
    window = good_window(load, host=host(steal_share=0.2), **changes)
    assert found(window) == [(code, "void"), ("steal", "void")]
    assert verdict(gates(window, EXPECTED)) is Verdict.VOID


@pytest.mark.parametrize(("load", "changes", "code"), STARVED)
def test_a_warning_about_the_host_excuses_nothing(load: Load, changes: dict[str, Any], code: str) -> None:
    window = good_window(load, host=host(steal_share=0.05), **changes)
    assert found(window) == [(code, "invalid"), ("steal", "warning")]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"probe_failures": ["/: differs"]}, "wrong-body"),
        ({"failed": {"wrong length": 1}}, "wrong-length"),
        ({"statements": rows_of(steps=0)}, "sql-rows"),
        ({"choice_p": 1e-10}, "not-random"),
        ({"db_connections_max": 21}, "too-many-connections"),
        ({"statements": statements(other=ANSWERED)}, "sql-extra"),
    ],
)
def test_starvation_excuses_no_wrong_work(changes: dict[str, Any], code: str) -> None:
    window = good_window(host=host(steal_share=0.2), **changes)
    assert found(window) == [(code, "invalid"), ("steal", "void")]
    assert verdict(gates(window, EXPECTED)) is Verdict.INVALID


@pytest.mark.parametrize(
    ("severities", "told"),
    [
        ([], Verdict.OK),
        (["warning"], Verdict.OK),
        (["warning", "void"], Verdict.VOID),
        (["void", "invalid", "warning"], Verdict.INVALID),
    ],
)
def test_the_gravest_finding_decides(severities: list[Any], told: Verdict) -> None:
    assert verdict([finding(severity) for severity in severities]) is told


# ---- what only some scenarios have ----


def test_every_acknowledged_row_is_stored() -> None:
    assert found(good_window(stored_rows=ANSWERED)) == []
    assert found(good_window(stored_rows=ANSWERED + 3)) == []  # written, but the answer came too late


def test_silent_connections_have_to_stay_open() -> None:
    expected = Expectation(statements=STATEMENTS, proxied=True, idle_connections=2000)
    assert found(good_window(idle_connections=2000), expected) == []
    assert found(good_window(idle_connections=2050), expected) == []
    assert found(good_window(idle_connections=1999), expected) == [("idle-lost", "invalid")]


def test_a_reset_that_was_asked_for_is_no_extra_statement() -> None:
    expected = Expectation(statements=STATEMENTS, proxied=True, resets=True)
    assert found(good_window(statements=statements(reset=ANSWERED)), expected) == []

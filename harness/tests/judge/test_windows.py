"""tandem.judge.windows and on_wire: several applications at once, a generator without rows, answers that were read on the wire."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness_samples import EXPECTED, TOOL_RESULT, counted, good_window, host, pooler, tap
from harness_windows import CORES, conditions, measured

from tandem.judge import measure
from tandem.judge.bottleneck import Concurrency
from tandem.judge.judge import Expectation, gates, verdict
from tandem.judge.on_wire import ALTERED, LONG_S, MISSED, coverage, needed, on_wire, stated
from tandem.judge.windows import Unjudged, judged, second_opinion
from tandem.load import wrk
from tandem.load.generator import Report, SocketErrors, ToolResult
from tandem.load.rows import no_rows
from tandem.record.window import ClassFigures, Statement, Times, Verdict, Window

BOTH = (EXPECTED, EXPECTED)
ONE = good_window().good + good_window().probes
ALL = 2 * ONE
ZONE = replace(EXPECTED, time_zone=True)
SOME_ZONES = {**counted(ALL), "time_zone": Statement(calls=ONE, rows=0)}
FEWER_ROWS = {**counted(ALL), "steps": Statement(calls=ALL, rows=ALL * 5)}


def together(
    expected: Sequence[Expectation], first: dict[str, Any] | None = None, **changes: Any
) -> list[Window]:
    """Judged windows of two at once. first: further changes of the first one's."""
    both = good_window(**{**changes, **(first or {})}), good_window(**changes)
    each = zip("AB", both, expected, strict=True)
    return [*judged({label: Unjudged(one, of, Concurrency()) for label, one, of in each}).values()]


@pytest.mark.parametrize(
    ("seen", "stored", "expected", "code"),
    [
        (counted(ALL), None, BOTH, None),
        (counted(ONE), None, BOTH, "sql-mismatch"),  # one of two answers from memory
        (FEWER_ROWS, None, BOTH, "sql-rows"),
        # The one sets its time zone with every request, the other when it connects.
        (SOME_ZONES, None, (ZONE, EXPECTED), None),
        (SOME_ZONES, None, BOTH, "sql-extra"),
        (SOME_ZONES, None, (ZONE, ZONE), "sql-mismatch"),
        (counted(ALL), ALL, BOTH, None),
        (counted(ALL), ALL - 1, BOTH, "not-stored"),
    ],
)
def test_what_all_did_has_to_fit_all_answers(
    seen: dict[str, Statement], stored: int | None, expected: Sequence[Expectation], code: str | None
) -> None:
    trips = pooler(queries=sum(one.calls for one in seen.values()))
    for window in together(expected, pooler=trips, statements=seen, stored_rows=stored):
        assert {one.code for one in window.findings} == ({code} if code else set())
        assert window.verdict is (Verdict.INVALID if code else Verdict.OK)
        assert window.statements == seen


def test_their_round_trips_have_to_fit_all_statements() -> None:
    """PgBouncer counted those of one."""
    first, _ = together(BOTH, statements=counted(ALL))
    assert [one.code for one in first.findings] == ["witnesses-disagree"]


def test_what_the_host_spoiled_stays_void() -> None:
    spoiled, other = together(BOTH, {"host": host(steal_share=0.2)}, statements=counted(ONE))
    assert (spoiled.verdict, other.verdict) == (Verdict.VOID, Verdict.INVALID)


def window(**changes: Any) -> Window:
    return good_window(**{"proxy": None, "statements": {}, **changes})


def codes(told: ToolResult, made: Window) -> dict[str, str]:
    found = {finding.code: finding.severity for finding in second_opinion(told, made)}
    assert found.pop("second-opinion") == "warning", "it is always marked"
    return dict(found)


def test_no_answers_and_a_connect_error_make_it_invalid(fixtures: Path) -> None:
    """wrk's real summaries of a run that hung, and of one that had too few descriptors: 304 connect errors."""
    stuck, real = (wrk.parse((fixtures / f"wrk-{how}.txt").read_text()) for how in ("stuck", "refused"))
    assert codes(stuck, window()) == {"no-answers": "invalid"}
    found = second_opinion(real, window())
    assert [f.code for f in found if f.severity == "invalid"] == ["connect-errors", "wrong-answers"]
    assert "304 connections" in found[0].text
    errors = SocketErrors(connect=1, read=0, write=0, timeout=0)
    one = TOOL_RESULT.model_copy(update={"socket_errors": errors})
    assert codes(one, window()) == {"connect-errors": "invalid", "wrong-answers": "warning"}
    assert verdict(second_opinion(one, window())) is Verdict.INVALID


@pytest.mark.parametrize(
    ("changed", "made", "told"),
    [
        ({}, {}, {}),
        ({"requests": 0}, {}, {"no-answers": "invalid"}),
        ({"failed": 600}, {}, {"wrong-answers": "invalid"}),
        ({"failed": 100}, {}, {"wrong-answers": "warning"}),
        ({}, {"probe_failures": ["/: other bytes"], "probes": 9}, {"wrong-body": "invalid"}),
        ({}, {"failed": {"probe not answered": 2}}, {"wrong-answers": "warning"}),
        ({}, {"host": host(steal_share=0.3)}, {"steal": "void"}),
        # Checks that need rows do not apply. No little, no exact count of answers: what an oha window would be
        # invalid for.
        ({}, {"little": None, "rows_2xx": None, "requests": 0}, {}),
        ({}, {"statements": {"other": Statement(calls=10**6, rows=1)}}, {}),
    ],
)
def test_what_a_second_opinion_is_refused_for(
    changed: dict[str, int], made: dict[str, Any], told: dict[str, str]
) -> None:
    assert codes(TOOL_RESULT.model_copy(update=changed), window(**made)) == told


def told_window(told: ToolResult) -> Window:
    """The window of a load whose generator left no rows."""
    report = Report(statusCodeDistribution={}, told=told)
    return measure.window(measured(rows=no_rows(), report=report), conditions())


def test_a_window_without_rows_has_the_tools_figures_and_the_counters() -> None:
    made = told_window(TOOL_RESULT.model_copy(update={"failed": 1_000}))
    assert (made.requests, made.good, made.failed) == (100_000, 99_000, {"wrong answers": 1_000})
    assert made.goodput_rps == pytest.approx(9_900)
    assert made.service_time_ms.mean == 5.0
    assert made.roles["app"].cpu_cores == pytest.approx(CORES["app"])
    assert (made.little, made.rows_2xx, made.service_time_hdr, made.per_second) == (None, None, None, None)
    assert told_window(TOOL_RESULT.model_copy(update={"requests": 0})).goodput_rps == 0


def tapped(compared: int = 2_140, wrong: int = 0, seen: Any = None, **changes: Any) -> Window:
    """seen: changes of what was read."""
    read = tap(compared, wrong).model_copy(update=seen or {})
    fields: dict[str, Any] = {"tap": read, "duration_s": float(LONG_S), **changes}
    return good_window(**fields)


def test_so_many_find_an_alteration() -> None:
    assert (1 - ALTERED) ** needed() <= MISSED < (1 - ALTERED) ** (needed() - 1)


def test_how_many_were_compared() -> None:
    assert coverage([tapped(), good_window()]) == "2,140 of 12,000 answers compared"
    assert stated([tapped(), tapped()]) == "4,280 of 24,000 answers compared for 0.20 s of CPU"
    assert coverage([good_window()]) == stated([good_window()]) == ""


def test_one_wrong_answer_is_invalid_on_a_disturbed_host_as_well() -> None:
    window = tapped(wrong=1)
    window.host.steal_share = 0.5
    found = [*on_wire(window), *gates(window, EXPECTED)]
    assert found[0].text.endswith("are wrong: GET /1: not a recipe")
    assert "void" in {one.severity for one in found}
    assert verdict(found) is Verdict.INVALID


@pytest.mark.parametrize(
    ("compared", "changes", "warned"),
    [
        (2_140, {}, False),
        (1_200, {}, False),
        (1_100, {}, True),
        (110, {"good": 200}, False),
        (90, {"good": 200}, True),
        (200, {"duration_s": 4.0}, False),
        (0, {"good": 0}, False),
        (0, {"tap": None}, False),
    ],
)
def test_few_is_a_warning(compared: int, changes: dict[str, Any], warned: bool) -> None:
    found = [(one.code, one.severity) for one in on_wire(tapped(compared, **changes))]
    assert found == [("few-compared", "warning")] * warned


@pytest.mark.parametrize(
    ("begun", "compared", "connections", "bursts", "told"),
    [
        (4_104, 0, 50, 12, "invalid"),  # a blank line before each status line, when nobody looked for it
        (4_104, 340, 50, 12, "invalid"),
        (4_104, 360, 50, 12, "warning"),
        (1_332, 0, 500, 3, "warning"),  # bursts shorter than an answer, of an honest application
    ],
)
def test_whole_answers_have_to_be_compared(
    begun: int, compared: int, connections: int, bursts: int, told: str
) -> None:
    for lost, expected in ((0, told), (1, "warning")):
        seen = {"begun": begun, "bursts": bursts, "packets_lost": lost}
        window = tapped(compared, seen=seen, connections=connections)
        assert [one.severity for one in on_wire(window)] == [expected]


def test_each_class_of_a_mix_has_to_be_compared() -> None:
    rest = {"weight": 1, "failed": 0, "goodput_rps": 1.0, "service_time_ms": Times(samples=0)}
    asked = {"light": 11_900, "heavy": 100, "never asked": 0}
    classes = [ClassFigures.model_validate({"name": name, "good": n, **rest}) for name, n in asked.items()]
    for lost, heavy, told in ((0, 1, []), (0, 0, ["heavy"]), (1, 0, [])):  # what was lost cannot be compared
        seen = {"compared_of_class": [2_140 - heavy, heavy, 0], "packets_lost": lost}
        found = [one.text for one in on_wire(tapped(classes=classes, seen=seen))]
        assert found == [f"not one answer to {name} was compared on the wire" for name in told]


@pytest.mark.parametrize(
    ("held_back", "apart", "told"),
    [(216, 0, True), (395, 90, True), (0, 0, False), (100, 0, False), (395, 100, False), (None, None, False)],
)
def test_answers_that_wait_for_an_acknowledgement(
    held_back: int | None, apart: int | None, told: bool
) -> None:
    """On a busy host any time lies within an answer, and not 40 ms alone."""
    found = on_wire(tapped(seen={"held_back": held_back, "apart": apart}))
    assert [(one.code, one.severity) for one in found] == [("held-back", "warning")] * told


def test_it_says_why_nothing_was_captured() -> None:
    [found] = on_wire(tapped(0, seen={"problem": "tcpdump: no permission"}))
    assert found.text.endswith("would be enough: tcpdump: no permission")

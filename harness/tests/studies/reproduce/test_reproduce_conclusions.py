"""What a reproduction concludes: claims, rows, the whole, and how it is told."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from harness_engine import is_golden, text
from harness_experiments import FAST, OURS, SLOW, estimates_of, experiment, made, reproduction, trials
from harness_samples import PROPERTY, TOOL_RESULT, good_window, quiet_roles, role, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis import histogram
from tandem.analysis.ratios import MARGIN, Ratio, compare, compare_many
from tandem.hosts import beside
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.load import wrk
from tandem.load.generator import ToolResult
from tandem.record.request import Variant
from tandem.record.result import Result
from tandem.record.trial import Start, WindowRecord
from tandem.record.window import Verdict, Window
from tandem.report import curves
from tandem.report.markdown import of_result
from tandem.studies.reproduce.conclusions import (
    JudgedClaim,
    Reproduced,
    Says,
    adjusted,
    implied,
    ratio,
    size,
    verdict,
)
from tandem.studies.reproduce.experiment import Experiment, ExperimentPlan, ExperimentRow, PlanName
from tandem.studies.reproduce.report import judged, judgement, report
from tandem.studies.reproduce.rows import PlannedRow
from tandem.studies.reproduce.trials import (
    RowTrial,
    connected,
    connection_figures,
    idle_figures,
    limit,
    peaks,
    percentiles_ms,
    tool_figures,
    window_figures,
)
from tandem.studies.reproduce.windows import RowWindow
from tandem.wording import ratio_with_interval

RATES = {SLOW: 100.0, FAST: 370.0, OURS: 369.0}


# ---- claims ----


@pytest.mark.parametrize(
    ("says", "ratios", "word"),
    [
        ("more", [2.0, 2.1, 1.9], "stands"),
        ("more", [0.5, 0.52, 0.48], "reversed"),
        ("less", [0.5, 0.52, 0.48], "stands"),
        ("less", [2.0, 2.1, 1.9], "reversed"),
        ("more", [1.001, 1.0, 0.999], "gone"),
        ("more", [1.011, 1.01, 1.009], "gone"),
        ("more", [1.5, 0.9, 1.1], "not decided"),
        ("more", [8.0], "not decided"),
        ("more", [], "not decided"),
        ("same", [1.001, 1.0, 0.999], "stands"),
        ("same", [2.0, 2.1, 1.9], "gone"),
        ("same", [0.5, 0.52, 0.48], "gone"),
        ("same", [1.5, 0.9, 1.1], "not decided"),
    ],
)
def test_what_becomes_of_a_claim(says: Says, ratios: list[float], word: str) -> None:
    assert verdict(says, compare([math.log(value) for value in ratios])) == word


def test_many_claims_share_what_chance_may_decide() -> None:
    """A p of 0.03 decides a claim alone or beside many that stand, and not among ten that are noise."""
    weak = compare([0.30, 0.02, 0.25, 0.35, 0.05, 0.1])
    noise, strong = compare([0.5, -0.5, 0.4, -0.45, 0.1, -0.02]), compare([1.0, 1.01, 0.99])

    def among(others: list[Ratio]) -> list[tuple[float, str]]:
        claims: list[tuple[Says, Ratio]] = [("more", one) for one in (weak, *others)]
        return [(there(p), verdict(*one, p)) for one, p in zip(claims, adjusted(claims), strict=True)]

    [(alone, word)] = among([])
    assert 0.01 < alone < 0.05
    assert word == "stands"
    crowded = among([noise] * 9)
    assert crowded[0][0] > 0.05
    assert {word for _, word in crowded} == {"not decided"}
    assert among([strong] * 9)[0][0] < 0.05
    assert adjusted([("more", compare([0.1]))]) == [None]


def test_claims_that_claim_nothing_true_are_decided_wrongly_in_five_percent() -> None:
    """Experiments of eight claims whose truth is no difference at all, too noisy to see that: none may be decided."""
    values = np.random.default_rng(4).normal(0, 0.3, (400, 8, 5))
    false = 0
    for claims in values:
        found = compare_many(claims)
        ps = adjusted([("more", one) for one in found])
        false += any(verdict("more", one, p) != "not decided" for one, p in zip(found, ps, strict=True))
    assert false / len(values) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(values))
    alone = [any(verdict("more", one) != "not decided" for one in compare_many(claims)) for claims in values]
    assert np.mean(alone) > 0.2, "the control: one by one"


def test_a_claim_that_its_own_interval_would_decide_says_why_it_is_not() -> None:
    claim, found = reproduction(trials(RATES)).conclusions.judged[0]
    lost = found.model_copy(update={"p": 0.08, "word": "not decided"})
    assert judged(JudgedClaim(claim, lost)) == "not decided (p 0.08 over all claims)"


POSITIVE = st.floats(0.01, 100)


@PROPERTY
@given(st.lists(POSITIVE, min_size=2, max_size=8))
def test_swapping_the_rows_turns_the_claim(values: list[float]) -> None:
    there = compare([math.log(v) for v in values])
    back = compare([-math.log(v) for v in values])
    assert verdict("more", there) == verdict("less", back)
    assert verdict("same", there) == verdict("same", back)
    opposite = {"stands": "reversed", "reversed": "stands"}
    word = verdict("more", there)
    assert verdict("less", there) == opposite.get(word, word)


@PROPERTY
@given(st.lists(POSITIVE, min_size=2, max_size=8))
def test_a_claim_that_stands_has_its_interval_on_the_right_side(values: list[float]) -> None:
    found = compare([math.log(v) for v in values])
    low, high = there(found.interval)
    word = verdict("more", found)
    assert (word == "stands") == (low > 1 and high > 1 + MARGIN)
    assert (word == "reversed") == (high < 1 and low < 1 / (1 + MARGIN))
    if word == "gone":
        assert verdict("same", found) == "stands"


@PROPERTY
@given(st.dictionaries(st.integers(1, 9), POSITIVE), st.dictionaries(st.integers(1, 9), POSITIVE))
def test_only_blocks_that_have_both_count(of: dict[int, float], to: dict[int, float]) -> None:
    assert ratio(of, to).n == len(of.keys() & to.keys())


def test_what_a_published_ratio_claims() -> None:
    claims = [None, "more", "less", "same", "same"]
    assert [implied(value) for value in (None, 8.5, 0.54, 1.01, 0.98)] == claims


@pytest.mark.parametrize(
    ("published", "ratios", "told"),
    [
        (8.5, [1.5, 1.51, 1.49], "smaller"),
        (8.5, [8.4, 8.5, 8.6], "as published"),
        (8.5, [20.0, 20.1, 19.9], "larger"),
        (8.5, [8.7, 8.7, 8.7], "as published"),  # off by less than the margin, and the same in every block
        (8.5, [8.8, 8.8, 8.8], "larger"),
        (0.5, [0.8, 0.81, 0.79], "smaller"),
        (0.5, [0.1, 0.11, 0.1], "larger"),
        (None, [2.0, 2.01, 1.99], None),
    ],
)
def test_how_large_a_difference_that_stands_is(
    published: float | None, ratios: list[float], told: str | None
) -> None:
    found = compare([math.log(value) for value in ratios])
    assert size("more", "stands", published, found) == told
    assert size("more", "gone", published, found) is None
    assert size("same", "stands", published, found) is None


def test_an_interval_without_any_width_is_not_shown_as_one() -> None:
    same = compare([math.log(0.329)] * 3)
    assert ratio_with_interval(same.ratio, same.interval) == "× 0.33 (the same in every block)"
    assert ratio_with_interval(0.329, (0.31, 0.36)) == "× 0.33 (0.31 to 0.36)"
    assert ratio_with_interval(0.329, None) == "× 0.33"
    assert ratio_with_interval(None, None) == "–"


# ---- the result ----


def test_a_figure_may_be_published_and_not_measured_and_a_record_is_read_back() -> None:
    found = reproduction(trials(RATES))
    p99 = estimates_of(found.conclusions, SLOW)["p99_ms"]
    assert (p99.mean, p99.n, p99.published) == (None, 0, 40.0)
    assert {one.word for one in found.conclusions.contrasts} == {"stands"}
    again = Result[Reproduced].model_validate_json(found.model_dump_json())
    assert again.model_dump_json() == found.model_dump_json()


VOID, INVALID, FAILED = Verdict.VOID, Verdict.INVALID, Verdict.FAILED


def but(row: str, verdicts: dict[int, Verdict]) -> list[RowTrial]:
    """All trials, those of some blocks of a row with another verdict."""
    return [
        replace(one, verdict=verdicts[one.block], reason="odd")
        if one.row == row and one.block in verdicts
        else one
        for one in trials(RATES)
    ]


def test_a_trial_that_is_not_ok_counts_for_nothing() -> None:
    found = reproduction(but(FAST, {1: VOID}))
    assert found.verdict is Verdict.OK
    assert estimates_of(found.conclusions, FAST)["goodput_rps"].n == 4
    assert found.conclusions.contrasts[0].n == 4
    assert found.reasons == [f"{FAST}, round 1: void: odd"]


@pytest.mark.parametrize("bad", [INVALID, FAILED])
def test_a_row_with_an_invalid_trial_tells_no_figure_and_decides_no_claim(bad: Verdict) -> None:
    """Its good trials would be a selection."""
    found = reproduction(but(FAST, {1: bad})).conclusions
    assert estimates_of(found, SLOW)["goodput_rps"].mean
    [rate] = estimates_of(found, FAST).values()
    assert (rate.mean, rate.n, rate.verdict, rate.reasons) == (None, 0, bad, ["odd"])
    assert (found.rows[1].good, found.rows[1].made) == (4, 5)
    touched = [claim for claim in found.contrasts if FAST in (claim.of, claim.to)]
    assert touched
    assert {(claim.ratio, claim.word) for claim in touched} == {(None, "not decided")}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.OK),
        ({2: VOID}, Verdict.OK),
        (dict.fromkeys((2, 3, 4, 5), VOID), VOID),
        ({5: INVALID}, INVALID),
        ({4: INVALID, 5: FAILED}, FAILED),
    ],
)
def test_the_verdict_of_the_whole(changes: dict[int, Verdict], verdict: Verdict) -> None:
    assert reproduction(but(SLOW, changes)).verdict is verdict


def test_a_block_that_was_made_again_is_a_block_of_its_own() -> None:
    """Its good trials of the first time count as well, but a ratio pairs rows of one time."""
    again = [made(row, 1, rate, attempt=2) for row, rate in RATES.items()]
    found = reproduction([*but(SLOW, {1: VOID}), *again])
    assert [estimates_of(found.conclusions, row)["goodput_rps"].n for row in (SLOW, FAST)] == [5, 6]
    assert found.conclusions.contrasts[0].n == 5
    assert found.verdict is Verdict.OK
    assert "5 of 6" in text(report(found))


def test_a_row_without_any_trial_makes_no_ok() -> None:
    found = reproduction(trials({SLOW: 100.0, FAST: 370.0}))
    assert found.verdict is Verdict.VOID
    assert found.conclusions.contrasts[1].word == "not decided"
    assert {one.verdict for one in estimates_of(found.conclusions, OURS).values()} == {Verdict.VOID}


def test_one_start_has_a_mean_and_no_interval() -> None:
    found = reproduction(trials(RATES, blocks=1), plan="smoke").conclusions
    assert estimates_of(found, SLOW)["goodput_rps"].interval is None
    assert [claim.word for claim in found.contrasts] == ["not decided"], "smoke measures two rows"


# ---- for people ----


QUOTED = experiment(source="https://example.org/claim", hypothesis="Async wins.")


@pytest.mark.parametrize(
    ("name", "of", "plan", "starts"),
    [("reproduce", experiment(), "full", 5), ("reproduce-claim", QUOTED, "smoke", 2)],
)
def test_the_report_is_the_golden_one(name: str, of: Experiment, plan: PlanName, starts: int) -> None:
    """smoke itself concludes nothing, so the written sentence is said to be about the reference result."""
    found = reproduction(trials(RATES, starts), of, plan)
    is_golden(report(found), name)
    assert f"| {FAST} | {starts} | 400 (450) |" in of_result(report(found), found)


def test_a_quoted_claim_has_one_sentence() -> None:
    sentence = judgement(reproduction(trials({SLOW: 100, FAST: 390, OURS: 389}), QUOTED).conclusions)
    assert sentence.startswith("“Waiting”: of its 2 statements 2 stand. The first stands: × 3.90")
    assert judgement(reproduction(trials(RATES)).conclusions) == "", "an experiment has its own"


def test_plots_are_svg_with_both_kinds_of_axes() -> None:
    own = reproduction(trials(RATES)).conclusions
    assert curves.files(own.estimates) == {}, "no ladder of connections"
    rates = (
        ("cpp-async", 1, 3_000.0),
        ("cpp-async", 100, 9_000.0),
        ("node", 10, 300.0),
        ("node", 1_000, 0.0),
    )
    told = [
        own.estimates[0].model_copy(update={"variant": name, "mean": rate, "coordinates": {"connections": n}})
        for name, n, rate in rates
    ]
    assert curves.axis_of(told) == "connections"
    drawn = curves.rows(told, "connections", "goodput_rps", "linear")
    assert [row["value"] for row in drawn] == [3_000, 9_000, 300, 0]
    assert len(curves.rows(told, "connections", "goodput_rps", "log")) == 3, "0 has no logarithm"
    written = curves.files(told)
    assert list(written) == ["goodput_rps-linear.svg", "goodput_rps-log.svg"]
    for drawing in map(ElementTree.fromstring, written.values()):
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert {"connections", "cpp-async"} <= {part.strip() for part in drawing.itertext()}
    lines = [re.findall(r'd="(M[^"]+)"', written) for written in written.values()]
    assert lines[0] != lines[1]


# ---- figures ----


def window_of(seconds: Any) -> Window:
    """A window with these service times."""
    return good_window(service_time_hdr=histogram.encode(np.asarray(seconds, dtype=np.float64)))


def test_figures_of_a_window() -> None:
    found = window_figures(good_window(goodput_rps=400))
    assert (found["goodput_rps"], found["mean_ms"]) == (400, 5.0)
    assert found["cpu_percent"] == pytest.approx(50)
    assert found["anonymous_memory_mib"] == pytest.approx(50)
    assert found["peak_cpu_1s_percent"] is None


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.integers(1000, 1200), st.floats(0, 3))
def test_percentiles_are_those_of_the_times(seed: int, number: int, sigma: float) -> None:
    """Of distributions from one value for all to a long tail."""
    values = np.clip(np.random.default_rng(seed).lognormal(-4, sigma, number), 1e-4, 50)
    found = percentiles_ms(window_of(values))
    for name, q in (("p10_ms", 0.1), ("p50_ms", 0.5), ("p90_ms", 0.9)):
        exact = np.quantile(values, q, method="inverted_cdf") * 1e3
        assert found[name] == pytest.approx(exact, rel=2e-3, abs=2e-3)


def test_a_percentile_needs_samples_on_its_side() -> None:
    many, few = (percentiles_ms(window_of(np.linspace(0.1, 1, n))) for n in (1000, 100))
    assert set(many) == {"p10_ms", "p25_ms", "p50_ms", "p75_ms", "p90_ms"}
    assert few == percentiles_ms(good_window()) == {}


def test_the_peaks_of_a_log_as_published() -> None:
    log = "# Elapsed time   CPU (%)     Real (MB)\n       0.000        0.000      227.293\n      11.048       48.000      274.422\n      12.052       38.000      275.672\n"
    cpu, resident = there(beside.peaks(log))
    found = peaks(Start(cpu_peak_percent=cpu, resident_peak_bytes=resident))
    assert found == {"peak_cpu_percent": 48.0, "peak_memory_mib": pytest.approx(275.672, abs=1e-6)}
    assert beside.peaks("# Elapsed time\n") is None
    assert set(peaks(Start()).values()) == {None}


def test_figures_of_a_tool() -> None:
    """Wrong answers are no goodput; what was not told is none."""
    found = tool_figures(TOOL_RESULT.model_copy(update={"failed": 1_000}), good_window(goodput_rps=9_900))
    assert (found["goodput_rps"], found["errors"], found["connect_errors"]) == (9_900, 1_000, 0)
    assert found["p99_ms"] is None
    nothing = tool_figures(TOOL_RESULT.model_copy(update={"requests": 0}), good_window())
    assert nothing["app_cpu_us_per_request"] is None


def test_memory_of_silent_connections() -> None:
    own = RowWindow(generator="silent", connections=100).spec("w", "v", ExperimentPlan(starts=1), None, {})
    memory = {"memory_before_bytes": 1024, "memory_after_bytes": 1024 + 100 * 2048}
    record = WindowRecord(
        spec=own, windows={"v": good_window().model_copy(update={"idle_connections": 100})}, told=memory
    )
    assert idle_figures(record) == {"memory_per_idle_kib": 2.0, "established": 100.0}


# ---- connections that are counted ----


def seen(**changes: Any) -> Window:
    """A window with what only some generators tell."""
    return good_window(proxy=None, statements={}).model_copy(update=changes)


def codes(own: dict[str, Any], made: Window, told: ToolResult | None = None, seconds: int = 10) -> list[str]:
    window = RowWindow.model_validate(own)
    row = PlannedRow(ExperimentRow(label="r"), Variant(label="v", implementation="node"), "v", {}, window)
    spec = window.spec("r", "v", ExperimentPlan(starts=1, window_s=seconds), None, {})
    findings = connected(row, WindowRecord(spec=spec, windows={"v": made}), told)
    assert all(finding.severity == "invalid" for finding in findings)
    return [finding.code for finding in findings]


def test_connections_that_were_not_there() -> None:
    refused = seen(failed={"error: Connection refused (os error 111)": 3, "status 500": 2}, established=7)
    found = connection_figures(refused)
    assert (found["connect_errors"], found["errors"], found["established"]) == (3, 5, 7)
    assert codes({"connections": 8}, refused) == ["not-connected", "connect-errors"]
    assert codes({"connections": 8}, seen(established=8)) == []
    assert codes({"connections": 8}, good_window()) == ["not-connected"], "nobody was seen"
    assert codes({}, good_window()) == [], "the scenario's are not counted"


def test_a_load_that_took_too_long(fixtures: Path) -> None:
    stuck = wrk.parse((fixtures / "wrk-stuck.txt").read_text())
    own, held = {"generator": "wrk", "connections": 8}, seen(established=8)
    assert codes(own, held, stuck, 5) == ["overrun"]
    assert codes(own, held, TOOL_RESULT) == []
    drill = {"generator": "drill", "connections": 8, "generator_options": {"requests": 9}}
    assert codes(drill, good_window(), stuck, 5) == [], "it opens connections when it needs them"


def test_a_thread_for_each_connection_is_counted() -> None:
    own = {"connections": 7_000, "thread_each": True}
    few, enough = (seen(established=7_000, app_threads=n) for n in (4_096, 7_001))
    assert codes(own, few) == ["too-few-threads"]
    assert codes(own, enough) == codes({"connections": 7_000}, few) == []


# ---- what limited it ----


def limited(roles: dict[str, Any], thread: float | None, tool: ToolResult | None) -> str | None:
    made = seen(roles=roles, generator_thread_cores=thread)
    tag, _ = bottleneck(made, Concurrency())
    return limit(made.model_copy(update={"bottleneck": tag}), tool, 2)


@pytest.mark.parametrize(
    ("generator", "app", "tag"),
    [
        (0.95, 0.50, "generator"),
        (0.95, 0.92, "generator+app-cpu"),
        (0.95, 0.84, "generator"),
        (0.92, 0.99, "app-cpu"),
        (0.50, 0.99, "app-cpu"),
        (0.20, 0.30, "latency-bound"),
    ],
)
def test_the_generator_is_named_where_it_is_the_limit(generator: float, app: float, tag: str) -> None:
    roles = quiet_roles(loadgen=role(generator, "3"), app=role(app, "4", busiest_thread_cores=app / 2))
    assert limited(roles, generator, None) == limited(roles, generator, TOOL_RESULT) == tag


def test_one_thread_of_a_generator_with_more_cores_is_a_limit() -> None:
    roles = quiet_roles(loadgen=role(1.0, "2-3", available=2), app=role(0.5, "4"))
    assert limited(roles, 0.97, TOOL_RESULT) == "generator-thread"
    others = ((0.60, TOOL_RESULT), (None, TOOL_RESULT), (0.97, None))
    assert {limited(roles, *other) for other in others} == {"latency-bound"}


def test_a_generator_that_keeps_requests_back_is_the_limit() -> None:
    """drill with a ramp-up: two iterations at a time, 1,458/s, 0.22 ms each, and no CPU busy."""
    ramped, full = (
        TOOL_RESULT.model_copy(update={"requests_rps": 1_458, "latency_mean_ms": ms}) for ms in (0.22, 1.3)
    )
    idle, busy = (quiet_roles(loadgen=role(0.14, "3"), app=role(cores, "4")) for cores in (0.07, 0.99))
    told = [limited(roles, 0.14, tool) for roles, tool in ((idle, ramped), (idle, full), (busy, ramped))]
    assert told == ["generator", "latency-bound", "app-cpu"]

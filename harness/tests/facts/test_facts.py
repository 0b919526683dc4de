"""tandem.facts: one rule for what counts, one function for all figures, and that both give what every record says."""

import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from harness_engine import made_trial, text, trial, trial_spec
from harness_samples import good_window, quiet_roles, role
from rich.console import Group

from tandem.analysis.cost import APP, TOTAL
from tandem.analysis.histogram import encode
from tandem.catalog.catalog import OWN_SERVICE
from tandem.facts.estimate import against_first, estimates, goodput, of_variants, ratio
from tandem.facts.fact import at_full_load, by_label, counting, facts
from tandem.facts.metric import STATEMENTS
from tandem.record.conclusion import Contrast, Coordinates, Estimate, Position
from tandem.record.request import Variant
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import ClassFigures, Finding, Role, Severity, Statement, Times, Verdict
from tandem.report import table
from tandem.studies.registry import read_folder


def made(
    label: str, block: int, rate: float, verdict: Verdict = Verdict.OK, attempt: int = 1, minute: int = 0
) -> Trial:
    """A start with one closed window."""
    own = trial(label, block, good_window(goodput_rps=rate), attempt=attempt)
    own.started_at, own.verdict = datetime(2026, 1, 1, 0, minute, tzinfo=UTC), verdict
    severity: Severity = "void" if verdict is Verdict.VOID else "invalid"
    own.findings = [] if verdict is Verdict.OK else [Finding.of("x", severity, f"attempt {attempt}")]
    return own


def test_of_a_start_that_was_made_again_the_last_good_attempt_counts() -> None:
    trials = [
        made("a", 1, 10.0),
        made("a", 1, 12.0, attempt=2, minute=1),
        made("a", 1, 99.0, Verdict.VOID, attempt=3, minute=2),
        made("a", 2, 20.0, minute=3),
    ]
    assert [one.window.goodput_rps for one in counting(facts(trials))] == [12.0, 20.0]
    assert counting(facts(trials[2:3])) == [], "a void start has no figure"


def test_a_ratio_lives_within_a_block_that_was_made_once() -> None:
    trials = [
        made("a", 1, 10.0),
        made("b", 1, 40.0),
        made("a", 1, 12.0, attempt=2, minute=1),
        made("b", 1, 99.0, Verdict.VOID, attempt=2, minute=1),
    ]
    of = by_label(at_full_load([one for one in facts(trials) if one.good]))
    assert ratio(of["b"], of["a"], goodput).ratio == pytest.approx(4.0), "not 40 / 12: that is of two hours"


def test_a_variant_stands_at_its_coordinates_and_says_why_it_has_no_figure() -> None:
    variants = [
        Variant(label="x pool=5", base="x", coordinates={"pool": 5}, implementation="x"),
        Variant(label="y", implementation="y"),
    ]
    trials = [made("x pool=5", 1, 10.0), made("x pool=5", 2, 14.0)]
    trials += [made("y", 1, 5.0, Verdict.INVALID), made("y", 2, 5.0)]
    found = estimates(trials, variants)
    first = next(one for one in found if one.metric == "goodput_rps")
    assert (first.variant, first.coordinates, first.mean, first.n) == ("x", {"pool": 5}, 12.0, 2)
    assert first.interval is not None
    [wrong] = [one for one in found if one.variant == "y"]
    # A wrong answer says something about the program.
    assert (wrong.mean, wrong.verdict, wrong.reasons) == (None, Verdict.INVALID, ["1-y: attempt 1"])


FOLDERS = ("reference", "questions", "comparisons/falcon", "crossovers/python")
"""Of studies that have no estimates of their own for these metrics."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_a_record_says_follows_from_its_trials(root: Path, folder: str) -> None:
    """To six digits, and with nothing but the trials and what their labels stand for."""
    _, result, trials = read_folder(root / "results" / folder)
    derived = estimates(trials, result.variants)
    again = [Estimate.model_validate_json(one.model_dump_json()) for one in derived]
    metrics = {one.metric for one in derived}
    assert again == [one for one in result.conclusions.estimates if one.metric in metrics]


# ---- a variant ----

VOID, INVALID, FAILED = Verdict.VOID, Verdict.INVALID, Verdict.FAILED


@pytest.mark.parametrize(
    ("bad", "good", "told"),
    [
        ([], 3, Verdict.OK),
        ([VOID], 3, Verdict.OK),
        ([VOID], 2, VOID),
        ([], 2, VOID),
        ([INVALID], 3, INVALID),
        ([VOID, INVALID], 0, INVALID),
        ([FAILED], 3, FAILED),
        ([FAILED, INVALID], 3, FAILED),
    ],
)
def test_the_verdict_of_a_variant(bad: list[Verdict], good: int, told: Verdict) -> None:
    """A void start that was made again is no fault; of three that are needed, two are too few."""
    trials = [made("a", n, 10.0) for n in range(good)]
    trials += [made("a", n, 10.0, verdict) for n, verdict in enumerate(bad, start=10)]
    [found] = of_variants(trials, [Variant(label="a", implementation="a")], needed=3)
    assert found.verdict is told
    assert bool(found.reasons) is (told is not Verdict.OK)
    if good == 2 and not bad:
        assert found.reasons == ["only 2 of 3 starts are good"]
    metrics = {one.metric: one.mean for one in found.standard()}
    if told is not Verdict.OK:
        assert metrics == {"goodput_rps": None}, "nothing is published of a variant that is not ok"


def timed(number: int, *seconds: float, verdict: Verdict = Verdict.OK) -> Trial:
    """An open window with 4,000 answers of each of these durations."""
    hdr = encode(np.repeat(seconds, 4000))
    spec = trial_spec(f"{number}-a", "a", block=number)
    return made_trial(spec, verdict, open=good_window("open", response_time_hdr=hdr))


def test_a_response_time_is_the_median_over_the_starts() -> None:
    """One bad start is one value of three. Pooled, its tail would be the tail of all."""
    trials = [timed(1, 0.010), timed(2, 0.012), timed(3, 0.012, 0.500), timed(4, 5.0, verdict=VOID)]
    found = {one.metric: one for one in estimates(trials, [Variant(label="a", implementation="a")])}
    p99 = found["response_time_p99_ms"]
    assert p99.mean == pytest.approx(12, rel=0.001)
    assert p99.range == pytest.approx((10, 500), rel=0.001)
    assert "response_time_p999_ms" not in found, "16 samples beyond it are too few"


def in_block(label: str, number: int, rate: float, cost: float, **roles: Role) -> Trial:
    own = quiet_roles(**{"app": role(0.97, "4"), **roles})
    return trial(label, number, good_window(goodput_rps=rate, app_cpu_us_per_request=cost, roles=own))


HOST = (1.0, 1.2, 0.8, 1.1, 0.9, 1.3)
"""How fast the host is in each block: a change that falls on all variants alike."""


def both(**roles: Role) -> list[Trial]:
    """`other` does a tenth more in each block, and costs a tenth less; hardly any scatter but the host's."""
    jitter = (1.0, 1.001, 0.999, 1.002, 0.998, 1.0)
    return [
        one
        for n, (host, j) in enumerate(zip(HOST, jitter, strict=True), 1)
        for one in (
            in_block("first", n, 1000 * host, 300 / host),
            in_block("other", n, 1100 * host * j, 270 / host * j, **roles),
        )
    ]


def compared(trials: list[Trial]) -> dict[str, Contrast]:
    variants = [Variant(label=label, implementation=label) for label in ("first", "other")]
    return {one.metric: one for one in against_first(of_variants(trials, variants), {})}


def test_a_difference_is_found_within_blocks() -> None:
    """The host varies by half; the ratio is known to a thousandth. Intervals of the two means would overlap."""
    found = compared(both())
    assert found["goodput_rps"].interval == pytest.approx((1.1, 1.1), rel=0.003)
    assert (found["goodput_rps"].word, found[APP].word) == ("faster", "cheaper")


def test_what_a_stack_leaves_to_the_database_is_in_the_whole() -> None:
    """`other` needs a tenth less of the application and twice as much of the database."""
    found = compared(both(db=role(1.94, "2")))
    assert found[APP].ratio == pytest.approx(0.9, rel=0.002)
    assert found[TOTAL].ratio == pytest.approx(0.9 * (0.97 + 1.94 + 0.6) / (0.97 + 0.5 + 0.6), rel=0.002)
    assert (found[TOTAL].word, found[APP].word) == ("dearer", "cheaper")


def test_nobody_is_compared_with_a_first_one_that_is_not_ok() -> None:
    trials = both()
    trials[0].verdict = INVALID
    assert compared(trials) == {}


def of_class(name: str, rate: float, ms: float) -> ClassFigures:
    hdr, none = encode(np.full(20_000, ms / 1e3)), Times(samples=0)
    fields = {"weight": 1, "good": 1, "failed": 0, "service_time_ms": none, "response_time_hdr": hdr}
    return ClassFigures.model_validate({"name": name, "goodput_rps": rate, **fields})


def test_each_class_of_a_mix_stands_at_its_own_coordinate() -> None:
    classes = [of_class("light", 95.0, 5.0), of_class("heavy", 5.0, 80.0)]
    opened = good_window("open", classes=classes, response_time_hdr=classes[0].response_time_hdr)
    made = trial("a", 1, good_window("closed", classes=classes), opened)
    found = Conclusions(estimates=estimates([made], [Variant(label="a", implementation="a")]))
    places: list[tuple[Coordinates, int]] = [({}, 5), ({"class": "light"}, 5), ({"class": "heavy"}, 80)]
    for coordinates, p99_ms in places:
        mean_ms = found.mean_of("response_time_p99_ms", Position("a", coordinates))
        assert mean_ms == pytest.approx(p99_ms, rel=0.002)
    assert found.mean_of("goodput_rps", Position("a", {"class": "heavy"})) == 5.0
    told = text(Group(*table.classes(found)), 140)
    assert re.search(r"heavy .* a .* of its own .* 5\.0 .* 80\.1 .* 80\.1 .* 80\.1 ", told), told
    assert table.classes(Conclusions(estimates=[])) == []


def test_statements_of_a_readers_own_are_counted_where_it_is_alone() -> None:
    lines, product = "select product from line", "select name from product"
    ran = {lines: Statement(calls=100, rows=0), product: Statement(calls=2500, rows=0)}
    variants = [Variant(label=label, implementation=OWN_SERVICE) for label in ("a", "b")]
    made = [
        trial(label, 1, good_window(good=90, probes=10, statements=statements))
        for label, statements in (("a", ran), ("b", {lines: ran[lines]}))
    ]
    found = Conclusions(estimates=estimates(made, variants))
    assert found.mean_of(STATEMENTS, Position("a", {"statement": product})) == 25
    told = text(Group(*table.statements(found)), 140)
    assert re.search(r"select name from product .* 25\.00 .* 0\.00 ", told), told
    assert re.search(r"all .* 26\.00 .* 1\.00 ", told), told
    contracts = [Variant(label="a", implementation="a")]
    assert not [one for one in estimates(made[:1], contracts) if one.metric == STATEMENTS]
    assert table.statements(Conclusions(estimates=[])) == []

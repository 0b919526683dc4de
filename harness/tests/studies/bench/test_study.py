"""tandem.studies.bench.study: which trials a bench wants, and what it concludes of all of them."""

from pathlib import Path

import pytest
from harness_engine import FakeLab, Quiet, as_recorded, made_trial, request, session
from harness_samples import finding, good_window

from tandem.catalog.catalog import Catalog
from tandem.engine.conclude import conclude
from tandem.engine.run import run
from tandem.engine.stand_ins import is_look
from tandem.record import store
from tandem.record.result import Baselines
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.bench.study import Bench
from tandem.studies.registry import read_folder

ASKED = request("rust-async", "node", plan="nightly", seed=5)


def test_each_variant_once_in_each_block(real: Catalog) -> None:
    blocks = Bench(real, ASKED).outline()
    assert len(blocks) == 6
    for number, block in enumerate(blocks, start=1):
        assert {spec.name for spec in block} == {f"{number}-rust-async", f"{number}-node"}
        assert all(spec.block == number for spec in block)
    assert len({block[0].variants[0] for block in blocks}) == 2, "the order changes"
    assert Bench(real, ASKED).outline() == blocks


def test_the_ceilings_are_measured_in_each_block(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)

    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        rate = 1040.0 if is_look(spec) else 1000.0
        return good_window(window.load, goodput_rps=rate, bottleneck="latency-bound")

    lab = FakeLab(answer=answer)
    result, _ = run(Bench, request("rust-async", "node", plan="quick"), session(real, tmp_path, lab))
    assert result.baselines.ceilings_rps == {"null": 1040.0, "database": 1040.0}
    assert result.trials == {Verdict.OK: 6}, "a look is none"
    [first, second] = result.conclusions.rows
    assert first.ceiling_shares == dict.fromkeys(("null", "database"), pytest.approx(0.9615, rel=1e-3))
    assert second.unranked is not None
    assert second.unranked.startswith("96 % of the ceiling ")
    assert lab.visited[0].startswith("1-"), "a figure of what was asked for comes first"


def test_what_a_plan_cannot_decide_is_told_before_it_starts(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)
    view = Quiet()
    run(Bench, request("rust-async", "node", plan="quick"), session(real, tmp_path, FakeLab(), view))
    [told] = [line for line in view.said if "cannot show" in line]
    assert told.startswith("3 blocks cannot show that two variants differ: that takes 6 (--plan nightly)")
    assert view.said.index(told) < view.said.index(next(line for line in view.said if "/s" in line))
    for enough in (ASKED, request("node", plan="quick")):
        [first] = Bench(real, enough).ahead(1000.0)
        assert first.startswith("the first figure comes after about")


def test_the_first_start_gives_a_first_figure(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)
    view = Quiet()
    run(Bench, request("rust-async", "node", plan="quick"), session(real, tmp_path, FakeLab(), view))
    [told] = [line for line in view.said if "first figure 1,000" in line]
    assert (
        "first figure 1,000/s, 2,880 µs of CPU per request, 900 of it the application's, from one start."
    ) in told
    assert "The 5 starts that follow add an interval and the ratios within blocks" in told


def test_a_closed_window_then_an_open_one_at_a_share_of_it(real: Catalog) -> None:
    plan = real.plans["nightly"]
    spec = Bench(real, ASKED).outline()[0][0]
    closed, opened = spec.windows
    assert (closed.load, closed.seconds, closed.share) == ("closed", plan.closed_s, None)
    assert (opened.load, opened.seconds) == ("open", plan.open_s)
    assert (opened.share, opened.share_of) == (plan.open_load_fraction, closed.name)
    assert (spec.warm_up.least_s, spec.warm_up.steady_buckets) == (plan.warm_up_s, plan.steady_buckets)
    assert {w.trim_start_s for w in spec.windows} == {plan.trim_start_s}


def test_a_bench_to_its_end(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)
    lab = FakeLab(verdicts={2: Verdict.VOID})
    asked = request("rust-async", "node", plan="smoke")
    result, _journal = run(Bench, asked, session(real, tmp_path, lab))
    assert result.verdict is Verdict.OK
    assert [row.label for row in result.conclusions.rows] == ["rust-async", "node"]
    assert all(row.summary.goodput_rps == 1000 for row in result.conclusions.rows)
    assert Bench.report(result)
    # The block was made again: both are there once more, and each counts once.
    assert result.trials == {Verdict.OK: 7, Verdict.VOID: 1}
    assert [row.summary.trials_ok for row in result.conclusions.rows] == [3, 3]


def test_the_worst_variant_gives_the_verdict(real: Catalog) -> None:
    study = Bench(real, request("rust-async", "node"))
    specs = [spec for block in study.outline() for spec in block]
    trials = [made_trial(spec) for spec in specs]
    assert study.conclude(trials, Baselines()).verdict is Verdict.OK
    bad = next(trial for trial in trials if trial.spec.variants == ["node"])
    bad.verdict, bad.findings = Verdict.INVALID, [finding("invalid", text="wrong")]
    found = study.conclude(trials, Baselines())
    assert (found.verdict, found.reasons) == (Verdict.INVALID, [f"node: {bad.spec.key}: wrong"])
    assert [row.verdict for row in found.conclusions.rows] == [Verdict.OK, Verdict.INVALID]


def test_nothing_was_made(real: Catalog) -> None:
    found = Bench(real, request()).conclude([], Baselines())
    assert found.verdict is Verdict.VOID
    assert "only 0 of" in found.reasons[0]


def test_the_committed_reference_follows_from_its_trials(real: Catalog, root: Path) -> None:
    _, record, trials = read_folder(root / "results/reference")
    made = [trial for trial in trials if not is_look(trial.spec)]
    today = conclude(Bench(real, record.request), made, record.baselines)
    assert today.verdict is record.verdict
    behind = "behind_cpu_us_per_request"  # the record counted it by the good answers alone
    assert as_recorded(today.conclusions, behind) == as_recorded(record.conclusions, behind)

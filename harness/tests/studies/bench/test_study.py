"""tandem.studies.bench.study: which trials a bench wants, and what it concludes of all of them."""

from pathlib import Path

import pytest
from harness_engine import FakeLab, made_trial, request, session
from harness_samples import finding

from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.record import store
from tandem.record.result import Baselines
from tandem.record.window import Verdict
from tandem.studies.bench.study import Bench

ASKED = request("rust-async", "node", plan="nightly", seed=5)


def test_each_variant_once_in_each_block(real: Catalog) -> None:
    blocks = Bench(real, ASKED).outline()
    assert len(blocks) == 6
    for number, block in enumerate(blocks, start=1):
        assert {spec.name for spec in block} == {f"{number}-rust-async", f"{number}-node"}
        assert all(spec.block == number for spec in block)
    assert len({block[0].variants[0] for block in blocks}) == 2, "the order changes"
    assert Bench(real, ASKED).outline() == blocks


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

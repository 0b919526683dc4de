"""Benches of older harnesses, as they were committed once: their figures stay what they were."""

import json
import shutil
from pathlib import Path

import pytest
from harness_places import FIXTURES

from tandem.record.result import Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.bench.conclusions import Benched, row
from tandem.studies.bench.report import markdown
from tandem.studies.bench.study import Bench
from tandem.studies.registry import read_folder

OLD = FIXTURES / "old-records"
REFERENCE = OLD / "bench-3"
"""The reference of 2026-11-22: begun with schema 2, migrated to schema 3."""
COSTS = [
    # The application's means and intervals are those that `tandem report results/reference --markdown` printed at 3124d0a, from
    # records of schema 2; the cost over all roles, ratios, resources and medians over starts are concluded from the same
    # windows today.
    "| cpp-async | ok | 1,390 ± 144 | 1 | | 313 ± 51 | 1 | – / 3 | – |",
    "| rust-async | ok | 1,421 ± 193 | 1.020 (0.974–1.069) | inconclusive | 327 ± 60 | 1.045 (0.985–1.110) | – / 3 | – |",
    "| node | ok | 1,570 ± 254 | 1.124 (0.962–1.312) | inconclusive | 526 ± 101 | 1.678 (1.367–2.059) | – / 219 | – |",
    "| rust-sync | ok | 1,583 ± 249 | 1.133 (0.997–1.287) | inconclusive | 433 ± 98 | 1.372 (1.124–1.673) | – / 7 | – |",
    "| python-async | ok | 1,604 ± 228 | 1.150 (1.059–1.249) | dearer | 575 ± 125 | 1.829 (1.560–2.144) | – / 41 | – |",
    "| python-sync | ok | 1,970 ± 170 | 1.419 (1.321–1.524) | dearer | 955 ± 112 | 3.070 (2.717–3.469) | – / 72 | – |",
]
RATES = [
    "| cpp-async | 885 ± 79 | 1 | not ranked | core 0: database 50 %, PgBouncer 37 %, HAProxy 8 % | 2.5 (2.2–2.9) | 3.5 (3.1–4.6) | 6.8 (5.6–12.4) | 530 |",
    "| rust-sync | 835 ± 130 | 0.938 (0.828–1.062) | not ranked | core 0: database 50 %, PgBouncer 37 %, HAProxy 7 % | 2.7 (2.6–3.5) | 3.8 (3.6–65.8) | 10.0 (6.7–115.6) | 500 |",
]
ENDS = (
    "2026-11-22, 2 × AMD EPYC, 24 GiB, Linux 6.18.44-fc-v657; scenario recipes, topology full,"
    " placement two-cores, plan nightly, 6 fresh starts each, seed 2026."
)


def read(folder: Path) -> tuple[Result[Benched], list[Trial]]:
    kind, result, trials = read_folder(folder)
    assert kind is Bench
    return result, trials


# ---- the reference ----


def test_the_reference_has_the_figures_that_it_had() -> None:
    result, trials = read(REFERENCE)
    lines = markdown(result).splitlines()
    assert lines[2:8] == COSTS
    assert [lines[11], lines[16]] == RATES
    assert lines[-1] == ENDS
    assert len(trials) == 36
    assert result.baselines.ceilings_rps == {"null": 21586.3, "proxy": 26094.3, "database": 770.993}
    assert result.baselines.selftest == "self-test: missing, run just selftest"


def test_its_trials_give_the_same_conclusions_again() -> None:
    """The engine's conclusions, from the windows: not one figure that schema 2 recorded differs. Response times are
    concluded otherwise today: as a median over the starts."""
    _, trials = read(REFERENCE)
    old = json.loads((REFERENCE / "result.json").read_text())["conclusions"]["rows"]
    for recorded in old:
        own = [trial for trial in trials if trial.spec.variants == [recorded["label"]]]
        again = row(recorded["label"], own, 6)
        found, was = again.summary.model_dump(), recorded["summary"]
        for name in was.keys() - {"response_time_ms"}:
            assert found[name] == pytest.approx(was[name], rel=1e-5), name
        assert found["response_time_ms"]["p50"] == pytest.approx(was["response_time_ms"]["p50"], rel=0.1)
        assert (again.verdict, again.bottleneck) == (Verdict(recorded["verdict"]), recorded["bottleneck"])
        assert again.bottleneck_evidence == recorded["bottleneck_evidence"]
        codes, were = {one.code for one in again.findings}, {one["code"] for one in recorded["findings"]}
        assert codes == were


def test_a_bad_start_is_no_longer_the_tail_of_all() -> None:
    """The pooled p99 of rust-sync was that of one start of six."""
    result, _ = read(REFERENCE)
    [found] = [one.summary for one in result.conclusions.rows if one.label == "rust-sync"]
    assert found.response_time_ms.p99 == pytest.approx(10.0, abs=0.1)
    assert found.response_time_range_ms["p99"][1] > 77.3


# ---- records of schema 1 and 2 ----


def test_a_record_of_version_1() -> None:
    """rust-async of the first reference, made by 187d725."""
    result, trials = read(OLD / "bench-1")
    [found] = result.conclusions.rows
    assert (found.label, found.verdict, found.bottleneck) == ("rust-async", Verdict.OK, "database")
    assert found.summary.goodput_rps == pytest.approx(1065.8, rel=1e-5)
    assert found.summary.response_time_ms.p50 is not None
    assert (result.verdict, result.trials) == (Verdict.OK, {Verdict.OK: 3})
    assert result.request.conditions.topology == "full"
    assert [variant.label for variant in result.request.variants] == [
        "rust-async",
        "python-async",
        "python-sync",
    ]
    assert [trial.spec.key for trial in trials] == ["1-rust-async", "2-rust-async", "3-rust-async"]
    goodputs = [window.goodput_rps for t in trials if (window := t.window("closed")) is not None]
    assert sum(goodputs) / 3 == pytest.approx(1065.8, rel=1e-4)
    assert trials[0].starts["rust-async"].warm_up_requests == 10887


def test_a_record_of_version_2() -> None:
    result, trials = read(OLD / "bench-2")
    [found] = result.conclusions.rows
    assert found.summary.goodput_rps == pytest.approx(881, abs=1)
    assert [finding.code for finding in found.findings] == ["no-steady-state", "host-speed"]
    spec = trials[0].spec
    assert (spec.warm_up.steady_buckets, spec.warm_up.cap_s) == (30, 45), "the plan as it was"
    assert [(w.name, w.load, w.trim_start_s, w.trim_end_s) for w in spec.windows] == [
        ("closed", "closed", 2.0, 1.0),
        ("open", "open", 2.0, 1.0),
    ]
    late = next(t for t in trials if t.spec.block == 6).starts["python-sync"]
    assert [finding.code for finding in late.findings] == ["no-steady-state"]
    assert result.environments["python-sync"].settings["WORKERS"] == "2"


def test_a_run_alone_is_a_bench_of_one() -> None:
    result, _ = read(OLD / "bench-2/python-sync.recipes.full")
    assert [variant.label for variant in result.request.variants] == ["python-sync"]
    assert result.request.conditions.db_rtt_ms is None


def changed(tmp_path: Path, **changes: object) -> Path:
    folder = tmp_path / "old"
    shutil.copytree(OLD / "bench-2", folder)
    file = folder / "python-sync.recipes.full/run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    return folder


def test_a_trial_that_was_made_once_more_is_a_second_attempt(tmp_path: Path) -> None:
    old = json.loads((OLD / "bench-2/python-sync.recipes.full/run.json").read_text())["trials"]
    old[1]["verdict"] = "void"
    again = {**old[1], "index": 7, "retry_of": 2, "verdict": "ok", "started_at": "2026-11-22T12:00:00Z"}
    _, trials = read(changed(tmp_path, trials=[*old, again]))
    assert trials[-1].spec.key == "2-python-sync.2"
    assert row("python-sync", trials, 6).summary.trials_ok == 6

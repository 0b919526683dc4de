"""Benches of schema 1 and 2, as they were committed once, and what the reference became by that."""

import json
import shutil
from pathlib import Path

import pytest
from harness_places import FIXTURES, ROOT

from tandem.record.result import Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.bench.conclusions import Benched, row
from tandem.studies.bench.report import markdown
from tandem.studies.bench.study import Bench
from tandem.studies.registry import read_folder

OLD = FIXTURES / "old-records"
REFERENCE = ROOT / "results/reference"
TABLE = [
    # Printed by `tandem report results/reference --markdown` at 3124d0a, from records of schema 2.
    "| cpp-async | ok | ≥ 885 ± 79 | 2.5 / 3.6 / 7.6 | 530 | 313 ± 51 | 3 | the database |",
    "| node | ok | ≥ 895 ± 120 | 2.9 / 5.0 / 25.8 | 537 | 526 ± 101 | 219 | the database |",
    "| python-async | ok | ≥ 924 ± 97 | 2.9 / 4.3 / 15.1 | 554 | 575 ± 125 | 41 | the database |",
    "| python-sync | ok | ≥ 881 ± 73 | 3.6 / 6.7 / 34.0 | 528 | 955 ± 112 | 72 | the application's CPU |",
    "| rust-async | ok | ≥ 878 ± 103 | 2.6 / 3.7 / 9.3 | 526 | 327 ± 60 | 3 | the database |",
    "| rust-sync | ok | ≥ 835 ± 130 | 2.8 / 4.5 / 77.3 | 500 | 433 ± 98 | 7 | the database |",
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
    assert lines[2:8] == TABLE
    assert lines[-1] == ENDS
    assert len(trials) == 36
    assert result.baselines.ceilings_rps == {"null": 21586.3, "proxy": 26094.3, "database": 770.993}
    assert result.baselines.selftest == "self-test: missing, run just selftest"


def test_its_trials_give_the_same_conclusions_again() -> None:
    """The engine's conclusions, from the windows: not one figure differs from what was recorded by schema 2."""
    result, trials = read(REFERENCE)
    for recorded in result.conclusions.rows:
        own = [trial for trial in trials if trial.spec.variants == [recorded.label]]
        again = row(recorded.label, own, 6)
        found, was = (one.model_dump() for one in (again.summary, recorded.summary))
        for told in (found, was):
            told |= told.pop("response_time_ms")
        assert {name for name, value in found.items() if value is None} == {"p999"}
        assert was.pop("p999") is found.pop("p999") is None
        assert found == {name: pytest.approx(value, rel=1e-5) for name, value in was.items()}
        assert (again.verdict, again.bottleneck) == (recorded.verdict, recorded.bottleneck)
        assert again.bottleneck_evidence == recorded.bottleneck_evidence
        codes, were = ({finding.code for finding in one.findings} for one in (again, recorded))
        assert codes - were <= {"response-spread"}, "which is younger than the record"
        assert were <= codes


# ---- records of schema 1 and 2 ----


def test_a_record_of_version_1() -> None:
    """rust-async of the first reference, made by 187d725."""
    result, trials = read(OLD / "bench-1")
    [found] = result.conclusions.rows
    assert (found.label, found.verdict, found.bottleneck) == ("rust-async", Verdict.OK, "database")
    assert found.summary.goodput_rps == 1065.8
    assert found.summary.response_time_ms.p99 == 7.81998
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

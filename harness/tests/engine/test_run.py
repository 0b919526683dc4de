"""tandem.engine.run: a study from its request to its result, with a laboratory that starts nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from harness_engine import (
    ALL,
    FakeLab,
    Found,
    Quiet,
    Static,
    request,
    session,
    trial_spec,
    window_spec,
)
from harness_samples import tap

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.run import run, summary
from tandem.engine.study import Windows, in_order
from tandem.errors import TandemError, UsageError
from tandem.record.request import Variant
from tandem.record.result import Result
from tandem.record.store import RESULT, TRIALS, read_model
from tandem.record.trial import TrialSpec
from tandem.record.window import Finding, Verdict


class Adaptive(Static):
    """Looks for the rate at which little is left: from window to window, and from trial to trial."""

    name = "adaptive"

    def plan(self) -> Blocks:
        rate, number = 100, 0
        while rate < 1000:
            number += 1
            spec = trial_spec(f"{number}-at-{rate}", "a", block=number, windows=[])
            [trial] = yield [spec]
            rate = 2 * int(trial.windows[-1].spec.rates_rps["a"])

    def windows(self, spec: TrialSpec) -> Windows:
        rate = int(spec.name.rpartition("-")[2])
        for step in (1, 2):
            record = yield window_spec(f"step-{step}", "a", load="open", rates_rps={"a": rate})
            rate += int(record.only.goodput_rps) // 10


STATIC = request("rust-async", study="static")


def test_a_study_from_its_request_to_its_result(real: Catalog, tmp_path: Path) -> None:
    lab = FakeLab(phases_s={"build": 3.0})
    result, journal = run(Static, STATIC, session(real, tmp_path, lab))
    assert lab.visited == ALL
    assert not lab.is_up
    assert (result.id, result.verdict, result.trials) == (journal.folder.name, Verdict.OK, {Verdict.OK: 4})
    assert result.baselines.selftest == "self-test: passed"
    assert result.request == STATIC
    assert result.phases_s["build"] == 3.0
    assert result.phases_s["windows"] == 4 * 45
    assert list(result.environments) == ["rust-async"]
    assert read_model(Result[Found], journal.folder / RESULT) == result
    assert [trial.spec.key for trial in journal.trials()] == ALL
    assert sorted(file.name for file in (journal.folder / "raw").iterdir()) == ALL


def test_a_start_says_what_was_started(real: Catalog, tmp_path: Path) -> None:
    """The estimate of a later study asks for it."""
    variants = [Variant(label=label, implementation="node") for label in "ab"]
    asked = STATIC.model_copy(update={"variants": variants})
    _, journal = run(Static, asked, session(real, tmp_path, FakeLab()))
    started = [start.implementation for trial in journal.trials() for start in trial.starts.values()]
    assert started == ["node"] * 4


def test_the_looks_at_the_ceilings_are_in_the_blocks_and_are_no_trials_of_the_study(
    real: Catalog, tmp_path: Path
) -> None:
    lab = FakeLab()
    asked = STATIC.model_copy(update={"plan": "quick"})
    result, journal = run(Static, asked, session(real, tmp_path, lab))
    assert [name for name in lab.visited if not name.startswith("look-")] == ALL
    looks = {f"look-{number}-{kind}" for number in (1, 2) for kind in ("null", "database")}
    assert looks == set(lab.visited) - set(ALL)
    assert result.baselines.ceilings_rps == {"null": 1000.0, "database": 1000.0}
    looked = [(one.block, one.goodput_rps) for one in result.baselines.looks["null"]]
    assert looked == [(1, 1000.0), (2, 1000.0)]
    assert result.trials == {Verdict.OK: 4}
    assert len(journal.trials()) == 8
    assert set(result.environments) == {"rust-async", "ceiling null", "ceiling database"}


def test_a_void_block_is_made_again_and_it_is_told_what_is_made(real: Catalog, tmp_path: Path) -> None:
    lab, view = FakeLab(verdicts={2: Verdict.VOID}), Quiet()
    result, _ = run(Static, STATIC, session(real, tmp_path, lab, view))
    assert lab.visited == [*ALL, "1-a.2", "1-b.2"]
    assert result.trials == {Verdict.OK: 5, Verdict.VOID: 1}
    assert view.said[0].startswith("static: about ")
    assert view.said[1] == "  1,000/s, ok (overhead 5.0 s)"
    assert "void: visit 2 was odd" in view.said[2]


# ---- what cannot be made ----


def test_nothing_is_left_of_a_request_that_cannot_be_made(real: Catalog, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("no such placement")

    asked = session(real, tmp_path / "results", FakeLab())
    object.__setattr__(asked, "check", refuse)
    with pytest.raises(UsageError, match="no such placement"):
        run(Static, STATIC, asked)
    assert not (tmp_path / "results").exists()


def test_what_the_machine_is_not_fit_for_is_recorded(real: Catalog, tmp_path: Path) -> None:
    asked = session(real, tmp_path, FakeLab())
    unfit = Finding(code="unfit-machine", severity="warning", text="too small")
    object.__setattr__(asked, "findings", lambda request: [unfit])
    result, _ = run(Static, STATIC, asked)
    assert result.findings == [unfit]


class Refusing(FakeLab):
    """Before the first trial, or at its end."""

    early: TandemError | None = None
    late: TandemError | None = None

    @contextmanager
    def up(self) -> Iterator[None]:
        if self.early:
            raise self.early
        with super().up():
            yield
        if self.late:
            raise self.late


@pytest.mark.parametrize("error", [UsageError("it does not fit"), TandemError("the image does not build")])
def test_what_could_not_begin_leaves_no_folder(real: Catalog, tmp_path: Path, error: TandemError) -> None:
    lab = Refusing()
    lab.early = error
    with pytest.raises(type(error), match=str(error)):
        run(Static, STATIC, session(real, tmp_path, lab))
    assert list(tmp_path.iterdir()) == []


def test_what_was_made_is_kept(real: Catalog, tmp_path: Path) -> None:
    lab = Refusing()
    lab.late = TandemError("the stack cannot be removed")
    with pytest.raises(TandemError, match="cannot be removed"):
        run(Static, STATIC, session(real, tmp_path, lab))
    assert len(list(tmp_path.glob("*/trials/*.json"))) == 4


# ---- killed and resumed ----


def killed_after(number: int, real: Catalog, results: Path, kind: Any = Static, **changes: Any) -> None:
    """A study that is interrupted in place of the visit of this number."""
    lab = FakeLab(raises={number: KeyboardInterrupt()}, **changes)
    with pytest.raises(KeyboardInterrupt):
        run(kind, STATIC, session(real, results, lab))
    assert not lab.is_up


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_killed_study_goes_on_with_what_is_missing(number: int, real: Catalog, tmp_path: Path) -> None:
    killed_after(number, real, tmp_path)
    [folder] = tmp_path.iterdir()
    before = {file.name: file.read_bytes() for file in (folder / TRIALS).iterdir()}
    assert len(before) == number - 1
    lab, view = FakeLab(), Quiet()
    again = STATIC.model_copy(update={"seed": 99})
    result, journal = run(Static, again, session(real, tmp_path, lab, view), resume=True)
    assert journal.folder == folder
    assert lab.visited == ALL[number - 1 :]
    assert {name: (folder / TRIALS / name).read_bytes() for name in before} == before, "nothing is made twice"
    assert result.request.seed == 1, "it goes on with its own seed"
    assert result.conclusions.reached.keys() == {*ALL}
    assert f"continuing {folder.name}" in view.said[0]


def test_the_time_left_is_that_of_what_is_missing(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database far away makes each trial longer, those that were made as well."""
    left_s: list[float] = []
    monkeypatch.setattr(Quiet, "expected", lambda view, seconds: left_s.append(seconds))
    variants = [Variant(label=label, implementation="rust-async") for label in "ab"]
    conditions = STATIC.conditions.model_copy(update={"db_rtt_ms": 5.0})
    far = request(study="static", variants=variants, conditions=conditions)
    for lab, resume in ((FakeLab(raises={4: KeyboardInterrupt()}), False), (FakeLab(), True)):
        with suppress(KeyboardInterrupt):
            run(Static, far, session(real, tmp_path, lab, Quiet()), resume=resume)
    assert left_s == [pytest.approx(4 * left_s[1]), pytest.approx(left_s[0] / 4)]


def test_a_void_block_that_was_begun_again_goes_on(real: Catalog, tmp_path: Path) -> None:
    killed_after(6, real, tmp_path, verdicts={1: Verdict.VOID})
    lab = FakeLab()
    run(Static, STATIC, session(real, tmp_path, lab), resume=True)
    assert lab.visited == ["1-b.2"]


def test_all_trials_are_there_and_the_result_is_not(real: Catalog, tmp_path: Path) -> None:
    """Killed between the last trial and the conclusion, or a full disk in the midst of it."""
    first, journal = run(Static, STATIC, session(real, tmp_path, FakeLab()))
    (journal.folder / RESULT).unlink()
    lab = FakeLab()
    again, _ = run(Static, STATIC, session(real, tmp_path, lab), resume=True)
    assert lab.visited == []
    assert again.conclusions == first.conclusions


def test_resuming_is_replaying_the_journal(real: Catalog, tmp_path: Path) -> None:
    """A study that decides as it goes asks for the same again, since it is told the same again."""

    def reached(spec: TrialSpec) -> float:
        return float(300 + 10 * spec.block)

    whole = FakeLab(goodput_rps=reached)
    expected, journal = run(Adaptive, STATIC, session(real, tmp_path / "whole", whole))
    assert len(whole.visited) > 2
    for number in range(1, len(whole.visited) + 1):
        results = tmp_path / str(number)
        killed_after(number, real, results, Adaptive, goodput_rps=reached)
        rest = FakeLab(goodput_rps=reached)
        result, again = run(Adaptive, STATIC, session(real, results, rest), resume=True)
        assert rest.visited == whole.visited[number - 1 :]
        assert result.conclusions == expected.conclusions
        one, other = ([(t.spec, [r.spec for r in t.windows]) for t in of.trials()] for of in (again, journal))
        assert one == other


def test_a_trial_file_of_another_plan_ends_the_resumed_study(real: Catalog, tmp_path: Path) -> None:
    killed_after(3, real, tmp_path)
    [file] = tmp_path.glob(f"*/{TRIALS}/1-b.json")
    told = json.loads(file.read_text())
    told["spec"]["warm_up"]["least_s"] = 1
    file.write_text(json.dumps(told))
    lab = FakeLab()
    with pytest.raises(TandemError, match=r"1-b\.json cannot be used"):
        run(Static, STATIC, session(real, tmp_path, lab), resume=True)
    assert not lab.is_up
    file.unlink()
    run(Static, STATIC, session(real, tmp_path, lab), resume=True)
    assert lab.visited == ["1-b", "2-a", "2-b"]


def test_a_defect_of_a_study_removes_the_containers(real: Catalog, tmp_path: Path) -> None:
    class Defect(Static):
        def plan(self) -> Blocks:
            yield [trial_spec("1-a", "a")]
            raise ZeroDivisionError

    lab = FakeLab()
    with pytest.raises(ZeroDivisionError):
        run(Defect, STATIC, session(real, tmp_path, lab))
    assert not lab.is_up


# ---- the line about a trial ----


def test_the_line_of_a_trial_with_several_variants(tmp_path: Path) -> None:
    lab = FakeLab()
    spec = trial_spec("1-pair", "one", "two")
    with lab.up():
        made = lab.visit(spec, in_order(spec.windows), tmp_path)
    assert summary(made).startswith("one 1,000/s, two 1,000/s, ok (")
    made.windows[-1].windows["two"].tap = tap(2_140)
    told = "one 1,000/s, two 1,000/s, ok; 2,140 of 12,000 answers compared for 0.10 s of CPU ("
    assert summary(made).startswith(told)

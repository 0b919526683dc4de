"""Reproducing counts of files: a program that measures itself, in the laboratory of its own, with a fake container."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from harness_engine import Quiet, environment_of
from harness_experiments import estimates_of, row_of
from harness_places import EXPERIMENTS

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import session
from tandem.engine.journal import Journal
from tandem.engine.replay import compare
from tandem.engine.run import Session, blocks_s, run
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.hosts.host import HostCpu
from tandem.judge.file_io import PROGRAM
from tandem.lab.file_io import FileIoLab
from tandem.lab.laboratory import Work
from tandem.record.request import Request, Variant
from tandem.record.result import Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.report.markdown import of_result
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.study import Reproduce, request_for

TINY = EXPERIMENTS / "tiny-files.toml"
HOT, COLD = "2-400000-8192-hot", "2-400000-8192-cold"


@dataclass
class Machine:
    """A host whose hypervisor takes 30 % of the CPUs during some starts."""

    disturbed: Sequence[int] = ()
    """Numbers of starts, from 1."""
    reads: int = 0

    def read_cpu(self) -> HostCpu:
        """The CPU time so far: it is read before and after each start, which lasts a second."""
        self.reads += 1
        steal_s = 0.3 * sum(number <= self.reads // 2 for number in self.disturbed)
        return HostCpu(0.0, 0.0, steal_s, float(self.reads))


@dataclass
class Program:
    """Says what asynctest would say, of the arguments that it is called with."""

    document: str
    failing: dict[int, BaseException] = field(default_factory=dict)
    """Number of a call -> what it raises."""
    asked: list[list[str]] = field(default_factory=list)

    def run(self, arguments: Sequence[str]) -> str:
        self.asked.append(list(arguments))
        if error := self.failing.get(len(self.asked)):
            raise error
        cache = arguments[arguments.index("--cache") + 1]
        return self.document.replace('"cache": "hot"', f'"cache": "{cache}"')


@pytest.fixture
def request_(real: Catalog) -> Request:
    return request_for(real, str(TINY), "smoke", 2, 5)


@dataclass
class Place:
    """Runs the study on a machine and a program of a test."""

    catalog: Catalog
    results: Path
    program: Program
    machine: Machine = field(default_factory=Machine)

    def session(self) -> Session:
        place = self

        class Lab(FileIoLab):
            @contextmanager
            def up(self) -> Iterator[None]:
                self._container = place.program  # type: ignore[assignment]
                host: dict[str, Any] = {"cpu_model": "test", "cpus": 2}
                self.environments[PROGRAM] = environment_of(host=host, settings={}, variables={})
                yield

        def lab(study: Study[Any], variants: Sequence[Variant], journal: Journal) -> FileIoLab:
            host: Any = self.machine
            return Lab(
                self.catalog, self.results, Quiet(), Work(study.request, variants, journal.folder), host=host
            )

        return Session(self.catalog, self.results, Quiet(), lab)

    def run(self, request: Request, resume: bool = False) -> tuple[Result[Reproduced], list[Trial]]:
        result, journal = run(Reproduce, request, self.session(), resume)
        return result, journal.trials()


@pytest.fixture
def place(real: Catalog, tmp_path: Path, fixtures: Path) -> Place:
    document = (fixtures / "asynctest.json").read_text().replace('"lines": 20000', '"lines": 400000')
    # The recording has the ways 04, 07 and 12; tiny-files also asks for 00.
    return Place(real, tmp_path, Program(document.replace('"test07"', '"test00"')))


@pytest.fixture(autouse=True)
def _own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "give_to", lambda *_: None)


# ---- the schedule ----


def test_each_case_once_in_each_round(real: Catalog, request_: Request, tmp_path: Path) -> None:
    study = Reproduce(real, request_)
    blocks = study.outline()
    named = [spec.name.partition("-")[2] for [spec] in blocks]
    assert sorted(named[:2]) == sorted(named[2:]) == sorted((HOT, COLD)), "no claim compares the two"
    hot = next(spec for [spec] in blocks if spec.name.endswith(HOT))
    assert hot.variants == ["tokio tasks", "one thread", "io_uring", "tight loop"]
    told = sum(spec.expected_s or 0 for block in blocks for spec in block)
    assert blocks_s(study, tmp_path) == pytest.approx(told)


def test_it_has_a_laboratory_of_its_own(real: Catalog, tmp_path: Path, request_: Request) -> None:
    study = Reproduce(real, request_)
    lab = session(real, Quiet()).lab(study, study.variants, Journal.begin(tmp_path, request_))
    assert isinstance(lab, FileIoLab)


def test_a_scale_is_part_of_the_request(real: Catalog) -> None:
    request = request_for(real, str(TINY), "smoke", 2, 5, scale=0.05)
    names = {spec.name.partition("-")[2] for block in Reproduce(real, request).outline() for spec in block}
    assert names == {f"2-20000-8192-{cache}" for cache in ("hot", "cold")}
    other = request.model_copy(update={"options": {**request.options, "scale": None}})
    with pytest.raises(UsageError, match="tiny-files: what its file says is measured has changed"):
        Reproduce(real, other)


# ---- what is made of starts ----


def test_a_study_to_its_end(place: Place, request_: Request) -> None:
    result, trials = place.run(request_)
    assert (result.verdict, result.trials) == (Verdict.OK, {"ok": 4})
    own = result.conclusions
    assert {(row.good, row.made) for row in own.rows} == {(2, 2)}
    assert estimates_of(own, "tight loop")["loop_ratio"].mean == 1
    assert estimates_of(own, "one thread")["time_ms"].published == 50
    assert (own.contrasts[0].text, own.contrasts[0].n) == ("tokio is behind", 2)
    assert {"measuring", "making files", "container"} <= result.phases_s.keys()
    assert all(trial.facts.keys() == set(trial.spec.variants) for trial in trials)
    hot = [asked[asked.index("--only") + 1] for asked in place.program.asked if "hot" in asked]
    assert {*map(len, hot)} == {len("test00,test04,test12,loop-one,loop-all")}

    [folder] = place.results.glob("*-reproduce-tiny-files-*")
    kind, again, those = read_folder(folder)
    assert (kind, again.model_dump(mode="json")) == (Reproduce, result.model_dump(mode="json"))
    assert len(those) == len(list(folder.glob("raw/*/asynctest.json"))) == 4
    assert "tokio is behind" in of_result(kind.report(again), again)

    found = compare((result, trials), (result, trials))
    assert {("one thread", "time_ms"), ("tight loop", "cpu_ms")} <= {
        (f.label, f.metric) for f in found.figures
    }
    assert {len(one.recorded) for one in found.figures} == {2}
    assert found.reproduced


@pytest.mark.parametrize(("disturbed", "good"), [([1], 2), ([1, 5], 1)])
def test_a_disturbed_start_voids_its_block_which_is_made_again(
    place: Place, request_: Request, disturbed: list[int], good: int
) -> None:
    """Once: a start that stays void does not count."""
    place.machine.disturbed = disturbed
    result, trials = place.run(request_)
    lost = trials[0].spec.variants
    assert [trial.spec.attempt for trial in trials] == [1, 1, 1, 1, 2]
    assert (trials[0].verdict, trials[-1].spec.variants) == (Verdict.VOID, lost)
    assert result.verdict is (Verdict.OK if good == 2 else Verdict.VOID)
    text = "round 1: void: the hypervisor took 30.0% of the CPUs"
    assert [reason for reason in result.reasons if "again" not in reason] == [
        f"{row}, {text}" for row in lost
    ]
    counted = {row.label: (row.good, row.made) for row in result.conclusions.rows}
    assert counted == {label: (good, 3) if label in lost else (2, 2) for label in counted}


def test_a_program_that_fails_is_a_failed_trial(place: Place, request_: Request) -> None:
    place.program.failing = {2: TandemError("asynctest ended with status 1: no space left")}
    result, trials = place.run(request_)
    assert (result.verdict, result.trials) == (Verdict.FAILED, {"ok": 3, "failed": 1})
    assert "no space left" in result.reasons[0]
    assert len(trials) == 4


def test_one_wrong_count_makes_the_whole_invalid(place: Place, request_: Request) -> None:
    place.program.document = place.program.document.replace('"name": "test12"', '"name": "test99"')
    result, _ = place.run(request_)
    assert result.verdict is Verdict.INVALID
    assert "io_uring, round 1: invalid" in " ".join(result.reasons)
    assert [row_of(result.conclusions, label).good for label in ("io_uring", "one thread")] == [0, 2]


def test_what_was_made_is_not_made_again(place: Place, request_: Request) -> None:
    whole = replace(place, results=place.results / "whole", program=replace(place.program, asked=[]))
    expected, _ = whole.run(request_)
    place.program.failing = {3: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        place.run(request_)
    result, trials = place.run(request_.model_copy(update={"seed": 99}), resume=True)
    assert (len(place.program.asked), len(trials), result.request.seed) == (3 + 2, 4, 5)
    assert result.conclusions == expected.conclusions

"""The study of files: its schedule, what a start becomes, void blocks and resuming, what is concluded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_engine import Quiet, as_recorded, environment_of
from harness_places import EXPERIMENTS

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import session
from tandem.engine.journal import Journal
from tandem.engine.replay import compare
from tandem.engine.run import Session, blocks_s, run
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.hosts.host import HostCpu
from tandem.lab.laboratory import Work
from tandem.record.request import Request, Variant
from tandem.record.result import Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.report.markdown import of_result
from tandem.studies.files.lab import FilesLab
from tandem.studies.files.spec import PROGRAM, scaled
from tandem.studies.files.study import Files, request_of
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.conclusions import Reproduced, RowResult
from tandem.studies.reproduce.experiment import read

TINY = EXPERIMENTS / "tiny-files.toml"
HOT, COLD = "2-400000-8192-hot", "2-400000-8192-cold"


@dataclass
class Machine:
    """A host whose hypervisor takes a share of the CPUs during some starts."""

    stolen: dict[int, float] = field(default_factory=dict)
    """Number of a start, from 1 -> share."""
    reads: int = 0
    steal_s: float = 0.0

    def read_cpu(self) -> HostCpu:
        self.reads += 1
        if self.reads % 2 == 0:
            self.steal_s += self.stolen.get(self.reads // 2, 0.0)
        return HostCpu(0.0, 0.0, self.steal_s, float(self.reads))


@dataclass
class Program:
    """Says what asynctest would say, of the arguments that it is called with."""

    root: Path
    document: str
    failing: tuple[int, ...] = ()
    asked: list[list[str]] = field(default_factory=list)

    def run(self, arguments: Sequence[str]) -> str:
        self.asked.append(list(arguments))
        if len(self.asked) in self.failing:
            raise TandemError("asynctest ended with status 1: no space left")
        cache = arguments[arguments.index("--cache") + 1]
        text = self.document.replace('"lines": 20000', '"lines": 400000')
        return text.replace('"cache": "hot"', f'"cache": "{cache}"')


@pytest.fixture
def request_(root: Path) -> Request:
    return request_of(read(TINY), str(TINY), "smoke", 5)


@dataclass
class Place:
    """Runs the study on a machine and a program of a test."""

    catalog: Catalog
    results: Path
    program: Program
    machine: Machine = field(default_factory=Machine)

    def session(self) -> Session:
        place = self

        class Lab(FilesLab):
            @contextmanager
            def up(self) -> Iterator[None]:
                self._container = place.program  # type: ignore[assignment]
                host: dict[str, Any] = {"cpu_model": "test", "cpus": 2}
                self.environments[PROGRAM] = environment_of(host=host, settings={}, variables={})
                yield

        def lab(study: Study[Any], variants: Sequence[Variant], journal: Journal) -> FilesLab:
            host: Any = self.machine
            return Lab(
                self.catalog, self.results, Quiet(), Work(study.request, variants, journal.folder), host=host
            )

        return Session(self.catalog, self.results, Quiet(), lab)

    def run(self, request: Request, resume: bool = False) -> tuple[Result[Reproduced], list[Trial]]:
        result, journal = run(Files, request, self.session(), resume)
        return result, journal.trials()


@pytest.fixture
def place(real: Catalog, tmp_path: Path, fixtures: Path) -> Place:
    catalog = SimpleNamespace(root=real.root)
    document = (fixtures / "asynctest.json").read_text()
    # The recording has the ways 04, 07 and 12; tiny-files also asks for 00.
    document = document.replace('"test07"', '"test00"')
    found: Any = catalog
    return Place(found, tmp_path, Program(real.root, document))


def good(row: RowResult) -> int:
    """How many of its starts count."""
    return sum(one.verdict is Verdict.OK for one in row.trials)


@pytest.fixture(autouse=True)
def _own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "give_to", lambda *_: None)


def test_it_has_a_laboratory_of_its_own(real: Catalog, tmp_path: Path, request_: Request) -> None:
    lab = session(Files, real, Quiet()).lab(
        Files(real, request_), request_.variants, Journal.begin(tmp_path, request_)
    )
    assert isinstance(lab, FilesLab)


# ---- the schedule ----


def test_each_case_once_in_each_block(real: Catalog, request_: Request) -> None:
    blocks = Files(real, request_).outline()
    assert [sorted(spec.name for spec in block) for block in blocks] == [
        sorted((f"{number}-{HOT}", f"{number}-{COLD}")) for number in (1, 2)
    ]
    by_name = {spec.name: spec for block in blocks for spec in block}
    assert by_name[f"1-{HOT}"].variants == ["tokio tasks", "one thread", "io_uring", "tight loop"]
    assert by_name[f"2-{COLD}"].variants == ["one thread, cold"]


def test_the_seed_decides_the_order(real: Catalog) -> None:
    own = read(real.root / "loadgen/experiments/file-io.toml")
    orders = [
        [
            spec.name
            for block in Files(real, request_of(own, "file-io", "full", seed)).outline()
            for spec in block
        ]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_the_estimate_is_that_of_the_specs(real: Catalog, request_: Request, tmp_path: Path) -> None:
    study = Files(real, request_)
    told = sum(spec.expected_s or 0 for block in study.outline() for spec in block)
    assert blocks_s(study, tmp_path) == pytest.approx(told)


def test_a_request_of_what_has_changed_is_refused(real: Catalog, request_: Request) -> None:
    other = request_.model_copy(update={"options": {**request_.options, "digest": "0"}})
    with pytest.raises(UsageError, match="tiny-files: what the experiment measures has changed"):
        Files(real, other)


def test_a_scale_is_part_of_the_request(real: Catalog) -> None:
    experiment = scaled(read(TINY), "smoke", 0.05)
    request = request_of(experiment, str(TINY), "smoke", 5, 0.05)
    names = {spec.name for block in Files(real, request).outline() for spec in block}
    assert names == {f"{n}-2-20000-8192-{cache}" for n in (1, 2) for cache in ("hot", "cold")}


# ---- what is made of starts ----


def test_a_study_to_its_end(place: Place, request_: Request) -> None:
    result, trials = place.run(request_)
    assert (result.verdict, result.trials) == (Verdict.OK, {"ok": 4})
    rows = {row.label: row for row in result.conclusions.rows}
    assert {good(row) for row in rows.values()} == {2}
    assert rows["tight loop"].figures["loop_ratio"].mean == 1
    assert rows["one thread"].published == {"time_ms": 50.0}
    [claim] = result.conclusions.claims
    assert (claim.text, claim.ratio.n) == ("tokio is behind", 2)
    assert {"measuring", "making files", "container"} <= result.phases_s.keys()
    assert all(trial.facts.keys() == set(trial.spec.variants) for trial in trials)
    seeds = {asked[asked.index("--seed") + 1] for asked in place.program.asked}
    assert len(seeds) == 4, "another order in each container"


def test_its_folder_can_be_read_and_told_again(place: Place, request_: Request) -> None:
    result, trials = place.run(request_)
    [folder] = place.results.glob("*-files-*")
    kind, again, those = read_folder(folder)
    assert (kind, again.model_dump(mode="json")) == (Files, result.model_dump(mode="json"))
    assert len(those) == len(trials) == 4
    assert len(list(folder.glob("raw/*/asynctest.json"))) == 4
    assert "tokio is behind" in of_result(kind.report(again), again)


def test_a_replay_compares_the_figures_of_each_row(place: Place, request_: Request) -> None:
    result, trials = place.run(request_)
    found = compare(Files, (result, trials), (result, trials))
    assert {(one.label, one.metric) for one in found.figures} >= {
        ("one thread", "time_ms"),
        ("tight loop", "cpu_ms"),
    }
    assert {len(one.recorded) for one in found.figures} == {2}
    assert found.reproduced


def test_a_disturbed_start_voids_its_block_which_is_made_again(place: Place, request_: Request) -> None:
    place.machine.stolen = {1: 0.3}
    result, trials = place.run(request_)
    assert [(trial.spec.block, trial.spec.attempt) for trial in trials] == [(1, 1)] * 2 + [(2, 1)] * 2 + [
        (1, 2)
    ] * 2
    assert trials[0].verdict is Verdict.VOID
    assert result.verdict is Verdict.OK
    lost = trials[0].spec.variants
    assert result.reasons == [f"{row}, round 1: void: the hypervisor took 30.0% of the CPUs" for row in lost]
    rows = {row.label: row for row in result.conclusions.rows}
    assert {label: good(row) for label, row in rows.items()} == {
        label: 2 if label in lost else 3 for label in rows
    }
    assert {len(row.trials) for row in rows.values()} == {3}


def test_a_start_that_stays_void_does_not_count(place: Place, request_: Request) -> None:
    place.machine.stolen = {1: 0.3, 5: 0.3, 6: 0.3}
    result, _ = place.run(request_)
    assert {good(row) for row in result.conclusions.rows} == {1, 2}
    assert result.verdict is Verdict.VOID


def test_a_program_that_fails_is_a_failed_trial(place: Place, request_: Request) -> None:
    place.program = replace(place.program, failing=(2,))
    result, trials = place.run(request_)
    assert (result.verdict, result.trials) == (Verdict.FAILED, {"ok": 3, "failed": 1})
    assert "no space left" in result.reasons[0]
    assert len(trials) == 4


def test_one_wrong_count_makes_the_whole_invalid(place: Place, request_: Request) -> None:
    place.program.document = place.program.document.replace('"name": "test12"', '"name": "test99"')
    result, _ = place.run(request_)
    assert result.verdict is Verdict.INVALID
    assert "io_uring, round 1: invalid" in " ".join(result.reasons)
    rows = {row.label: row for row in result.conclusions.rows}
    assert (good(rows["io_uring"]), good(rows["one thread"])) == (0, 2)


def test_what_was_made_is_not_made_again(place: Place, request_: Request) -> None:
    whole = replace(place, results=place.results / "whole", program=replace(place.program, asked=[]))
    expected, _ = whole.run(request_)
    killed = replace(place.program, asked=[])

    def dies(arguments: Sequence[str]) -> str:
        if len(killed.asked) == 2:
            raise KeyboardInterrupt
        return Program.run(killed, arguments)

    first = replace(place, program=SimpleNamespace(run=dies))  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        first.run(request_)
    result, trials = place.run(request_.model_copy(update={"seed": 99}), resume=True)
    assert (len(place.program.asked), len(trials), result.request.seed) == (2, 4, 5)
    assert result.conclusions == expected.conclusions


def test_the_committed_reference_follows_from_its_trials(real: Catalog) -> None:
    _, record, trials = read_folder(real.root / "results/reference-experiments/file-io")
    today = Files(real, record.request).conclude(trials, record.baselines)
    assert today.verdict is record.verdict
    assert as_recorded(today.conclusions) == as_recorded(record.conclusions)

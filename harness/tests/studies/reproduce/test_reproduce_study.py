"""The study of `reproduce`: its request, the order of things on a fake floor, and what committed records hold."""

import json
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeFloor, FakeLab, as_recorded, made_trial, session
from harness_experiments import estimates_of, experiment, row_of
from harness_samples import finding, good_window
from typer.testing import CliRunner

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.catalog.catalog import Catalog
from tandem.cli.options import app
from tandem.engine.journal import Journal
from tandem.engine.run import conclude, run
from tandem.engine.study import held
from tandem.errors import TandemError, UsageError
from tandem.lab.visit import Windows
from tandem.record.result import Baselines, Result
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import DbRtt, Verdict, Window
from tandem.report.markdown import of_result
from tandem.studies.registry import read_folder
from tandem.studies.reproduce import command
from tandem.studies.reproduce import study as study_
from tandem.studies.reproduce.command import estimate_s
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.experiment import Experiment, PlanName, read_all, read_claims
from tandem.studies.reproduce.study import Reproduce, request_for


def asked(real: Catalog, name: str, plan: PlanName) -> Reproduce:
    return Reproduce(real, request_for(real, name, plan, 2, 7))


def test_smoke_of_all_is_cheap(
    real: Catalog, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)  # this machine's own records would tell its overheads
    estimates = {name: estimate_s(real, name, "smoke") for name in read_all(root)}
    assert sum(estimates.values()) < 15 * 60, estimates
    assert estimates["file-io"] < 150 < estimate_s(real, "file-io", "full")


def test_the_list_has_claims_in_a_group_of_their_own(root: Path) -> None:
    told = json.loads(CliRunner().invoke(app, ["reproduce", "list", "--json"]).stdout)
    groups = {entry["name"]: entry["group"] for entry in told}
    assert groups == dict.fromkeys(read_all(root), "published") | dict.fromkeys(read_claims(root), "quoted")
    [delay] = (entry for entry in told if entry["name"] == "hyper-delay")
    assert delay["rows"] > delay["smoke_rows"] > 0
    assert delay["full_s"] > delay["smoke_s"] > 0
    assert delay["reference"] in (True, False)


# ---- rounds and blocks ----


def test_each_round_has_every_row_once_in_an_order_of_its_own(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    blocks, parts = study.outline(), len(study.together)
    assert parts > 1
    assert len(blocks) == 4 * parts
    assert [{spec.block for spec in block} for block in blocks] == [{n + 1} for n in range(len(blocks))]
    rounds = [list(chain.from_iterable(blocks[n : n + parts])) for n in range(0, len(blocks), parts)]
    every = sorted(map(file_name, study.rows.rows))
    assert [sorted(w.name for spec in made for w in spec.windows) for made in rounds] == [every] * 4
    assert len({tuple(spec.name.partition("-")[2] for spec in made) for made in rounds}) == 4
    assert blocks == asked(real, "hyper-delay", "full").outline()
    other = study.request.model_copy(update={"seed": 8})
    assert blocks != Reproduce(real, other).outline()
    async1 = [spec for block in blocks for spec in block if "async1" in spec.name]
    within = {tuple(w.name for w in spec.windows) for spec in async1}
    assert len(within) > 1, "the rows of a start have a random order as well"


def test_rows_of_one_round_are_compared_whatever_their_blocks(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    trials = []
    for spec in chain.from_iterable(study.outline()):
        records = [WindowRecord(spec=w, windows={spec.variants[0]: good_window()}) for w in spec.windows]
        trials.append(made_trial(spec).model_copy(update={"windows": records}))
    found = study.conclude(trials, Baselines()).conclusions
    assert {(row.good, row.made) for row in found.rows} == {(4, 4)}
    assert {one.n for one in found.contrasts} == {4}


def test_a_request_fixes_its_blocks_and_an_older_one_has_a_block_for_each_round(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    options = {name: value for name, value in study.request.options.items() if name != "together"}
    older = Reproduce(real, study.request.model_copy(update={"options": options}))
    assert [len(block) for block in older.outline()] == [len(older.rows.starts)] * 4
    turned = [list(part) for part in reversed(study.together)]
    again = study.request.model_copy(update={"options": {**study.request.options, "together": turned}})
    assert Reproduce(real, again).together == turned
    with pytest.raises(UsageError, match="a reproduction needs an experiment"):
        Reproduce(real, study.request.model_copy(update={"options": {}}))


@pytest.mark.parametrize("plan", ["core", "full"])
def test_a_block_holds_what_claims_compare_and_nothing_else(plan: PlanName, real: Catalog) -> None:
    study = asked(real, "sync-to-async-python", plan)
    own, blocks = study.experiment, study.outline()
    held = [{w.name for spec in block for w in spec.windows} for block in blocks]
    measured = {row.label for row in own.measured(plan)}
    for claim in own.claims:
        ends = {file_name(claim.of), file_name(claim.to)}
        if {claim.of, claim.to} <= measured:
            assert sum(ends <= one for one in held) == own.plan(plan).starts
    assert max(map(len, held)) == 3, "async Rust, async Python and sync Python under one condition"


def test_a_thread_for_each_connection_is_asked_of_a_host(real: Catalog) -> None:
    found = held(asked(real, "cpp-connections", "full"))
    assert found[0] == (10_000, 10_064)
    assert (10_000, 0) in found, "the async ones have a number of their own"


# ---- the order of things ----


@dataclass
class Place(FakeLab):
    """odd: verdict of the n-th window, or what is raised in its place."""

    odd: dict[int, Verdict | TandemError] = field(default_factory=dict)
    made: int = 0

    def floor(self, spec: TrialSpec, number: int) -> FakeFloor:
        return FakeFloor(answer=self.window)

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        trial = super().visit(spec, script, folder)
        for start in trial.starts.values():
            start.cpu_peak_percent, start.resident_peak_bytes = 50.0, 20 << 20
        return trial

    def window(self, _: TrialSpec, spec: WindowSpec) -> Window:
        self.made += 1
        odd = self.odd.get(self.made, Verdict.OK)
        if isinstance(odd, TandemError):
            raise odd
        found = [finding("void", "steal", "much steal")] if odd is Verdict.VOID else []
        trip = DbRtt(setting=4, before_p50=4.5, during_p50=5.0, during_p90=6.0, samples=9)
        return good_window(verdict=odd, findings=found, db_rtt_ms=trip, bottleneck="app-cpu")


BROKE = TandemError("the closed window broke")


def waiting(delays: tuple[int, ...] = (20, 200)) -> Experiment:
    threads = {"implementation": "rust-sync", "settings": {"THREADS": "2"}}
    rows: list[dict[str, Any]] = [
        {"label": f"threads {ms}", "variant": threads, "window": {"delay_ms": ms}} for ms in delays
    ]
    rows.append({"label": "alone", "variant": {"implementation": "rust-hyper"}, "window": {"delay_ms": 20}})
    claims = [{"text": "t", "of": "alone", "to": "threads 20", "says": "same"}]
    return experiment(rows=[{**row, "smoke": True} for row in rows], claims=claims)


@pytest.fixture
def made(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the experiment `waiting` at a place: the result and the journal."""
    monkeypatch.setattr(study_, "pick", lambda root, name: waiting())

    def make(place: Place) -> tuple[Result[Reproduced], Journal]:
        request = request_for(real, "waiting", "smoke", 2, 7)
        return run(Reproduce, request, session(real, tmp_path, place))

    return make


def test_a_fresh_start_measures_all_delays_and_is_taken_down(made: Any) -> None:
    place = Place()
    found, journal = made(place)
    assert not place.is_up
    assert found.verdict is Verdict.OK
    own = found.conclusions
    assert own.digest == waiting().digest("smoke")
    row, estimates = row_of(own, "threads 20"), estimates_of(own, "threads 20")
    assert (row.settings["THREADS"], row.settings["delay_ms"]) == ("2", "20")
    assert row.ceilings == {"connections/delay": 5000.0, "threads/delay": 100.0}
    assert (estimates["peak_cpu_percent"].mean, estimates["peak_memory_mib"].mean) == (50, 20)
    assert estimates["goodput_rps"].limit == "app-cpu"
    assert own.contrasts[0].word == "stands"
    assert journal.folder.name.endswith("-reproduce-waiting-smoke")
    _, again, trials = read_folder(journal.folder)
    delays = {one.spec.key: sorted(w.spec.scenario_changes["path"] for w in one.windows) for one in trials}
    paths = [f"/work?delay_ms={ms}" for ms in (20, 200)]
    expected = {"threads-20": paths, "alone": paths[:1]}
    assert delays == {f"{block}-{start}": own for block in (1, 2) for start, own in expected.items()}
    assert of_result(Reproduce.report(again), again) == of_result(Reproduce.report(found), found)


def test_a_void_window_voids_its_block_which_is_made_again(made: Any) -> None:
    place = Place(odd={1: Verdict.VOID})
    found, _ = made(place)
    assert len(place.visited) == 6
    assert found.verdict is Verdict.OK
    assert found.trials == {Verdict.OK: 5, Verdict.VOID: 1}
    assert sum(row.made for row in found.conclusions.rows) == 9
    assert found.conclusions.contrasts[0].n >= 2


def test_what_was_measured_before_a_failure_counts(made: Any) -> None:
    found, _ = made(Place(odd={2: BROKE, 3: BROKE}))
    assert found.verdict is Verdict.FAILED
    assert sum(row.good for row in found.conclusions.rows) >= 3
    assert any("the closed window broke" in reason for reason in found.reasons)


def test_what_was_asked_for_is_not_made_of_another_definition(
    real: Catalog, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_for(real, "waiting", "smoke", 2, 7)
    Reproduce(real, request)
    monkeypatch.setattr(study_, "pick", lambda root, name: waiting((20, 100)))
    with pytest.raises(UsageError, match="has changed since"):
        Reproduce(real, request)


# ---- committed records ----

FOLDERS = {"reference-experiments": read_all, "reference-claims": read_claims}


def test_a_ladder_is_one_variant_at_several_coordinates(root: Path) -> None:
    found = read_folder(root / "results/reference-experiments/cpp-connections")[1].conclusions
    rates = [one for one in found.estimates if (one.variant, one.metric) == ("node", "goodput_rps")]
    levels = [1, 10, 100, 1_000, 2_500, 5_000, 7_000, 10_000]
    assert [one.coordinates for one in rates] == [{"connections": n} for n in levels]
    claim, contrast = found.judged[-1]
    assert (claim.of, contrast.of, contrast.coordinates) == ("node, 7,000", "node", {"connections": 7000})


@pytest.mark.parametrize("of", FOLDERS)
def test_committed_records_follow_from_their_trials(of: str, root: Path, real: Catalog) -> None:
    folders = [file.parent for file in sorted((root / "results" / of).glob("*/result.json"))]
    assert len(folders) >= len(FOLDERS[of](root))
    for folder in folders:
        _, record, trials = read_folder(folder)
        study = Reproduce(real, record.request)
        assert [one.label for one in study.variants] == [one.label for one in record.request.variants]
        today = conclude(study, trials, record.baselines)
        assert today.variants == record.variants
        assert today.verdict is record.verdict
        # Defaults of programs change; a row says those of today.
        assert as_recorded(today.conclusions, "settings") == as_recorded(record.conclusions, "settings")

"""The study of `reproduce`: what is refused, what the experiments ask for, and the order of things on a fake floor."""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeFloor, FakeLab, as_recorded, made_trial, session
from harness_experiments import experiment, table
from harness_samples import finding, good_window

from tandem.catalog.catalog import Catalog
from tandem.engine.journal import Journal
from tandem.engine.run import run
from tandem.errors import TandemError, UsageError
from tandem.lab.visit import Windows
from tandem.record.result import Baselines, Result
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import DbRtt, Verdict, Window
from tandem.studies.registry import read_folder
from tandem.studies.reproduce import command
from tandem.studies.reproduce import study as study_
from tandem.studies.reproduce.command import estimate_s
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.experiment import Experiment, PlanName, read_all
from tandem.studies.reproduce.http import HttpRows
from tandem.studies.reproduce.study import Reproduce, request_for

# ---- what is refused before anything is built ----


def http(**changes: Any) -> Experiment:
    common = {"scenario": "work", "topology": "direct", "connections": 100}
    return experiment(**{"run": common, **changes})


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"implementation": "rust-snc"}, "no implementation 'rust-snc'. Did you mean 'rust-sync'"),
        ({"implementation": "rust-sync", "scenario": "wrok"}, "no scenario 'wrok'. Did you mean 'work'"),
        (
            {"implementation": "rust-sync", "topology": "dircet"},
            "no topology 'dircet'. Did you mean 'direct'",
        ),
        (
            {"implementation": "rust-sync", "settings": {"THREDS": "2"}},
            "no setting 'THREDS'. Did you mean 'THREADS'",
        ),
        ({"implementation": "rust-sync", "settings": {"THREADS": "two"}}, "THREADS must be a whole number"),
        ({"implementation": "rust-hyper", "scenario": "recipe"}, "rust-hyper does not support recipe"),
        ({"implementation": "rust-sync", "delay": 20}, "run -> delay: Extra inputs"),
        (
            {"implementation": "rust-sync", "scenario": "recipe", "delay_ms": 20},
            "the scenario recipe does not wait",
        ),
        ({"implementation": "rust-sync", "round_trips": 8}, "`round_trips` needs `db_rtt_ms`"),
        ({"implementation": "rust-sync", "db_rtt_ms": 4}, "work never asks the database"),
        ({"implementation": "rust-sync", "limits": {"APP_MAXCON": "25"}}, "run -> limits -> APP_MAXCON"),
        ({"implementation": "rust-sync", "limits": {"APP_MAXCONN": "25"}}, "all rows must have the same"),
    ],
)
def test_what_a_row_cannot_be(real: Catalog, own: dict[str, Any], told: str) -> None:
    rows = table()["rows"]
    wrong = http(rows=[rows[0], {**rows[1], "run": own}, rows[2]])
    with pytest.raises(UsageError) as error:
        HttpRows(real, wrong, "full", 2)
    assert told in str(error.value)
    assert str(error.value).startswith("waiting: ")


@pytest.mark.parametrize("plan", ["smoke", "wide", "full"])
def test_the_repositorys_experiments_can_be_measured(real: Catalog, root: Path, plan: PlanName) -> None:
    for own in read_all(root).values():
        if own.kind == "http":
            found = HttpRows(real, own, plan, 2)
            assert [one.row for one in found.known.values()] == own.measured(plan)
            for one in found.known.values():
                assert one.times.seconds >= 3 * (one.run.delay_ms or 0) / 1e3


def test_a_row_may_say_how_long_its_client_waits(real: Catalog) -> None:
    rows = table()["rows"]
    patient = {**rows[0], "run": {**rows[0]["run"], "timeout_s": 60}}
    found = HttpRows(real, http(rows=[patient, *rows[1:]]), "full", 2)
    assert [one.scenario.timeout_s for one in found.known.values()] == [60, 10, 10]
    assert found.variants[0].scenario_changes["timeout_s"] == 60


def test_a_row_may_be_too_much_on_purpose(real: Catalog) -> None:
    """What is refused then is a figure of the row, and of no other one."""
    first, *others = table()["rows"]
    overloaded = {**first, "run": {**first["run"], "refused_most": 0.1}}
    rows = HttpRows(real, http(rows=[overloaded, *others]), "full", 2)
    assert rows.variants[0].scenario_changes["refused_most"] == 0.1
    assert all("refused_most" not in other.scenario_changes for other in rows.variants[1:])
    found = good_window("closed", failed={"status 503": 1200})
    for group, told in ((rows.variants[0].label, True), (rows.variants[1].label, False)):
        [label, *_] = rows.labels(group)
        spec = rows.trial(group, 1, [label])
        record = WindowRecord(spec=spec.windows[0], windows={group: found})
        trial = made_trial(spec).model_copy(update={"windows": [record]})
        figures = rows.row_trial(label, trial).figures
        assert figures.get("refused_percent") == (pytest.approx(100 / 11) if told else None)


def test_smoke_of_all_is_cheap(
    real: Catalog, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)  # this machine's own records would tell its overheads
    estimates = {name: estimate_s(real, own, "smoke") for name, own in read_all(root).items()}
    assert sum(estimates.values()) < 15 * 60, estimates


def test_published_ceilings_explain_published_rows(real: Catalog, root: Path) -> None:
    """No published row of the laptop is above what waiting allows; the other machine's at 20 ms all are."""
    own = read_all(root)["hyper-delay"]
    for one in HttpRows(real, own, "full", 2).known.values():
        least = min(one.ceilings.values())
        assert one.row.published.get("goodput_rps", 0) <= least
        elsewhere = one.row.published_elsewhere.get("4 cores, Win10")
        if elsewhere and one.run.delay_ms == 20:
            assert elsewhere["goodput_rps"] > least


def test_rows_that_differ_in_the_delay_share_a_start(real: Catalog, root: Path) -> None:
    found = HttpRows(real, read_all(root)["hyper-delay"], "full", 2)
    assert {len(labels) for labels in found.groups.values()} == {3}
    assert [one.label for one in found.variants] == list(found.groups)
    for one in found.variants:
        assert one.scenario_changes["path"] == "/work?delay_ms=20", "the shortest is verified and warmed up"
    for spec in found.outline(7, [list(found.groups)])[0]:
        assert len(spec.windows) == 3
        paths = {window.scenario_changes["path"] for window in spec.windows}
        assert paths == {f"/work?delay_ms={ms}" for ms in (20, 200, 1000)}


def test_a_row_that_needs_more_cpus_is_not_pinned(real: Catalog, root: Path) -> None:
    own = read_all(root)["hyper-payload"]
    assert {one.placement for one in HttpRows(real, own, "smoke", 2).variants} == {"shared"}
    with pytest.raises(UsageError, match="2 CPUs are needed, and this host has 1"):
        HttpRows(real, own, "smoke", 1)


def test_limits_and_distance_reach_the_variant(real: Catalog, root: Path) -> None:
    found = HttpRows(real, read_all(root)["sync-to-async-python"], "smoke", 2)
    assert {one.variables["APP_MAXCONN"] for one in found.variants} == {"25"}
    assert {one.db_rtt_ms for one in found.variants} == {4, 15}


def asked(real: Catalog, name: str, plan: PlanName) -> Reproduce:
    return Reproduce(real, request_for(real, name, read_all(real.root)[name], plan, 2, 7))


def test_each_round_has_every_row_once_in_an_order_of_its_own(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    blocks, parts = study.outline(), len(study.together)
    assert parts > 1
    assert len(blocks) == 4 * parts
    assert [{spec.block for spec in block} for block in blocks] == [{n + 1} for n in range(len(blocks))]
    rounds = [list(chain.from_iterable(blocks[n : n + parts])) for n in range(0, len(blocks), parts)]
    for made in rounds:
        assert sorted(w.name for spec in made for w in spec.windows) == sorted(
            map(file_name, study.rows.specs)
        )
    names = [[spec.name.partition("-")[2] for spec in made] for made in rounds]
    assert len({tuple(order) for order in names}) == 4
    assert blocks == asked(real, "hyper-delay", "full").outline()
    other = study.request.model_copy(update={"seed": 8})
    assert blocks != Reproduce(real, other).outline()
    within = {
        tuple(w.name for w in spec.windows) for block in blocks for spec in block if "async1" in spec.name
    }
    assert len(within) > 1, "the rows of a start have a random order as well"


def test_rows_of_one_round_are_compared_whatever_their_blocks(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    trials = [
        made_trial(spec).model_copy(
            update={
                "windows": [
                    WindowRecord(spec=window, windows={spec.variants[0]: good_window()})
                    for window in spec.windows
                ]
            }
        )
        for block in study.outline()
        for spec in block
    ]
    found = study.conclude(trials, Baselines()).conclusions
    for row in found.rows:
        assert sorted(one.block for one in row.trials) == [1, 2, 3, 4]
        told = [one.block for one in row.trials if one.details]
        assert told == [1], "the text of the first round is kept"


def test_a_request_fixes_its_blocks_and_an_older_one_has_a_block_for_each_round(real: Catalog) -> None:
    study = asked(real, "hyper-delay", "full")
    options = {name: value for name, value in study.request.options.items() if name != "together"}
    older = Reproduce(real, study.request.model_copy(update={"options": options}))
    assert [len(block) for block in older.outline()] == [len(older.rows.groups)] * 4
    turned = {**study.request.options, "together": [list(part) for part in reversed(study.together)]}
    assert (
        Reproduce(real, study.request.model_copy(update={"options": turned})).together == turned["together"]
    )
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


def test_a_claim_by_way_of_a_third_row_joins(real: Catalog) -> None:
    rows = [
        {"label": label, "run": {"implementation": "rust-hyper", "connections": n}, "smoke": n < 5}
        for n, label in enumerate(("a", "alone", "b", "c", "unmeasured"), start=1)
    ]
    pairs = (("b", "a"), ("c", "b"), ("unmeasured", "alone"), ("unmeasured", "a"))
    claims = [{"text": "t", "of": of, "to": to, "says": "more"} for of, to in pairs]
    found = HttpRows(real, http(rows=rows, claims=claims), "smoke", 2)
    assert sorted(map(sorted, found.joined_by_claims())) == [["a", "b", "c"], ["alone"]]


def test_usable_connections(real: Catalog, root: Path) -> None:
    rows = HttpRows(real, read_all(root)["sync-to-async-python"], "full", 2)
    found = {label: one.usable for label, one in rows.known.items()}
    assert found["sync Python, as published, 4 ms"] == 5
    assert found["async Python, as published, 4 ms"] == 20
    assert found["async Rust, equal, 15 ms"] == 20


# ---- the order of things ----


@dataclass
class Place(FakeLab):
    """odd: verdict of the n-th window, or what is raised in its place. calls: of all starts, in order."""

    odd: dict[int, Verdict | BaseException] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    made: int = 0

    def floor(self, spec: TrialSpec, number: int) -> FakeFloor:
        return FakeFloor(answer=self.told, calls=self.calls)

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        trial = super().visit(spec, script, folder)
        for start in trial.starts.values():
            start.cpu_peak_percent, start.resident_peak_bytes = 50.0, 20 << 20
        return trial

    def told(self, _: TrialSpec, spec: WindowSpec) -> Window:
        self.made += 1
        self.calls.append(str(spec.scenario_changes["path"]))
        odd = self.odd.get(self.made, Verdict.OK)
        if isinstance(odd, BaseException):
            raise odd
        found = [finding("void", "steal", "much steal")] if odd is Verdict.VOID else []
        trip = DbRtt(setting=4, before_p50=4.5, during_p50=5.0, during_p90=6.0, samples=9)
        return good_window(verdict=odd, findings=found, db_rtt_ms=trip, bottleneck="app-cpu")


BROKE = TandemError("the closed window broke")


def waiting(delays: tuple[int, ...] = (20, 200)) -> Experiment:
    rows = [
        {
            "label": f"threads {d}",
            "smoke": True,
            "run": {"implementation": "rust-sync", "delay_ms": d, "settings": {"THREADS": "2"}},
        }
        for d in delays
    ]
    rows.append({"label": "alone", "run": {"implementation": "rust-hyper", "delay_ms": 20}, "smoke": True})
    return http(rows=rows, claims=[{"text": "t", "of": "alone", "to": "threads 20", "says": "same"}])


@pytest.fixture
def made(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the experiment `waiting` at a place: the result and the journal."""
    monkeypatch.setattr(study_, "read_all", lambda root: {"waiting": waiting()})

    def make(place: Place, seed: int = 7, resume: bool = False) -> tuple[Result[Reproduced], Journal]:
        request = request_for(real, "waiting", waiting(), "smoke", 2, seed)
        return run(Reproduce, request, session(real, tmp_path, place), resume)

    return make


def test_a_fresh_start_measures_all_delays_and_is_taken_down(made: Any) -> None:
    place = Place()
    found, journal = made(place)
    calls = place.calls
    assert not place.is_up
    starts = [calls[n:] for n, text in enumerate(calls) if text == "launch threads 20"]
    assert len(starts) == 2
    for start in starts:
        own = [text.removesuffix(" threads 20") for text in start[: start.index("stop threads 20") + 1]]
        assert own[:4] == ["launch", "ready", "verify", "warm up"]
        assert own[-3:] == ["drain", "collect", "stop"]
        windows = sorted(text for text in own if text.startswith("/"))
        assert windows == ["/work?delay_ms=20", "/work?delay_ms=200"]
    assert calls.count("launch alone") == 2
    assert found.verdict is Verdict.OK
    assert found.conclusions.digest == waiting().digest("smoke")
    row = found.conclusions.rows[0]
    assert row.settings["THREADS"] == "2"
    assert row.ceilings == {"connections/delay": 5000.0, "threads/delay": 100.0}
    assert (row.bottleneck, row.figures["peak_cpu_percent"].mean) == ("app-cpu", 50.0)
    assert row.figures["peak_memory_mib"].mean == 20
    assert found.conclusions.claims[0].verdict == "stands"
    assert ["histogram" in one.details for one in row.trials] == [True, False], (
        "the first round's text is kept"
    )
    assert journal.folder.name.endswith("-reproduce-waiting-smoke")
    assert {trial.spec.key for trial in journal.trials()} == {
        "1-threads-20",
        "1-alone",
        "2-threads-20",
        "2-alone",
    }
    kind, again, trials = read_folder(journal.folder)
    assert kind is Reproduce
    assert len(trials) == 4
    assert kind.markdown(again) == kind.markdown(found)


def test_a_void_window_voids_its_block_which_is_made_again(made: Any) -> None:
    place = Place(odd={1: Verdict.VOID})
    found, _ = made(place)
    assert len(place.visited) == 6
    assert found.verdict is Verdict.OK
    assert found.trials == {Verdict.OK: 5, Verdict.VOID: 1}
    assert sum(one.attempt == 2 for row in found.conclusions.rows for one in row.trials) == 3
    assert found.conclusions.claims[0].ratio.n >= 2


def test_what_was_measured_before_a_failure_counts(made: Any) -> None:
    found, _ = made(Place(odd={2: BROKE, 3: BROKE}))
    assert found.verdict is Verdict.FAILED
    assert sum(one.verdict is Verdict.OK for row in found.conclusions.rows for one in row.trials) >= 3
    assert any("the closed window broke" in reason for reason in found.reasons)


def test_an_interruption_keeps_the_trials_and_takes_all_down(made: Any, tmp_path: Path) -> None:
    place = Place(odd={4: KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        made(place)
    assert place.calls[-1].startswith("stop ")
    assert not place.is_up
    kept = list(tmp_path.glob("*/trials/*.json"))
    assert 2 <= len(kept) <= 3
    again = Place()
    found, _ = made(again, seed=99, resume=True)
    assert (found.verdict, found.request.seed) == (Verdict.OK, 7), "the order is the first one's"
    assert len(again.visited) == 4 - len(kept)
    with pytest.raises(UsageError, match="no unfinished reproduce"):
        made(Place(), resume=True)


def test_what_was_asked_for_is_not_made_of_another_definition(
    real: Catalog, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_for(real, "waiting", waiting(), "smoke", 2, 7)
    Reproduce(real, request)
    monkeypatch.setattr(study_, "read_all", lambda root: {"waiting": waiting((20, 100))})
    with pytest.raises(UsageError, match="has changed since"):
        Reproduce(real, request)


COMMITTED = (
    "chatbot-pool",
    "chatbot-pool.wide",
    "cpp-connections",
    "hyper-delay",
    "hyper-microservice",
    "hyper-microservice.wide",
    "hyper-payload",
    "sync-to-async-python",
    "sync-to-async-python.wide",
)


@pytest.mark.parametrize("name", COMMITTED)
def test_a_committed_record_could_be_made_again_and_follows_from_its_trials(
    name: str, root: Path, real: Catalog
) -> None:
    _, record, trials = read_folder(root / "results/reference-experiments" / name)
    study = Reproduce(real, record.request)
    assert study.variants == record.request.variants
    today = study.conclude(trials, record.baselines)
    assert today.verdict is record.verdict
    assert as_recorded(today.conclusions) == as_recorded(record.conclusions)

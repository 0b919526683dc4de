"""The kind `http`: what is refused, what the experiments ask for, the order of things with a simulated laboratory."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from harness_experiments import asked, experiment, table
from harness_places import FIXTURES
from harness_samples import finding, good_environment, good_window
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.commands.reproduce import KINDS
from tandem.errors import TandemError, UsageError
from tandem.lab.live import Lines
from tandem.old.cell import Cell
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.old.run import Environment
from tandem.old.session import Session
from tandem.record.window import DbRtt, Verdict, Window
from tandem.reproduce.experiment import Experiment, PlanName, read_all
from tandem.reproduce.http import HttpSession
from tandem.reproduce.http_setting import groups, settings, usable_connections
from tandem.reproduce.kinds import Bench

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
            {"implementation": "rust-sync", "knobs": {"THREDS": "2"}},
            "no knob 'THREDS'. Did you mean 'THREADS'",
        ),
        ({"implementation": "rust-sync", "knobs": {"THREADS": "two"}}, "THREADS must be a whole number"),
        ({"implementation": "rust-hyper", "scenario": "recipe"}, "rust-hyper does not support recipe"),
        ({"implementation": "rust-sync", "delay": 20}, "run -> delay: Extra inputs"),
        (
            {"implementation": "rust-sync", "scenario": "recipe", "delay_ms": 20},
            "the scenario recipe does not wait",
        ),
        ({"implementation": "rust-sync", "round_trips": 8}, "`round_trips` needs `db_rtt_ms`"),
        ({"implementation": "rust-sync", "db_rtt_ms": 4}, "work never asks the database"),
        ({"implementation": "rust-sync", "limits": {"APP_MAXCON": "25"}}, "run -> limits -> APP_MAXCON"),
        ({"implementation": "rust-sync", "limits": {"APP_MAXCONN": "25"}}, "all rows have the same"),
    ],
)
def test_what_a_row_cannot_be(real: Catalog, own: dict[str, Any], told: str) -> None:
    rows = table()["rows"]
    wrong = http(rows=[rows[0], {**rows[1], "run": own}, rows[2]])
    with pytest.raises(UsageError) as error:
        settings(real, wrong, "full")
    assert told in str(error.value)
    assert str(error.value).startswith("waiting: ")


@pytest.mark.parametrize("plan", ["smoke", "wide", "full"])
def test_the_repositorys_experiments_can_be_measured(real: Catalog, root: Path, plan: PlanName) -> None:
    for own in read_all(root).values():
        if own.kind == "http":
            found = settings(real, own, plan)
            assert [setting.row for setting in found] == own.measured(plan)
            for setting in found:
                assert setting.times.seconds >= 3 * (setting.run.delay_ms or 0) / 1e3


def test_a_row_may_say_how_long_its_client_waits(real: Catalog) -> None:
    rows = table()["rows"]
    patient = {**rows[0], "run": {**rows[0]["run"], "timeout_s": 60}}
    found = settings(real, http(rows=[patient, *rows[1:]]), "full")
    assert [setting.scenario.timeout_s for setting in found] == [60, 10, 10]


def test_smoke_of_all_is_cheap(real: Catalog, root: Path) -> None:
    bench = Bench(real, Path(), Lines(Console(quiet=True)))
    found = read_all(root)
    estimates = {name: KINDS[own.kind](bench).estimate_s(own, "smoke") for name, own in found.items()}
    assert sum(estimates.values()) < 15 * 60, estimates


def test_published_ceilings_explain_published_rows(real: Catalog, root: Path) -> None:
    """No published row of the laptop is above what waiting allows; the other machine's at 20 ms all are."""
    own = read_all(root)["hyper-delay"]
    for setting in settings(real, own, "full"):
        least = min(setting.ceilings.values())
        assert setting.row.published.get("goodput_rps", 0) <= least
        elsewhere = setting.row.published_elsewhere.get("4 cores, Win10")
        if elsewhere and setting.run.delay_ms == 20:
            assert elsewhere["goodput_rps"] > least


def test_rows_that_differ_in_the_delay_share_a_start(real: Catalog, root: Path) -> None:
    found = groups(settings(real, read_all(root)["hyper-delay"], "full"))
    assert {len(group) for group in found.values()} == {3}
    assert {group[0].run.delay_ms for group in found.values()} == {20}, (
        "the shortest is verified and warmed up"
    )


def test_usable_connections(real: Catalog, root: Path) -> None:
    found = {
        s.row.label: usable_connections(s)
        for s in settings(real, read_all(root)["sync-to-async-python"], "full")
    }
    assert found["sync Python, as published, 4 ms"] == 5
    assert found["async Python, as published, 4 ms"] == 20
    assert found["async Rust, equal, 15 ms"] == 20


# ---- the order of things ----


@dataclass
class FakeLab:
    """A laboratory in which a request takes its delay."""

    folder: Path
    cell: Cell
    done: list[str]
    odd: dict[int, Verdict]
    warm_up_took_s: float = 1.5

    def __getattr__(self, name: str) -> Any:
        def told(*_: object) -> list[Any]:
            self.done.append(name)
            return []

        return told

    def ask_for(self, cell: Cell, load_address: str) -> None:
        self.cell = cell
        self.done.append(f"ask for {cell.scenario.path}")

    def measure(self, load: str, seconds: int, rate_rps: int | None) -> Window:
        self.done.append(f"{load} {seconds} s")
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / "oha-closed.db", self.folder / "closed.sqlite")
        shutil.copy(FIXTURES / "oha-closed.json", self.folder / "closed.json")
        (self.folder / "psrecord.log").write_text("#\n 0.0 50.0 20.0\n")
        verdict = self.odd.get(sum(text.startswith("closed") for text in self.done), Verdict.OK)
        if verdict is Verdict.FAILED:
            raise TandemError("the closed window broke")
        found = [finding("void", "steal", "much steal")] if verdict is Verdict.VOID else []
        trip = DbRtt(setting=4, before_p50=4.5, during_p50=5.0, during_p90=6.0, samples=9)
        return good_window(
            duration_s=float(seconds), verdict=verdict, findings=found, db_rtt_ms=trip, bottleneck="app-cpu"
        )


@dataclass
class Fake(Session):
    """done: what was asked of the laboratory, in order; odd: verdict of the n-th window."""

    done: list[str] = field(default_factory=list)
    odd: dict[int, Verdict] = field(default_factory=dict)

    @contextmanager
    def stack(self, runs: Any, folder: Path) -> Iterator[None]:
        self.done.append("up")
        try:
            yield
        finally:
            self.done.append("down")

    def clean_up(self) -> None: ...

    def environment(self, prepared: Prepared) -> Environment:
        return good_environment()

    def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
        self.done.append(f"fresh {prepared.cell.implementation.name}")
        return cast(BenchLab, FakeLab(folder, prepared.cell, self.done, self.odd))


def waiting(delays: tuple[int, ...] = (20, 200)) -> Experiment:
    base = table()["rows"]
    rows = [
        {
            "label": f"threads {d}",
            "smoke": True,
            "run": {"implementation": "rust-sync", "delay_ms": d, "knobs": {"THREADS": "2"}},
        }
        for d in delays
    ]
    rows.append({"label": "alone", "run": {"implementation": "rust-hyper", "delay_ms": 20}, "smoke": True})
    return http(
        rows=rows,
        claims=[{"text": "t", "of": "alone", "to": "threads 20", "says": "same"}],
        sentence=base[0]["label"],
    )


def simulated(
    real: Catalog, tmp_path: Path, odd: dict[int, Verdict] | None = None
) -> tuple[HttpSession, list[str]]:
    done: list[str] = []

    class Here(Fake):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.done, self.odd = done, odd or {}

    return HttpSession(Bench(real, tmp_path, Lines(Console(quiet=True))), Here), done


def test_a_fresh_start_measures_all_delays_and_is_taken_down(real: Catalog, tmp_path: Path) -> None:
    session, done = simulated(real, tmp_path)
    found = session.run(waiting(), asked(plan="smoke"), resume=False)
    assert (done[0], done[-1]) == ("up", "down")
    starts = [done[n:] for n, text in enumerate(done) if text == "fresh rust-sync"]
    assert len(starts) == 2
    for start in starts:
        own = start[1 : start.index("stop") + 1]
        assert own[:4] == ["start", "wait_ready", "verify", "warm_up"]
        assert own[-2:] == ["collect", "stop"]
        assert sorted(own[4:-2:2]) == ["ask for /work?delay_ms=20", "ask for /work?delay_ms=200"]
        assert all(text.startswith("closed") for text in own[5:-2:2])
    assert done.count("fresh rust-hyper") == 2
    assert found.verdict is Verdict.OK
    row = found.rows[0]
    assert row.settings["THREADS"] == "2"
    assert row.ceilings == {"connections/delay": 5000.0, "threads/delay": 100.0}
    assert (row.bottleneck, row.figures["peak_cpu_percent"].mean) == ("app-cpu", 50.0)
    assert found.claims[0].verdict == "stands"
    [folder] = tmp_path.glob("*-reproduce-waiting-smoke")
    first = row.starts[0]
    assert first.raw is not None
    raw = folder / first.raw
    assert {"threads-20.window.json", "threads-20.txt", "threads-20.sqlite", "psrecord.log"} <= {
        f.name for f in raw.iterdir()
    }
    assert set(first.spent_s) == {
        "window",
        "last requests",
        "around the window",
        "fresh start",
        "warm-up",
        "stop",
    }
    assert first.spent_s["warm-up"] == pytest.approx(1.5 / 2), "with its last answers; two rows share it"


def test_a_void_window_is_repeated_alone_in_a_fresh_start(real: Catalog, tmp_path: Path) -> None:
    session, done = simulated(real, tmp_path, {1: Verdict.VOID})
    found = session.run(waiting(), asked(plan="smoke"), resume=False)
    assert sum(text.startswith("fresh") for text in done) == 5
    assert sum(text.startswith("closed") for text in done) == 7
    assert found.verdict is Verdict.OK
    assert sum(start.attempts == 2 for row in found.rows for start in row.starts) == 1


def test_what_was_measured_before_a_failure_counts(real: Catalog, tmp_path: Path) -> None:
    session, _ = simulated(real, tmp_path, {2: Verdict.FAILED, 3: Verdict.FAILED})
    found = session.run(waiting(), asked(plan="smoke"), resume=False)
    assert found.verdict is Verdict.FAILED
    assert sum(s.verdict is Verdict.OK for row in found.rows for s in row.starts) >= 3
    assert any("the closed window broke" in reason for reason in found.reasons)


def test_an_interruption_keeps_the_starts_and_takes_all_down(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, done = simulated(real, tmp_path)
    original, calls = session._measure, list[int]()

    def interrupted(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*given)

    monkeypatch.setattr(session, "_measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.run(waiting(), asked(plan="smoke"), resume=False)
    assert done[-1] == "down"
    kept = {file.name for file in tmp_path.glob("*/starts/*.json")}
    assert 2 <= len(kept) <= 4
    again, done = simulated(real, tmp_path)
    found = again.run(waiting(), asked(plan="smoke", seed=99), resume=True)
    assert (found.verdict, found.seed) == (Verdict.OK, 7)
    assert sum(text.startswith("fresh") for text in done) == 2

"""The kind `http`: windows, ceilings, figures, what is refused, and the order of things with a simulated laboratory."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from harness_experiments import asked, experiment, table
from harness_samples import PROPERTY, finding, good_window, make_rows
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tandem.catalog import Catalog
from tandem.cell import Cell
from tandem.errors import TandemError, UsageError
from tandem.lab import BenchLab
from tandem.live import Lines
from tandem.prepare import Prepared
from tandem.record import DbRtt, Environment, Verdict, Window
from tandem.reproduce.experiment import Experiment, ExperimentPlan, PlanName, read_all
from tandem.reproduce.http import HttpSession
from tandem.reproduce.http_figures import figures, oha_text, peaks, percentiles_ms, service_times
from tandem.reproduce.http_run import (
    HttpRun,
    timeout_s,
    trips_ceiling,
    trips_implied,
    waiting_ceilings,
    window_times,
)
from tandem.reproduce.http_setting import groups, settings, usable_connections
from tandem.reproduce.kinds import Bench
from tandem.session import Session

HYPER = ("hyper-delay", "hyper-payload")


def run(**changes: Any) -> HttpRun:
    fields = {"implementation": "rust-sync", "scenario": "work", "topology": "direct", "connections": 100}
    return HttpRun.model_validate({**fields, **changes})


# ---- windows ----

FULL = ExperimentPlan(starts=5, window_s=8, requests=10_000, cap_s=60)
SMOKE = ExperimentPlan(starts=2, window_s=3, cap_s=3)


@pytest.mark.parametrize(
    ("plan", "ceiling_rps", "delay_ms", "seconds", "measured_s"),
    [
        (FULL, 5000, 20, 8, 7.25),
        (FULL, 500, 200, 23, 19.8),
        (FULL, 100, 1000, 60, 56),
        (FULL, 2, 1000, 60, 56),
        (FULL, None, None, 8, 7.25),
        (SMOKE, 100, 1000, 5, 4),
        (SMOKE, 5000, 20, 3, 2.25),
    ],
)
def test_how_long_a_window_is(
    plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None, seconds: int, measured_s: float
) -> None:
    found = window_times(plan, ceiling_rps, delay_ms)
    assert (found.seconds, round(found.measured_s, 6)) == (seconds, measured_s)


@PROPERTY
@given(st.integers(50, 5000), st.integers(1, 60), st.floats(1, 5000))
def test_no_wave_of_a_long_delay_is_cut(delay_ms: int, window_s: int, ceiling_rps: float) -> None:
    plan = ExperimentPlan(starts=1, window_s=window_s, requests=10_000, cap_s=60)
    found, delay_s = window_times(plan, ceiling_rps, delay_ms), delay_ms / 1e3
    waves = found.measured_s / delay_s
    assert waves == pytest.approx(round(waves), abs=1e-6)
    assert round(waves) >= 3
    assert found.trim_start_s / delay_s % 1 == pytest.approx(0.5, abs=1e-6)
    assert found.trim_end_s >= 0.25 - 1e-9
    # Requests that all take the delay and 1 ms more: whatever the window, the rate is right.
    ends = np.concatenate([np.full(100, n * (delay_s + 1e-4)) for n in range(1, round(60 / delay_s) + 60)])
    inside = (ends >= found.trim_start_s) & (ends < found.seconds - found.trim_end_s)
    assert inside.sum() / found.measured_s == pytest.approx(100 / delay_s, rel=0.02 + 1.1e-4 / delay_s)


def test_ceilings_of_waiting() -> None:
    assert waiting_ceilings(run(delay_ms=20), 32) == {"connections/delay": 5000, "threads/delay": 1600}
    assert waiting_ceilings(run(delay_ms=20), None) == {"connections/delay": 5000}
    assert waiting_ceilings(run(delay_ms=0), 32) == {}
    assert waiting_ceilings(run(), 32) == {}


def test_ceilings_of_round_trips() -> None:
    published = run(db_rtt_ms=15, round_trips=10)
    [ceiling] = trips_ceiling(published, 20, 16.0).values()
    assert ceiling == pytest.approx(20 / (10 * 0.016))
    assert trips_implied(20, 16.0, ceiling) == pytest.approx(10)
    assert trips_ceiling(published, None, 16.0) == {}
    assert trips_ceiling(run(db_rtt_ms=15), 20, 16.0) == {}
    assert trips_implied(20, 16.0, 0.0) is None


def test_a_request_that_rightly_waits_is_given_the_time() -> None:
    assert timeout_s(100, 2.0) == 100
    assert timeout_s(100, 5000.0) == 10
    assert timeout_s(100, None) == 10


# ---- figures ----


def window_of(rate: float = 400.0) -> tuple[Window, Any]:
    start = np.arange(0, 30, 1 / rate)
    rows = make_rows(start, start + 0.005 + 0.001 * (np.arange(len(start)) % 10))
    window = good_window(goodput_rps=rate, good=len(start), requests=len(start))
    return window, service_times(rows, window, {1000}, 200, 2.0)


def test_figures_of_a_window() -> None:
    window, service_s = window_of()
    assert len(service_s) == pytest.approx(27 * 400, abs=5)
    found = figures(window, service_s)
    assert found["goodput_rps"] == 400
    assert found["p50_ms"] == pytest.approx(9.5, abs=0.6)
    assert found["p99_ms"] == pytest.approx(14, abs=0.1)
    assert found["anonymous_memory_mib"] == 50
    assert "peak_cpu_1s_percent" not in found, "what was not measured is left out"


def test_a_percentile_needs_samples_on_its_side() -> None:
    assert set(percentiles_ms(np.linspace(0, 1, 1000))) == {"p10_ms", "p25_ms", "p50_ms", "p75_ms", "p90_ms"}
    assert percentiles_ms(np.linspace(0, 1, 100)) == {}


def test_only_the_measured_part_counts() -> None:
    window = good_window()
    rows = make_rows([0.0, 3.0, 28.0], [1.9, 3.5, 29.5])
    assert list(service_times(rows, window, {1000}, 200, 2.0)) == [0.5]
    assert len(service_times(rows, window, {999}, 200, 2.0)) == 0


def test_the_text_in_the_style_of_the_documents() -> None:
    window, service_s = window_of()
    text = oha_text(window, service_s)
    lines = text.splitlines()
    assert "service times of the closed loop" in lines[0]
    assert "  Requests/sec:\t400.0000" in lines
    bins = [line for line in lines if "|" in line]
    assert len(bins) == 11
    counts = [int(line.split("[")[1].split("]")[0]) for line in bins]
    assert sum(counts) == len(service_s)
    assert "  50% in 0.0095 secs" in lines or "  50% in 0.0090 secs" in lines
    assert "no answer ended" in oha_text(window, service_s[:0])
    assert "|■" in oha_text(window, service_s[:1]), "one value is a histogram, too"


def test_the_peaks_of_a_log_as_published() -> None:
    log = "# Elapsed time   CPU (%)     Real (MB)\n       0.000        0.000      227.293\n      11.048       48.000      274.422\n      12.052       38.000      275.672\n"
    assert peaks(log) == {"peak_cpu_percent": 48.0, "peak_memory_mib": 275.672}
    assert peaks("# Elapsed time\n") == {}


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


@pytest.mark.parametrize("plan", ["smoke", "full"])
def test_the_repositorys_experiments_can_be_measured(real: Catalog, root: Path, plan: PlanName) -> None:
    for own in read_all(root).values():
        if own.kind == "http":
            found = settings(real, own, plan)
            assert [setting.row for setting in found] == own.measured(plan)
            for setting in found:
                assert setting.times.seconds >= 3 * (setting.run.delay_ms or 0) / 1e3


def test_smoke_of_all_is_cheap(real: Catalog, root: Path) -> None:
    session = HttpSession(Bench(real, Path(), Lines(Console(quiet=True))))
    estimates = {n: session.estimate_s(e, "smoke") for n, e in read_all(root).items() if e.kind == "http"}
    assert set(HYPER) <= set(estimates)
    assert sum(estimates.values()) < 8 * 60, estimates


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
    source: Path
    odd: dict[int, Verdict]

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
        shutil.copy(self.source / "oha-closed.db", self.folder / "closed.sqlite")
        shutil.copy(self.source / "oha-closed.json", self.folder / "closed.json")
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
    source: Path = Path(__file__).parent / "fixtures"

    @contextmanager
    def stack(self, runs: Any, folder: Path) -> Iterator[None]:
        self.done.append("up")
        try:
            yield
        finally:
            self.done.append("down")

    def clean_up(self) -> None: ...

    def environment(self, prepared: Prepared) -> Environment:
        return Environment(
            tandem_version="0",
            git_commit=None,
            git_dirty=None,
            host={},
            images={},
            versions={},
            knobs={},
            variables={},
        )

    def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
        self.done.append(f"fresh {prepared.cell.implementation.name}")
        return cast(BenchLab, FakeLab(folder, prepared.cell, self.done, self.source, self.odd))


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

"""tandem.capacity_session: the order of things, with a simulated server in place of containers."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from harness_samples import finding, good_environment, good_window
from rich.console import Console

from tandem import capacity_session
from tandem.capacity import parse_slo
from tandem.capacity_record import Capacity, report
from tandem.capacity_session import CapacitySession, estimate_s
from tandem.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab import BenchLab
from tandem.live import Lines
from tandem.prepare import Conditions, Prepared
from tandem.record import Environment, Times, Verdict, Window
from tandem.seconds import Responses


@dataclass
class FakeLab:
    folder: Path
    began_s: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return lambda *_: []


@dataclass
class Simulated(CapacitySession):
    """A server that holds `limit` requests per second. odd: findings of the n-th open window."""

    limit: float = 1000.0
    odd: dict[int, list[Any]] = field(default_factory=dict)
    rates: list[int] = field(default_factory=list)
    starts: int = 0
    down: bool = False

    @contextmanager
    def stack(self, runs: Any, folder: Path) -> Iterator[None]:
        try:
            yield
        finally:
            self.down = True

    def clean_up(self) -> None: ...

    def environment(self, prepared: Prepared) -> Environment:
        return good_environment()

    def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
        self.starts += 1
        return cast(BenchLab, FakeLab(folder))

    def closed(self, lab: BenchLab, seconds: int) -> Window:
        return good_window(goodput_rps=self.limit * 1.2)

    def _open(
        self, lab: BenchLab, rate_rps: int, seconds: int, settled: bool = True
    ) -> tuple[Window, Responses]:
        self.rates.append(rate_rps)
        over = rate_rps > self.limit
        scheduled = rate_rps * seconds
        good = int(scheduled * min(1.0, self.limit / rate_rps))
        p99 = 900.0 if over else 20.0
        assert lab.began_s is not None
        lab.began_s += seconds + 1.5
        found = self.odd.get(len(self.rates), [])
        window = good_window(
            "open",
            duration_s=float(seconds),
            offered_rps=rate_rps,
            scheduled=scheduled,
            good=good,
            unsent=scheduled - good,
            response_time_ms=Times(samples=10_000, mean=9, p50=8, p90=12, p99=p99, max=p99),
            goodput_rps=min(rate_rps, self.limit),
            findings=found,
            verdict=Verdict.VOID if any(f.severity == "void" for f in found) else Verdict.OK,
            bottleneck="database" if over else "offered-load",
        )
        due = np.arange(scheduled) / rate_rps
        return window, Responses(due, np.full(len(due), 0.9 if over else 0.02))


@pytest.fixture
def session(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Simulated:
    monkeypatch.setattr(capacity_session, "RECOVER_S", 0.0)
    monkeypatch.setattr(capacity_session, "BEFORE_AGAIN_S", 0.0)
    under = Conditions(real, "full", "shared", real.plans["capacity"], {})
    view = Lines(Console(quiet=True))
    return Simulated(under, real.scenarios["recipes"], tmp_path, view, 1, parse_slo("p99=50ms"), 60)


def run(session: Simulated) -> Capacity:
    return session.run(session.under.catalog.implementation("rust-async"))


def record(tmp_path: Path) -> Any:
    [file] = tmp_path.glob("*-capacity-rust-async-recipes/capacity.json")
    return json.loads(file.read_text())


def test_a_known_limit_is_found_confirmed_and_shown(session: Simulated, tmp_path: Path) -> None:
    found = run(session)
    assert found.verdict is Verdict.OK
    assert found.decided
    assert found.capacity_rps is not None
    assert found.refused_rps is not None
    assert found.capacity_rps <= 1000 <= found.refused_rps <= found.capacity_rps / 0.95 + 1
    assert (found.confirmed, found.fresh_starts, found.limited_by) == (5, 5, "database")
    assert len(found.search) <= 12
    assert session.starts == 1 + 5 + 1
    assert [load.share for load in found.behaviour] == [0.5, 0.75, 0.9, 1.1, 1.5]
    assert [load.recovery is not None for load in found.behaviour] == [False, False, False, True, True]
    last = found.behaviour[-1].recovery
    assert last is not None
    assert last.recovery_s == pytest.approx(last.gap_s)
    assert session.down
    assert record(tmp_path) == json.loads(found.model_dump_json())
    assert found.phases_s.keys() == {"start, warm up", "windows and around them", "stop"}
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report(found.model_copy(update={"phases_s": {"stop": 3.0, "start, warm up": 40.4}})))
    text = console.export_text()
    assert f"capacity {found.capacity_rps}/s: p99 <= 50 ms held at {found.capacity_rps}, not at" in text
    assert "5 of 5 fresh starts confirmed it" in text
    assert "after 150%: back within p99 <= 50 ms" in text
    assert "time: start, warm up 40 s, stop 3 s" in text


def test_a_void_probe_is_repeated_and_does_not_count(session: Simulated) -> None:
    session.odd = {2: [finding("void", "steal", "the hypervisor took 20 %")]}
    found = run(session)
    assert found.verdict is Verdict.OK
    assert session.rates[1] == session.rates[2]
    assert found.search[1].state == "void"


def test_two_void_probes_void_the_session(session: Simulated, tmp_path: Path) -> None:
    steal = [finding("void", "steal", "the hypervisor took 20 %")]
    session.odd = {2: steal, 3: steal}
    found = run(session)
    assert (found.verdict, found.capacity_rps, len(session.rates)) == (Verdict.VOID, None, 3)
    assert "disturbed the probe" in found.reasons[0]
    assert record(tmp_path)["verdict"] == "void"


def test_a_generator_that_stalls_twice_is_the_limit(session: Simulated) -> None:
    session.limit = 10_000.0
    stall = [finding("void", "generator-stalled", "the generator was 400 ms late")]
    session.odd = dict.fromkeys((2, 3), stall)
    found = run(session)
    assert found.search[2].state == "failed"
    assert "cannot offer" in found.search[2].reasons[-1]


def test_an_unconfirmed_edge_goes_down_and_then_gives_up(session: Simulated) -> None:
    class Worse(Simulated):
        """A search's start is luckier than the others."""

        def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
            self.limit = 1000.0 if self.starts == 0 else 700.0
            return super().lab(prepared, folder)

    worse = Worse(
        session.under, session.scenario, session.results, session.view, 1, session.slo, session.longest_s
    )
    found = run(worse)
    assert (found.verdict, found.capacity_rps, found.behaviour) == (Verdict.INVALID, None, [])
    first, last = found.confirmations[0].rate_rps, found.confirmations[-1].rate_rps
    assert last == int(first * 0.95)
    assert len(found.confirmations) == 4
    assert "did not hold" in found.reasons[0]


def test_wrong_answers_end_it_and_what_was_found_is_kept(session: Simulated, tmp_path: Path) -> None:
    session.odd = {4: [finding("invalid", "wrong-body", "not golden")]}
    with pytest.raises(TandemError, match="not golden"):
        run(session)
    kept = record(tmp_path)
    assert (kept["verdict"], len(kept["search"])) == ("failed", 3)
    assert session.down


def test_too_slow_for_the_percentile_is_said(session: Simulated) -> None:
    session.limit = 100.0
    with pytest.raises(TandemError, match="p99 needs 10,000 samples: at 60/s"):
        run(session)


def test_the_time_budget(real: Catalog) -> None:
    short, long = estimate_s(real.plans["capacity"], 60)
    assert 300 < short < long < 1800

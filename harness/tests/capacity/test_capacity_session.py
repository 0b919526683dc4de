"""tandem.capacity.session: the order of things, with a simulated server in place of containers."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from harness_capacity import Simulated, simulated
from harness_samples import finding
from rich.console import Console

from tandem.capacity import session as capacity_session
from tandem.capacity.record import Capacity, report
from tandem.capacity.session import estimate_s
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.record.window import Verdict


@pytest.fixture
def session(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Simulated:
    monkeypatch.setattr(capacity_session, "RECOVER_S", 0.0)
    monkeypatch.setattr(capacity_session, "BEFORE_AGAIN_S", 0.0)
    return simulated(real, tmp_path)


def run(session: Simulated) -> Capacity:
    return session.run(resume=False)


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

    worse = simulated(session.under.catalog, session.results, Worse)
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

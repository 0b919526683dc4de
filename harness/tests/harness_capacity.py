"""A capacity study with a simulated server in place of containers."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness_engine import FakeFloor, FakeLab, request, session
from harness_places import ROOT
from harness_samples import answered, finding, good_window
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.judge import judge
from tandem.judge.by_second import by_second, growth
from tandem.lab.live import View
from tandem.record.request import Request
from tandem.record.result import Result
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Finding, Times, Window
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.capacity.study import Capacity

LABEL = "rust-async"


@dataclass
class Simulated(FakeLab):
    """A laboratory whose server holds `limit` requests per second.

    odd: trial/window -> its findings; trial -> those of its answers before the load. rates: of the open windows, as
    they were made.
    """

    limit: float = 1000.0
    odd: dict[str, list[Finding]] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    """Trial -> its own limit."""
    ceilings_rps: dict[str, float] = field(default_factory=dict)
    stops_at: int | None = None
    """Instead of the window after so many."""
    stops_with: type[BaseException] = KeyboardInterrupt
    made: list[str] = field(default_factory=list)
    """trial/window"""
    rates: list[int] = field(default_factory=list)
    slept: dict[str, float] = field(default_factory=dict)
    """trial/window before which there was a rest -> its seconds."""

    def floor(self, spec: TrialSpec, number: int) -> FakeFloor:
        verified = self.odd.get(spec.key, [])
        return SimulatedFloor(self._window, takes_s={}, now_s=1_000_000.0, verified=verified, lab=self)

    def _window(self, trial: TrialSpec, spec: WindowSpec) -> Window:
        name, [label] = f"{trial.key}/{spec.name}", spec.variants
        if self.stops_at == len(self.made):
            raise self.stops_with
        self.made.append(name)
        found = self.odd.get(name, [])
        fields: dict[str, Any] = {"findings": found, "verdict": judge.verdict(found)}
        if label.startswith("ceiling "):
            fields["goodput_rps"] = self.ceilings_rps.get(label.removeprefix("ceiling "), 0.0)
        elif spec.load == "closed":
            fields["goodput_rps"] = self.limit * 1.2
        else:
            self.rates.append(spec.rates_rps[label])
            fields |= open_loop(spec, self.limits.get(trial.key, self.limit))
        return good_window(spec.load, duration_s=float(spec.seconds), **fields)


@dataclass
class SimulatedFloor(FakeFloor):
    """One fresh start of the server."""

    lab: Simulated = field(default_factory=Simulated)
    slept_s: float = 0.0

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.slept_s = seconds

    def measure(self, spec: WindowSpec) -> WindowRecord:
        if self.slept_s:
            self.lab.slept[f"{self.visited.key}/{spec.name}"], self.slept_s = self.slept_s, 0.0
        self.now_s += 1.5
        record = super().measure(spec)
        if spec.freeze_s:
            [began_s] = record.began_s.values()
            record.frozen_s = [began_s + spec.seconds / 4, began_s + spec.seconds / 4 + spec.freeze_s]
        return record


def open_loop(spec: WindowSpec, limit: float) -> dict[str, Any]:
    """The fields of a window of a server with this limit."""
    [rate_rps] = spec.rates_rps.values()
    over, scheduled = rate_rps > limit, rate_rps * spec.seconds
    good = int(scheduled * min(1.0, limit / rate_rps))
    p99 = 900.0 if over else 20.0
    return {
        **in_time(rate_rps, spec.seconds, spec.trim_start_s, spec.seconds - spec.trim_end_s, p99 / 1e3),
        "offered_rps": rate_rps,
        "scheduled": scheduled,
        "good": good,
        "unsent": scheduled - good,
        "response_time_ms": Times(samples=10_000, mean=9, p50=8, p90=12, p99=p99, max=p99),
        "goodput_rps": min(rate_rps, limit),
        "bottleneck": "database" if over else "offered-load",
    }


@cache
def in_time(rate_rps: int, seconds: int, from_s: float, to_s: float, response_s: float) -> dict[str, Any]:
    """The fields of an open window that follow from when each answer came, where all took as long."""
    due = np.arange(rate_rps * seconds) / rate_rps
    responses = answered(due, np.full(len(due), response_s))
    return {"growth": growth(responses, from_s, to_s), "responses_per_second": by_second(responses, seconds)}


VOID = [finding("void", "steal", "the hypervisor took 20 %")]
STALL = [finding("void", "generator-stalled", "the generator was 400 ms late")]
WRONG = [finding("invalid", "wrong-body", "not golden")]


def asked(results: Path, ceilings: bool = False, **changes: Any) -> Request:
    """With the plan `capacity`, with or without a look at the ceilings."""
    text = (ROOT / "loadgen/plans/capacity.toml").read_text()
    file = results / ("ceilings.toml" if ceilings else "capacity.toml")
    results.mkdir(parents=True, exist_ok=True)
    file.write_text(text if ceilings else text.replace("ceilings = true", "ceilings = false"))
    fields: dict[str, Any] = {
        "study": "capacity",
        "plan": str(file),
        "options": {"slo": "p99=50ms", "longest_s": 60},
        **changes,
    }
    return request(**fields)


def search(
    catalog: Catalog,
    results: Path,
    lab: Simulated,
    resume: bool = False,
    ceilings: bool = False,
    console: Console | None = None,
    **changes: Any,
) -> tuple[Result[CapacityFound], list[Trial]]:
    """Runs the whole study. changes: of the request."""
    engine = session(catalog, results, lab, View(console or Console(quiet=True)))
    result, journal = run(Capacity, asked(results, ceilings, **changes), engine, resume)
    return result, journal.trials()

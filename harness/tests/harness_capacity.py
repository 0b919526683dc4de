"""A capacity session with a simulated server in place of containers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from harness_samples import good_environment, good_window
from rich.console import Console

from tandem.capacity.journal import Asked
from tandem.capacity.search import parse_slo
from tandem.capacity.seconds import Responses
from tandem.capacity.session import CapacitySession
from tandem.catalog.catalog import Catalog
from tandem.lab.live import Lines
from tandem.old.lab import BenchLab
from tandem.old.prepare import Conditions, Prepared
from tandem.old.run import Environment
from tandem.record.window import Times, Verdict, Window


@dataclass
class FakeLab:
    folder: Path
    began_s: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return lambda *_: []


@dataclass
class Simulated(CapacitySession):
    """A server that holds `limit` requests per second.

    odd: findings of the n-th open window. rates: of the open windows, as they were made.
    """

    limit: float = 1000.0
    odd: dict[int, list[Any]] = field(default_factory=dict)
    rates: list[int] = field(default_factory=list)
    stops_at: int | None = None
    """Instead of the open window after so many; -1: instead of the closed one."""
    stops_with: type[BaseException] = KeyboardInterrupt
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
        if self.stops_at == -1:
            raise self.stops_with
        return good_window(goodput_rps=self.limit * 1.2)

    def open(
        self, lab: BenchLab, rate_rps: int, seconds: int, settled: bool = True
    ) -> tuple[Window, Responses]:
        if self.stops_at == len(self.rates):
            raise self.stops_with
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


def asked(**changes: object) -> Asked:
    fields: dict[str, object] = {
        "implementation": "rust-async",
        "scenario": "recipes",
        "topology": "full",
        "placement": "shared",
        "plan": "capacity",
        "knobs": {},
        "slo": parse_slo("p99=50ms"),
        "longest_s": 60,
        "db_rtt_ms": None,
        "seed": 1,
    }
    return Asked.model_validate({**fields, **changes})


def simulated(
    catalog: Catalog,
    results: Path,
    kind: type[Simulated] = Simulated,
    ceilings: bool = False,
    **changes: Any,
) -> Simulated:
    """changes: of the simulation."""
    plan = catalog.plans["capacity"].model_copy(update={"ceilings": ceilings})
    under = Conditions(catalog, "full", "shared", plan, {})
    view = Lines(Console(quiet=True))
    return kind(under, catalog.scenarios["recipes"], results, view, 1, asked(), **changes)

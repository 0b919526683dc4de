"""Measures the ceilings and the implementations in one session, interleaved."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from tandem.catalog.scenario import Scenario
from tandem.ceiling.around import Around
from tandem.ceiling.ceiling import MEANINGS, Ceilings, Rounds
from tandem.errors import TandemError, UsageError
from tandem.old.fresh import accepted
from tandem.old.prepare import Conditions, Prepared
from tandem.old.session import Session, folder_for
from tandem.old.store import write_atomically

EQUAL_LOAD = 0.5
"""The equal offered load is this share of the slowest implementation's goodput."""


@dataclass
class CeilingSession(Session):
    """One run of `tandem ceiling`. under.plan: its warm-up and window are used, its trials are the rounds."""

    _rounds: Rounds = field(default_factory=Rounds)
    _rate: int | None = None

    def run(self, names: list[str]) -> Ceilings:
        """Measures the ceilings and the implementations, interleaved. Raises UsageError, TandemError."""
        catalog, started = self.under.catalog, self.now()
        implementations = [catalog.implementation(name) for name in names]
        self.under.check(self.scenario.name, implementations)
        folder = folder_for(self.results, f"ceiling-{self.scenario.name}", started)
        self.clean_up()
        around = Around(self, folder)
        runs = [
            self.under.prepare(i, self.scenario, folder / i.name.replace("/", "-")) for i in implementations
        ]
        with self.stack([around.null, *runs], folder):
            for number in range(1, self.under.plan.trials + 1):
                self._round(number, around, runs, folder)
            report = self._report(started, names)
            write_atomically(folder / "ceiling.json", report.model_dump_json(indent=1) + "\n")
        return report

    def _report(self, started: datetime, names: list[str]) -> Ceilings:
        rounds = self._rounds
        return Ceilings(
            started_at=started,
            scenario=self.scenario.name,
            topology=self.under.topology,
            placement=self.under.placement,
            rounds=self.under.plan.trials,
            window_s=self.under.plan.closed_s,
            seed=self.seed,
            equal_load_rps=self._rate,
            ceilings={n: rounds.figure(n) for n in MEANINGS if n in rounds.rates or n in rounds.refused},
            implementations={name: rounds.row(name) for name in names},
        )

    # ---- what is measured ----

    def _round(self, number: int, around: Around, runs: list[Prepared], folder: Path) -> None:
        steps: list[tuple[str, Callable[[], float]]] = list(around.steps().items())
        for prepared in runs:
            name = prepared.cell.implementation.name
            steps.append((name, partial(self._visit, name, prepared, folder, number)))
        random.Random(f"{self.seed} {number}").shuffle(steps)
        for name, step in steps:
            self.view.trial(f"round {number} of {self.under.plan.trials}: {name}")
            try:
                value = step()
            except TandemError as error:
                self._rounds.refused.setdefault(name, []).append(f"round {number}: {error}")
                self.view.note(f"  {name}: {error}")
                continue
            self._rounds.rates.setdefault(name, {})[number] = value
            self.view.note(f"  {name}: {value:,.0f}/s")
        if self._rate is None:
            slowest = min(
                (self._rounds.rates.get(p.cell.implementation.name, {}).get(number, 0.0) for p in runs),
                default=0.0,
            )
            self._rate = int(slowest * EQUAL_LOAD) or None

    def _visit(self, name: str, prepared: Prepared, folder: Path, number: int) -> float:
        """A fresh start; returns the goodput. From the second round on also the cost at the equal load."""
        plan = self.under.plan
        with self.fresh(prepared, folder / name.replace("/", "-") / f"round-{number}") as lab:
            closed = accepted(lab.measure("closed", plan.closed_s, None))
            self._rounds.bottlenecks.setdefault(name, []).append(closed.bottleneck)
            if self._rate is not None:
                opened = accepted(lab.measure("open", plan.open_s, self._rate))
                if opened.app_cpu_us_per_request is not None:
                    self._rounds.costs.setdefault(name, []).append(opened.app_cpu_us_per_request)
            return closed.goodput_rps


def supporting(under: Conditions, scenario: Scenario, asked: list[str] | None) -> list[str]:
    """The implementations to measure: those asked for, or all that support the scenario. Raises UsageError for none."""
    names = asked or [
        n for n, i in under.catalog.implementations.items() if scenario.name not in i.unsupported.scenarios
    ]
    if not names:
        raise UsageError(f"no implementation supports {scenario.name}")
    return names

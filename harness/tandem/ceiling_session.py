"""Measures the ceilings and the implementations in one session, interleaved."""

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from tandem import pgbench
from tandem.ceiling import DATABASE, MEANINGS, NULL, PROXY, Ceilings, Rounds
from tandem.cell import Cell
from tandem.client import session_key
from tandem.errors import TandemError, UsageError
from tandem.fresh import accepted
from tandem.golden import Exact, read_answers
from tandem.prepare import Conditions, Prepared
from tandem.scenario import Answer, Scenario
from tandem.session import Session, folder_for
from tandem.store import write_atomically

NULL_IMPLEMENTATION = "rust-hyper"
PROXY_BODIES = ("index.html", "dashboard-1.json", "recipe-1.json")
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
        null = self.under.prepare(
            catalog.implementation(NULL_IMPLEMENTATION), self._null_scenario(), folder / "null"
        )
        runs = [
            self.under.prepare(i, self.scenario, folder / i.name.replace("/", "-")) for i in implementations
        ]
        with self.stack([null, *runs], folder):
            for number in range(1, self.under.plan.trials + 1):
                self._round(number, null, runs, folder)
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

    def _round(self, number: int, null: Prepared, runs: list[Prepared], folder: Path) -> None:
        proxy = replace(null, cell=self._proxy_cell(null.cell))
        steps: list[tuple[str, Callable[[], float]]] = [
            (PROXY, partial(self._visit, PROXY, proxy, folder, number)),
            (NULL, partial(self._visit, NULL, null, folder, number)),
        ]
        if self.scenario.statements:
            steps.append((DATABASE, partial(self._database, null, folder)))
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
            if name not in MEANINGS:
                self._rounds.bottlenecks.setdefault(name, []).append(closed.bottleneck)
                if self._rate is not None:
                    opened = accepted(lab.measure("open", plan.open_s, self._rate))
                    if opened.app_cpu_us_per_request is not None:
                        self._rounds.costs.setdefault(name, []).append(opened.app_cpu_us_per_request)
            return closed.goodput_rps

    def _database(self, null: Prepared, folder: Path) -> float:
        assert self.scenario.session_user is not None
        stack, plan, file = null.stack, self.under.plan, folder / DATABASE / "script.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        cpuset = stack.variables.get("APP_CPUSET", "")
        clients, key = int(null.knobs["DB_POOL_MAX"]), session_key(self.scenario.session_user)
        stack.stop("app", grace_s=1)  # pgbench takes its place
        stack.execute("db", ["reset"])
        for seconds in (plan.warm_up_s, plan.closed_s):
            result = pgbench.run(stack, self.scenario, key, clients, cpuset, seconds, file)
        if result.failed:
            raise TandemError(f"{result.failed} transactions of pgbench failed")
        return result.transactions_per_s

    # ---- what stands in for the application ----

    def _body_bytes(self) -> int:
        contract = self.under.catalog.root / "contract"
        return int(statistics.median(read_answers(self.scenario, contract).lengths()))

    def _null_scenario(self) -> Scenario:
        size = self._body_bytes()
        return Scenario(
            name=NULL,
            stresses=MEANINGS[NULL],
            path=f"/null/{size}",
            connections=self.scenario.connections,
            statements=[],
            answer=Answer(text="x" * size),
        )

    def _proxy_cell(self, cell: Cell) -> Cell:
        golden, size = self.under.catalog.root / "contract/golden", self._body_bytes()
        bodies = {name: (golden / name).read_bytes() for name in PROXY_BODIES}
        name = min(bodies, key=lambda name: abs(len(bodies[name]) - size))
        scenario = cell.scenario.model_copy(update={"name": PROXY, "path": f"/{name}"})
        return replace(
            cell, scenario=scenario, answers=Exact(bodies[name]), load_address="proxy:8081", proxied=False
        )


def supporting(under: Conditions, scenario: Scenario, asked: list[str] | None) -> list[str]:
    """The implementations to measure: those asked for, or all that support the scenario. Raises UsageError for none."""
    names = asked or [
        n for n, i in under.catalog.implementations.items() if scenario.name not in i.unsupported.scenarios
    ]
    if not names:
        raise UsageError(f"no implementation supports {scenario.name}")
    return names

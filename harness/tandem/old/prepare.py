"""What every measuring command does first: one at a time on this host, images built, the stack up."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tandem.catalog.catalog import Catalog, Implementation, Plan
from tandem.catalog.golden import read_answers
from tandem.catalog.placement import cpus_in
from tandem.catalog.ranges import expand
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE, Host
from tandem.lab.programs import identity, keep
from tandem.lab.readiness import await_services
from tandem.lab.stack import BENCH_PROJECT, Stack, build_side_by_side, other_campaigns, remove_leftovers
from tandem.old.cell import Cell
from tandem.old.run import Environment
from tandem.probes.postgres import read_queries
from tandem.probes.toxiproxy import PROXIED_PORT

SHARED = ["db", "pgbouncer", "proxy", "loadgen"]
"""The services that stay up from the first visit to the last."""
FAULTS = "faults"
"""The latency proxy, which does so where it was asked for."""
DEFAULT_TOPOLOGY = "full"
TOLD_FROM_S = 5.0
"""Builds that come from the cache are not worth a line."""

Note = Callable[[str], None]


@dataclass
class Prepared:
    """An implementation under a scenario, ready for its visits."""

    name: str
    cell: Cell
    stack: Stack
    knobs: dict[str, str]
    environment: Environment | None = None


@dataclass(frozen=True)
class Conditions:
    """Under what everything of one command runs."""

    catalog: Catalog
    topology: str
    placement: str
    plan: Plan
    knobs: dict[str, str]
    db_rtt_ms: int | None = None
    """How far the database is away; None: no latency proxy in the path."""
    limits: dict[str, str] = field(default_factory=dict)
    """Limits of the shared services, by the names that compose/stack.yaml gives them."""
    host: Host = field(default=HERE, repr=False, compare=False)
    """Where the stack runs."""

    def with_knobs(self, knobs: dict[str, str]) -> "Conditions":
        """The same with further knobs, which win."""
        return replace(self, knobs={**self.knobs, **knobs})

    def check(self, scenario: str, implementations: list[Implementation]) -> None:
        """Raises UsageError for names that do not exist or do not fit together, or this host."""
        self.catalog.pick("scenario", scenario, self.catalog.scenarios)
        self.catalog.pick("topology", self.topology, self.catalog.topologies)
        placement = self.catalog.pick("placement", self.placement, self.catalog.placements)
        have = self.host.cpus
        highest = max((cpu for cpuset in placement.variables.values() for cpu in expand(cpuset)), default=-1)
        if highest >= have:
            raise UsageError(
                f"the placement {self.placement} needs {highest + 1} CPUs and this host has {have}"
            )
        if self.db_rtt_ms is not None and not self.catalog.scenarios[scenario].statements:
            raise UsageError(f"{scenario} never asks the database: leave --db-rtt out, or take recipes")
        for implementation in implementations:
            if scenario in implementation.unsupported.scenarios:
                reason = implementation.unsupported.scenarios[scenario]
                raise UsageError(f"{implementation.name} does not support {scenario}: {reason}")
            self.catalog.effective_knobs(implementation, have, self.knobs)

    def prepare(
        self, implementation: Implementation, scenario: Scenario, folder: Path, slot: str | None = None
    ) -> Prepared:
        """The cell and its stack. folder: where `compose.env` goes. slot: of one application among several."""
        catalog = self.catalog
        topology = catalog.topologies[self.topology].variables
        placement = catalog.placements[self.placement].variables
        app_cpus = cpus_in(placement.get("APP_CPUSET", "")) or self.host.cpus
        knobs = catalog.effective_knobs(implementation, app_cpus, self.knobs)
        variables = {
            **topology,
            **placement,
            **knobs,
            **self.limits,
            "IMPL": implementation.name,
            "FAULT": os.environ.get("FAULT", ""),
            "HTTP_PORT": "0",  # any free port: nothing here goes through it
            "STATS_PORT": "0",
            "HEALTH_INTERVAL": "1h",  # the harness asks each service itself; no check runs in a window
        }
        if self.db_rtt_ms is not None:
            variables |= {"DATABASE_ADDRESS": f"{FAULTS}:{PROXIED_PORT}", "DB_RTT_MS": str(self.db_rtt_ms)}
        stack = Stack(catalog.root, BENCH_PROJECT, variables, folder / "compose.env", slot)
        return Prepared(folder.name, self.cell(implementation, scenario, knobs), stack, knobs)

    def cell(self, implementation: Implementation, scenario: Scenario, knobs: dict[str, str]) -> Cell:
        """What a visit is about. knobs: the effective ones."""
        root = self.catalog.root
        topology = self.catalog.topologies[self.topology].variables
        load_address = topology["LOAD_ADDRESS"]
        workers = int(knobs.get("WORKERS") or 1)
        threads = int(knobs["THREADS"]) if implementation.model == "sync" and knobs.get("THREADS") else None
        pool = int(knobs["DB_POOL_MAX"])
        return Cell(
            implementation=implementation,
            scenario=scenario,
            plan=self.plan,
            workers=workers,
            handler_threads=None if threads is None else workers * threads,
            db_pool_usable=None if not scenario.statements else min(pool, workers * (threads or pool)),
            resets=knobs.get("DB_RESET") == "1",
            time_zone=knobs.get("DB_TIME_ZONE") == "request",
            load_address=load_address,
            admitted=int(self.limits["APP_MAXCONN"]) if "APP_MAXCONN" in self.limits else None,
            proxied=load_address.startswith("proxy"),
            answers=read_answers(scenario, root / "contract"),
            queries=read_queries(root / "contract/sql/queries"),
            database_address=topology["DATABASE_ADDRESS"],
            db_rtt_ms=self.db_rtt_ms,
        )


def refuse_or_clean_up(root: Path, results: Path, note: Note) -> None:
    """Raises TandemError while something else measures; removes what a killed command left behind."""
    others = other_campaigns(HERE)
    if others:
        raise TandemError(
            f"another campaign is measuring (container {others[0]}): two at once would measure each other."
            f" Wait for it, or end it with: docker stop {others[0]}"
        )
    if remove_leftovers(root, results / ".leftovers.env"):
        note("removed the containers of a campaign that was killed")


def shared(stack: Stack) -> list[str]:
    """The services that stay up, for this stack."""
    return [*SHARED, FAULTS] if stack.variables["DATABASE_ADDRESS"].startswith(FAULTS) else SHARED


def build(runs: list[Prepared], note: Note, folder: Path | None = None) -> None:
    """Builds the shared images and those of the runs, side by side. folder: that of their measurements, which keeps
    what programs they are. Raises TandemError if one does not build, or is not the program that the folder knows."""
    began = time.monotonic()
    jobs = {service: (runs[0].stack, service) for service in shared(runs[0].stack)}
    jobs |= {prepared.cell.implementation.name: (prepared.stack, "app") for prepared in runs}
    note(f"images: building what is new of {', '.join(jobs)} (the first time this takes minutes)")

    def built(name: str, seconds: float) -> None:
        if seconds >= TOLD_FROM_S:
            note(f"  {name}: {seconds:.0f} s")

    build_side_by_side(jobs, built)
    if folder is not None:
        keep(folder, {name: identity(stack.image(service)) for name, (stack, service) in jobs.items()})
    note(f"images: ready in {time.monotonic() - began:.0f} s, built side by side")


def start(stack: Stack, note: Note) -> None:
    """Starts the shared services and waits until each answers."""
    began = time.monotonic()
    stack.start(shared(stack))
    await_services(stack, shared(stack))
    note(f"stack: ready in {time.monotonic() - began:.1f} s")

"""Makes a variant of a request ready to be started: its case, its settings, its Compose project. Starts nothing."""

import math
import os
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.golden import Exact, read_answers
from tandem.catalog.placement import cpus_in, fitted
from tandem.catalog.scenario import Answer, Scenario
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.hosts.host import Host
from tandem.lab.case import VisitCase
from tandem.lab.sites import ALONE, APP, FAULTS, Route, Sites, written
from tandem.lab.stack import BENCH_PROJECT, GUNICORN, GUNICORN_PATIENCE, Stack
from tandem.load.generator import OHA
from tandem.load.generators import GENERATORS
from tandem.load.shares import roles
from tandem.probes.data_changes import tables_in
from tandem.probes.haproxy import FRONTS
from tandem.probes.postgres import read_queries, read_texts
from tandem.probes.toxiproxy import PROXIED_PORT
from tandem.record.request import Build, Request, Variant

BUILDS: dict[Build, dict[str, str]] = {"debug": {"VARIANT": "-debug", "PROFILE": "dev"}}
"""Variables of compose/stack.yaml for a build other than the release build."""
DEFAULT_TOPOLOGY = "full"
PROXY_ANSWERS = "proxy:8081"
"""Address at which HAProxy answers by itself, with one of PROXY_BODIES."""
PROXY_BODIES = ("index.html", "dashboard-1.json", "recipe-1.json")
ADMITTED_PER_CONNECTION = 2
"""HAProxy lets in twice the requests that the pool has connections for: enough that each finds the next one ready, and the
others queue in the proxy. https://www.haproxy.com/blog/play_with_maxconn_avoid_server_slowness_or_crash"""


@dataclass
class Prepared:
    """A variant, ready for its visits."""

    variant: Variant
    case: VisitCase
    stack: Stack

    @property
    def program(self) -> str:
        """Name of what is built: the implementation, and which build of it."""
        build, tag = self.variant.build, self.variant.tag
        return self.case.implementation.name + (f"-{build}" if build else "") + (f"@{tag}" if tag else "")


@dataclass(frozen=True)
class VariantConditions:
    """The conditions that one variant of a request runs under: the request's, with what the variant says otherwise."""

    catalog: Catalog
    request: Request
    variant: Variant
    sites: Sites = ALONE

    @property
    def topology(self) -> str:
        return self.variant.topology or self.request.conditions.topology

    @property
    def addresses(self) -> dict[str, str]:
        """The variables of its topology."""
        return self.catalog.topologies[self.topology].variables

    @property
    def contract(self) -> Path:
        """The folder of the right answers."""
        return self.catalog.root / "contract"

    @property
    def placement(self) -> str:
        return self.variant.placement or self.request.conditions.placement

    @property
    def db_rtt_ms(self) -> int | None:
        own = self.variant.db_rtt_ms
        return self.request.conditions.db_rtt_ms if own is None else own

    @cached_property
    def implementation(self) -> Implementation:
        """Raises UsageError for a name that does not exist."""
        return self.catalog.implementation(self.variant.implementation)

    @property
    def settings(self) -> dict[str, str]:
        """The settings that were chosen. A stand-in has no database, so those that are about one are the applications' alone."""
        none = self.implementation.unsupported.settings if self.variant.stand_in is not None else {}
        every = {**self.request.settings, **self.variant.settings}
        return {name: value for name, value in every.items() if name not in none}

    def effective_settings(self) -> dict[str, str]:
        """The settings that the application gets. Raises UsageError for what it cannot have."""
        found = self.catalog.effective_settings(self.implementation, self.app_cpus, self.settings)
        if self.variant.stand_in == "database":  # pgbench has as many connections as the applications
            found["DB_POOL_MAX"] = self.request.settings.get("DB_POOL_MAX", found["DB_POOL_MAX"])
        return found

    @property
    def app_cpus(self) -> int:
        """CPUs that the application has."""
        placement = self.catalog.pick("placement", self.placement, self.catalog.placements).variables
        cpuset = (placement | self.sites.settings() | self.variant.variables).get("APP_CPUSET", "")
        return cpus_in(cpuset) or self.sites.of("app").host.cpus

    @property
    def route(self) -> Route:
        """Addresses that the generator and the application ask."""
        far = f"{FAULTS}:{PROXIED_PORT}" if self.db_rtt_ms is not None else None
        return self.addresses["LOAD_ADDRESS"], far or self.addresses["DATABASE_ADDRESS"]


def scenario_of(catalog: Catalog, request: Request, variant: Variant) -> Scenario:
    """The variant's scenario with its changes. Raises UsageError for a name or a field that does not exist."""
    base = catalog.scenario(variant.scenario or request.scenario)
    return changed(base, variant.scenario_changes)


def changed(scenario: Scenario, changes: dict[str, object]) -> Scenario:
    """A scenario with changes laid over it. Raises UsageError for a field or a value that it cannot have."""
    for name in changes:
        if name not in Scenario.model_fields:
            raise UsageError(f"a scenario has no field '{name}'")
    try:
        return scenario.with_changes(changes)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"the scenario's {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def check(catalog: Catalog, request: Request, variants: Sequence[Variant], sites: Sites = ALONE) -> None:
    """Raises UsageError for names that do not exist or do not fit together, or this host, or the lab's."""
    for variant in variants:
        conditions = VariantConditions(catalog, request, variant, sites)
        catalog.pick("topology", conditions.topology, catalog.topologies)
        placement = catalog.pick("placement", conditions.placement, catalog.placements)
        if not request.conditions.lab:
            fitted(placement, HERE.topology())
        scenario = scenario_of(catalog, request, variant)
        front = FRONTS.get(conditions.addresses["LOAD_ADDRESS"])
        if front and front.encrypted and (scenario.idle_connections or request.conditions.lab):
            what = f"the silent connections of {scenario.name}" if scenario.idle_connections else "a lab"
            raise UsageError(f"topology {conditions.topology}: {what} cannot have TLS: use full")
        if scenario.connections < (generators := request.conditions.generators):
            raise UsageError(
                f"{scenario.name} has {scenario.connections} connections, which cannot be dealt out to"
                f" {generators} generators: use fewer generators"
            )
        if variant.stand_in is not None:
            continue
        if conditions.db_rtt_ms is not None and not scenario.statements:
            raise UsageError(f"{scenario.name} never asks the database: leave out --db-rtt, or take recipes")
        implementation = conditions.implementation
        for name in (scenario.name, *(part.name for part in scenario.parts)):
            if reason := implementation.unsupported.scenarios.get(name):
                raise UsageError(f"{implementation.name} does not support {name}: {reason}")
        conditions.effective_settings()


def own_queries(catalog: Catalog, implementation: Implementation) -> dict[str, str]:
    """The statements of a program that has its own: normalised text -> name. Raises UsageError where it leaves out one of the
    contract's, or has a text that reads none of its tables."""
    known = read_texts(catalog.root / "contract/sql/queries")
    folder = catalog.root / implementation.name / "sql"
    for name, own in implementation.statements.items():
        asked = catalog.scenario(name).statements
        if left := [one for one in asked if one not in own]:
            raise UsageError(f"{implementation.name}/bench.toml: [statements] {name} leaves out {left[0]}")
    for file, text in read_texts(folder).items():
        tables = tables_in([known.get(file.partition(".")[0], "")])
        if not tables & tables_in([text]):
            among = " or ".join(sorted(tables)) or "any table: the contract has no such statement"
            raise UsageError(f"{implementation.name}/sql/{file}.sql does not read {among}")
    return read_queries(folder)


def case_of(conditions: VariantConditions, scenario: Scenario) -> VisitCase:
    """The case of a visit."""
    contract, implementation = conditions.contract, conditions.implementation
    settings, salt = conditions.effective_settings(), conditions.request.salt
    queries, addresses = contract / "sql/queries", conditions.addresses
    scenario = scenario.asked_with(implementation.statements)
    proxied = addresses["LOAD_ADDRESS"].startswith("proxy")
    chosen = conditions.variant.variables.get("APP_MAXCONN")
    made = VisitCase(
        implementation=implementation,
        scenario=scenario,
        settings=settings,
        load_address=addresses["LOAD_ADDRESS"],
        proxied=proxied,
        answers=read_answers(scenario, contract, salt=salt),
        queries=read_queries(queries) | own_queries(conditions.catalog, implementation)
        if implementation.contract
        else None,
        texts=read_texts(queries),
        database_address=addresses["DATABASE_ADDRESS"],
        admitted=_admitted(chosen, scenario, settings) if proxied else None,
        db_rtt_ms=conditions.db_rtt_ms,
        generators=conditions.request.conditions.generators,
    )
    for part in scenario.parts[1:]:
        answers = read_answers(part, contract, salt=salt)
        made.beside.append(replace(made, scenario=part, answers=answers, beside=[]))
    return made


def generators_image(names: Collection[str]) -> str:
    """The smallest image of loadgen/Dockerfile that has these generators; what is no program there needs none. oha is in
    each of them."""
    others = {name for name in names if name in GENERATORS} - {OHA.name}
    return "all" if len(others) > 1 else next(iter(others), OHA.name)


def in_a_lab(catalog: Catalog, request: Request, variants: Sequence[Variant], at_once: int) -> dict[str, str]:
    """The variables by which each host of the request's lab knows who of other hosts may ask it, over a whole study; none
    without a lab. at_once: so many applications are up side by side at most."""
    if request.conditions.lab is None:
        return {}
    routes = written(VariantConditions(catalog, request, variant).route for variant in variants)
    return {"ROUTES": routes, **({"SLOTS": str(at_once)} if at_once > 1 else {})}


def prepare(
    catalog: Catalog,
    request: Request,
    variant: Variant,
    folder: Path,
    slot: str | None = None,
    generators: str = OHA.name,
    sites: Sites = ALONE,
    in_lab: Mapping[str, str] | None = None,
) -> Prepared:
    """The case of a variant and its stack. folder: where `compose.env` goes. slot: of one application among several.
    generators: the image that they are in. sites: where its services run. in_lab: what `in_a_lab` says of the study."""
    conditions = VariantConditions(catalog, request, variant, sites)
    scenario = scenario_of(catalog, request, variant)
    case = (_stand_in if variant.stand_in in ("null", "proxy") else case_of)(conditions, scenario)
    placement, far_ms = catalog.placements[conditions.placement], conditions.db_rtt_ms
    if not request.conditions.lab:
        placement = fitted(placement, HERE.topology())
    variables = {
        **conditions.addresses,
        **placement.variables,
        **case.settings,
        "IMPL": case.implementation.name,
        "FAULT": os.environ.get("FAULT", ""),
        "SALT": request.salt,
        "LOADGEN": generators,
        "HTTP_PORT": "0",  # any free port: nothing here goes through it
        "STATS_PORT": "0",
        GUNICORN: GUNICORN_PATIENCE,
        "HEALTH_INTERVAL": "1h",  # the harness asks each service itself; no check runs in a window
        **sites.settings(),
        **variant.variables,
        **(BUILDS[variant.build] if variant.build else {}),
        **({"VARIANT": f":{variant.tag}"} if variant.tag else {}),
        **(in_lab or {}),
        **({"SERVICES": services} if (services := request.conditions.services) is not None else {}),
        **({"GENERATORS": str(case.generators)} if case.generators > 1 else {}),
        "DATABASE_ADDRESS": conditions.route[1],
        # On that network the database is reached through the latency proxy alone.
        **({"DB_RTT_MS": str(far_ms), "DATABASE_NETWORK": "distance"} if far_ms is not None else {}),
    }
    env_file = folder / "compose.env"
    stack = Stack(catalog.root, BENCH_PROJECT, variables, env_file, slot, sites, variant.overlay)
    return Prepared(variant, case, stack)


def _admitted(chosen: str | None, scenario: Scenario, settings: Mapping[str, str]) -> int | None:
    """Requests that HAProxy lets in at once; None: without a limit, as where requests need no database."""
    if chosen is not None:
        return int(chosen)
    asks = any(part.statements for part in scenario.parts)
    return ADMITTED_PER_CONNECTION * int(settings["DB_POOL_MAX"]) if asks else None


def _stand_in(conditions: VariantConditions, scenario: Scenario) -> VisitCase:
    """The null application, or HAProxy alone, with a body as long as the scenario's in the median."""
    contract, kind = conditions.contract, conditions.variant.stand_in
    size = int(statistics.median(read_answers(scenario, contract).lengths()))
    of_null = Scenario(
        name=str(kind),
        stresses=f"ceiling: {kind}",
        path=f"/null/{size}",
        connections=scenario.connections,
        statements=[],
        answer=Answer(text="x" * size),
    )
    case = case_of(conditions, of_null)
    if kind == "null":
        return case
    bodies = {name: (contract / "golden" / name).read_bytes() for name in PROXY_BODIES}
    name = min(bodies, key=lambda name: abs(len(bodies[name]) - size))
    case.scenario = of_null.model_copy(update={"path": f"/{name}"})
    case.answers = Exact(bodies[name])
    case.load_address, case.proxied = PROXY_ANSWERS, False
    return case


RESERVED_FILES = 100
"""Files that a program has open besides its connections; ours have at most a few dozen."""
PORTS = 65_535 - 1_024 + 1
"""The generator's source ports (compose/stack.yaml): so many connections can one address have to another's one port."""
RESERVED_THREADS = 2_000
"""Process numbers that the rest of the host needs, of those that all share."""
MAPPINGS_PER_THREAD = 2
"""Memory mappings of a thread: its stack and the page that guards it."""


@dataclass(frozen=True)
class Limits:
    """Limits of one container on a host."""

    open_files: int
    """The hard limit; one connection takes one in the generator and one in the application."""
    threads: int
    """Threads of one process."""

    @property
    def connections(self) -> int:
        """Connections that fit without a proxy between."""
        return max(0, min(self.open_files - RESERVED_FILES, PORTS))

    def excess(self, connections: int, threads: int = 0) -> str | None:
        """What of a load does not fit, in words, with the number that does; None: it fits."""
        if connections > self.connections:
            return (
                f"{connections:,} connections do not fit: the generator and the application may open"
                f" {self.open_files:,} files each, which is enough for {self.connections:,}."
                " Raise the engine's limit (default-ulimits: nofile, in /etc/docker/daemon.json) and the host's own"
            )
        if threads > self.threads:
            return (
                f"a thread for each of {threads:,} connections does not fit: this host gives one process"
                f" {self.threads:,}. Raise kernel.threads-max, kernel.pid_max and vm.max_map_count"
            )
        return None


def read_limits(host: Host) -> Limits:
    """The limits of a container of the stack on a host."""
    kernel = host.limits()
    threads = min(
        kernel.threads - RESERVED_THREADS,
        kernel.pids - RESERVED_THREADS,
        kernel.mappings // MAPPINGS_PER_THREAD,
    )
    return Limits(kernel.open_files, max(0, threads))


def refuse_on_any(connections: int, threads: int, generators: int, sites: Sites) -> None:
    """Raises UsageError, with the host and the number that fits, where a load needs more than a host has that is
    asked for it.

    threads: those of a program that has one for each connection; 0 for the others. generators: so many share the load.
    """
    for service in (*roles(generators), APP):
        place, is_app = sites.of(service), service == APP
        held = connections if is_app else math.ceil(connections / generators)
        if excess := read_limits(place.host).excess(held, threads if is_app else 0):
            raise UsageError(f"host {place.name}: {excess}" if place.address else excess)

"""The containers of one study: images built, shared services up, visits made on them."""

import pkgutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Tables, read_answers
from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE
from tandem.lab.application import Application
from tandem.lab.floor import ContainerFloor, PgbenchFloor
from tandem.lab.images import build_side_by_side, identity, keep_programs, of_commit, reference
from tandem.lab.live import View
from tandem.lab.prepare import Prepared, check, generators_image, in_a_lab, prepare, refuse_on_any
from tandem.lab.provenance import environment, of_another
from tandem.lab.readiness import await_services
from tandem.lab.sites import ALONE, APP, FAULTS, Sites
from tandem.lab.stack import Stack, compose_name, other_measurements, remove_leftovers
from tandem.lab.visit import Visit, Windows
from tandem.load.generator import OHA
from tandem.probes.haproxy import SLOTS, UNLIMITED
from tandem.probes.postgres import right_answers
from tandem.record.request import Request, Variant
from tandem.record.result import Environment
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec

SHARED = ["db", "pgbouncer", "proxy", "loadgen"]
"""The services that stay up from the first visit to the last."""
READ_BY = {
    "PGBOUNCER_POOL_SIZE": "pgbouncer",
    "PGBOUNCER_POOL_MODE": "pgbouncer",
    "PGBOUNCER_AUTH_TYPE": "pgbouncer",
}
"""A variant's variables that one of them reads: it starts anew before a visit that has another value."""

Note = Callable[[str], None]


def refuse_or_clean_up(root: Path, results: Path, note: Note, sites: Sites = ALONE) -> None:
    """Raises TandemError while something else measures; removes what a killed command left behind, on every host."""
    others = other_measurements(HERE)
    if others:
        raise TandemError(
            f"another command is measuring (container {others[0]}): two at once would disturb each other."
            f" Wait for it, or stop it with: docker stop {others[0]}"
        )
    if remove_leftovers(root, results / ".leftovers.env", sites):
        note("removed the containers and data of a command that was killed")


def refuse_lost_placement(stacks: Iterable[Stack]) -> None:
    """Raises TandemError where services have CPU sets and their engine gives none: it would only warn, and the figures would be
    those of another placement."""
    placed = [
        (service, stack)
        for stack in stacks
        for service in (*shared(stack), APP)
        if stack.variables.get(f"{compose_name(service).upper()}_CPUSET")
    ]
    for engine in {stack.sites.of(service).name: stack.at(service) for service, stack in placed}.values():
        if not engine.system.info().cpu_set:
            raise TandemError(
                "this engine gives no container CPUs of its own, as a rootless one without the controller cpuset: the placement"
                " would be lost. Delegate the controller (https://docs.docker.com/engine/security/rootless/tips/#limiting-resources),"
                " or give --placement shared, which has no CPU sets"
            )


def shared(stack: Stack) -> list[str]:
    """The services that stay up, for this stack."""
    far = stack.variables["DATABASE_ADDRESS"].startswith(FAULTS)
    return [*SHARED, *stack.generators[1:], *([FAULTS] if far else []), *stack.beside]


type Jobs = dict[str, tuple[Stack, str]]
"""Name for people -> a service whose image is built."""


def services_of(runs: Sequence[Prepared]) -> Jobs:
    """The services that stay up for these runs. They are those of the first."""
    needed = dict.fromkeys(service for run in runs for service in _built(run.stack))
    return {service: (runs[0].stack, service) for service in needed}


def _built(stack: Stack) -> list[str]:
    """The services that stay up and have an image of their own."""
    return [service for service in shared(stack) if service not in (*stack.generators[1:], *stack.beside)]


def find_tagged(runs: Sequence[Prepared], note: Note) -> None:
    """Builds from its commit what a variant names and this machine does not have. Raises TandemError where there
    is neither."""
    for program, stack in {one.program: one.stack for one in runs if one.variant.tag}.items():
        if stack.has_image("app"):
            continue
        implementation, _, tag = program.partition("@")
        note(f"{program}: there is no such image here; if {tag} is a commit, the image is built from it")
        if not of_commit(stack.root, implementation, tag):
            raise TandemError(
                f"this machine has no image {reference(implementation, tag)}, and this clone has no commit {tag}"
            )


def build(runs: Sequence[Prepared], services: Jobs, note: Note, folder: Path | None = None) -> None:
    """Builds the images of services and those of the variants, side by side. folder: that of their measurements, which keeps
    what programs they are. Raises TandemError if one does not build, or is not the program that the folder knows."""
    began = time.monotonic()
    find_tagged(runs, note)
    apps: Jobs = {one.program: (one.stack, "app") for one in runs}
    tagged = {one.program for one in runs if one.variant.tag}
    programs = services | {name: job for name, job in apps.items() if name not in tagged}
    kept = [(stack, service) for stack, service in programs.values() if stack.is_kept(service)]
    if missing := [stack.image_name(service) for stack, service in kept if not stack.has_image(service)]:
        raise TandemError(
            f"this machine no longer has {', '.join(missing)}, and no build makes the same image again."
            " `just nightly` freezes today's in its place"
        )
    build_side_by_side({name: job for name, job in programs.items() if job not in kept}, note)
    programs |= {name: job for name, job in apps.items() if name in tagged}
    further = {role: (one.stack, role) for one in runs for role in one.stack.generators[1:]}
    for name, (stack, service) in (programs | further).items():
        if stack.send(service):
            note(f"  {name}: copied to host {stack.sites.of(service).name}")
    by_pgbench = [one.stack for one in runs if one.variant.stand_in == "database"]
    if any(stack.send("db", to=APP) for stack in by_pgbench[:1]):
        note("  db: copied to the application's host, where pgbench runs in its place")
    if folder is not None:
        keep_programs(
            folder, {name: identity(stack.image(service)) for name, (stack, service) in programs.items()}
        )
    note(f"images: ready in {time.monotonic() - began:.0f} s")


def start(stack: Stack, note: Note) -> None:
    """Starts the shared services and waits until each answers."""
    began = time.monotonic()
    stack.start(shared(stack))
    await_services(stack, shared(stack), note)
    note(f"stack: ready in {time.monotonic() - began:.1f} s")


@dataclass(frozen=True)
class Work:
    """The trials of one request, as the place where they are made has to know them."""

    request: Request
    variants: Sequence[Variant]
    """All variants that appear in a trial."""
    folder: Path
    """Folder of the study."""
    generators: Collection[str] = (OHA.name,)
    """Generators that a window may name."""
    first: Collection[str] = ()
    """Labels of the first trial. Before it only what it needs is built, and the rest after it, so that its figures are
    there as soon as they can be. Empty: all is built before it."""
    held: Sequence[tuple[int, int]] = ()
    """Connections of each load, and threads that the application has for them: a host that cannot hold so many is refused
    before anything is started."""


@dataclass
class Laboratory:
    """The place where the trials of one request are made."""

    catalog: Catalog
    results: Path
    view: View
    work: Work
    environments: dict[str, Environment] = field(init=False, default_factory=dict)
    phases_s: dict[str, float] = field(init=False, default_factory=dict)
    _prepared: dict[tuple[str, str | None], Prepared] = field(init=False, default_factory=dict)
    """Variants by label and slot."""
    _limits: dict[str, str] = field(init=False, default_factory=dict)
    """Values of READ_BY that the shared services run with."""
    _later: list[Prepared] = field(init=False, default_factory=list)
    """Variants whose images are still to be built."""
    _sites: Sites = field(init=False, default=ALONE)
    """The hosts of the services; those of a lab are known while it is `up`."""
    _own: Tables = field(init=False, default_factory=dict)
    """The right answers, where the data are not those of contract/golden."""

    def prepared(self, label: str, slot: str | None = None) -> Prepared:
        """A variant, ready. slot: of one application among several."""
        if (label, slot) not in self._prepared:
            variant = next(variant for variant in self.work.variants if variant.label == label)
            folder = self.work.folder / "variants" / file_name(label if slot is None else f"{label}.{slot}")
            image = generators_image(self.work.generators)
            in_lab = in_a_lab(self.catalog, self.work.request, self.work.variants, len(self.work.first))
            prepared = prepare(
                self.catalog, self.work.request, variant, folder, slot, image, self._sites, in_lab
            )
            self._prepared[label, slot] = prepared
            self._answer_as_written(prepared)
        return self._prepared[label, slot]

    @contextmanager
    def up(self) -> Iterator[None]:
        with self._reached() as self._sites, self._up():
            yield

    @contextmanager
    def _reached(self) -> Iterator[Sites]:
        """The hosts of the request's lab; this machine without one."""
        if self.work.request.conditions.lab is None:
            yield ALONE
            return
        # By its name: without a lab nothing of SSH and agents is loaded.
        open_lab = pkgutil.resolve_name("tandem.lab.lab_hosts:open_lab")
        with self._phase("reach the hosts"):
            sites: Sites = open_lab(self.catalog.lab(self.work.request.conditions.lab), self.catalog.root)
        try:
            for told in sites.described:
                self.view.note(told)
            self.view.note(f"hosts: reached in {self.phases_s['reach the hosts']:.1f} s")
            yield sites
        finally:
            sites.close()

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """Shows a phase, and adds its time to what it took so far."""
        self.view.phase(name, None)
        began = time.monotonic()
        yield
        self.phases_s[name] = self.phases_s.get(name, 0.0) + time.monotonic() - began

    @contextmanager
    def _up(self) -> Iterator[None]:
        check(self.catalog, self.work.request, self.work.variants, self._sites)
        for connections, threads in self.work.held:
            refuse_on_any(connections, threads, self.work.request.conditions.generators, self._sites)
        refuse_or_clean_up(self.catalog.root, self.results, self.view.note, self._sites)
        runs = [self.prepared(variant.label) for variant in self.work.variants]
        # The services are those of the first: the latency proxy is up if any variant needs it.
        runs.sort(key=lambda run: run.case.db_rtt_ms is None)
        refuse_lost_placement(run.stack for run in runs)
        try:
            with self._phase("build"):
                find_tagged(runs, self.view.note)
                now, self._later = in_time(runs, self.work.first)
                build(now, services_of(runs), self.view.note, self.work.folder)
            with self._phase("start the stack"):
                start(runs[0].stack, self.view.note)
                self._limits = _limits(runs[0].stack)
                self._describe(now)
            if self.work.request.salt:
                self._write_answers(runs[0].stack)
            yield
        finally:
            began = time.monotonic()
            runs[0].stack.down()
            self.phases_s["remove the stack"] = time.monotonic() - began

    def _describe(self, runs: Sequence[Prepared]) -> None:
        """Notes the environments of those whose images are built, all in the order of the variants."""
        self.environments |= {run.variant.label: self._environment(run) for run in runs[:1]}
        with ThreadPoolExecutor() as side_by_side:  # each waits for Docker's command line
            others = side_by_side.map(self._environment, runs[1:])
            found = self.environments | dict(
                zip((run.variant.label for run in runs[1:]), others, strict=True)
            )
        order = [variant.label for variant in self.work.variants]
        self.environments = {label: found[label] for label in order if label in found}

    def _write_answers(self, stack: Stack) -> None:
        """Write the right answers, once for the study: each visit begins with the same data. None are of a reader's own data."""
        if stack.own_database:
            return
        name, golden = "write the right answers", self.catalog.root / "contract/sql/golden.sql"
        prepared = self._prepared.values()
        with self._phase(name):
            asked = [*self.catalog.scenarios.values(), *(one.case.scenario for one in prepared)]
            self._own = right_answers(stack.service("db").address, golden, asked)
            for one in prepared:
                self._answer_as_written(one)
        told = f"expected answers written in {self.phases_s[name]:.1f} s"
        self.view.note(f"data generated for this study (salt {self.work.request.salt}): {told}")

    def _answer_as_written(self, prepared: Prepared) -> None:
        for case in (prepared.case, *prepared.case.beside):
            if self._own and case.scenario.answer.golden is not None:
                case.answers = read_answers(case.scenario, self.catalog.root / "contract", self._own)

    def _environment(self, run: Prepared) -> Environment:
        known = next(iter(self.environments.values()), None)
        if known is None:
            asked = (*_built(run.stack), *run.stack.beside)
            images = {service: run.stack.service(service).image for service in asked}
            found = environment(self.catalog.root, run.stack, run.case.shown_settings, images)
        else:
            found = of_another(known, run.stack, run.case.shown_settings)
        found.configuration["tier"] = run.case.implementation.tier
        if run.case.proxied:  # set while it runs: its environment has the limit that it begins with
            found.configuration["haproxy maxconn"] = str(run.case.admitted or UNLIMITED)
        found.configuration["scenario"] = run.case.scenario.model_dump_json(indent=1)
        with suppress(UsageError):  # a study may have plans of its own
            found.configuration["plan"] = self.catalog.plan(self.work.request.plan).model_dump_json(indent=1)
        return found

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        """Makes a trial. script: yields its windows."""
        if {run.variant.label for run in self._later} & set(spec.variants):
            with self._phase("build"):
                build(self._later, {}, self.view.note, self.work.folder)
                self._describe(self._later)
                self._later = []
        floor = self.floor(spec, folder)
        trial = Visit(floor, spec, self.view).run(script)
        for label, start in trial.starts.items():
            app = floor.apps[label]
            start.memory_rest_bytes = app.rest_bytes
            start.first_answer_s, start.first_right_s = app.first_answer_s, app.first_right_s
            if (peaks := app.peaks) is not None:
                start.cpu_peak_percent, start.resident_peak_bytes = peaks
        return trial

    def floor(self, spec: TrialSpec, folder: Path) -> ContainerFloor:
        """The floor of a visit of this spec."""
        several = len(spec.variants) > 1
        if len(spec.variants) > SLOTS:
            raise UsageError(
                f"{len(spec.variants)} variants at once are too many: at most {SLOTS} can run side by side"
            )
        slots = {label: f"slot-{n}" if several else None for n, label in enumerate(sorted(spec.variants), 1)}
        apps = {
            label: Application(
                self.prepared(label, slots[label]), folder / file_name(label) if several else folder
            )
            for label in spec.variants
        }
        by_pgbench = any(app.prepared.variant.stand_in == "database" for app in apps.values())
        return (PgbenchFloor if by_pgbench else ContainerFloor)(apps, self.view, self._services_as)

    def _services_as(self, stack: Stack) -> None:
        for role in stack.generators if len(stack.generators) > 1 else ():
            if not stack.runs(role):  # it died in an earlier window
                self.view.note(f"{role} has died: restarting it")
                stack.stop(role, grace_s=1)
                stack.start([role])
        wanted = _limits(stack)
        other = {READ_BY[name] for name in READ_BY if wanted.get(name) != self._limits.get(name)}
        if other:
            self._limits = dict.fromkeys(
                READ_BY, "unknown"
            )  # where they do not come up, the next visit tries again
            stack.start(sorted(other))
            await_services(stack, shared(stack), self.view.note)
            self._limits = wanted


def in_time(runs: Sequence[Prepared], first: Collection[str]) -> tuple[list[Prepared], list[Prepared]]:
    """The variants whose images are built before the first trial, and those after it. The stack is that of the
    first run where it has a latency proxy. first: the labels of that trial; empty: all are."""
    far = [run for run in runs[:1] if run.case.db_rtt_ms is not None]
    programs = {run.program for run in (*far, *(run for run in runs if run.variant.label in first))}
    now = [run for run in runs if not first or run.program in programs]
    return now, [run for run in runs if run not in now]


def _limits(stack: Stack) -> dict[str, str]:
    return {name: stack.variables[name] for name in READ_BY if name in stack.variables}

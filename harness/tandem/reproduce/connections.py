"""Experiments over numbers of connections (kind `connections`): each implementation's ladder in one fresh start."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.lab.waiting import settle
from tandem.load.idle import IdleConnections
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.old.store import file_name
from tandem.record.window import Finding, Verdict, Window
from tandem.reproduce import plots
from tandem.reproduce.benches import START_S, WINDOW_S, Work, failed, loaded, opening_s, started
from tandem.reproduce.experiment import Experiment, ExperimentPlan, PlanName, parse_run
from tandem.reproduce.kinds import Bench
from tandem.reproduce.limits import Limits, read_limits, refuse_too_many
from tandem.reproduce.result import Asked, Facts, Reproduction, Start, steps
from tandem.reproduce.saturation import limit
from tandem.reproduce.tool_spec import not_connected, oha_figures
from tandem.reproduce.witness import Seen, Witness

SCENARIO = "index"
KIB, MIB = 1024, 1024**2
IDLE_S = 6
"""For the estimate: opening thousands of silent connections, one after the other."""
SPARE_THREADS = 64
"""Beside one for each connection: those that wait for the next, and the harness's own connections."""


class ConnectionsSpec(BaseModel):
    """A row's `run`: a load of so many busy connections, or so many silent ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    implementation: str
    connections: Annotated[int, Field(ge=1)]
    idle: bool = False
    """Silent connections, whose memory is measured; no load."""
    thread_each: bool = False
    """The implementation has a thread for each connection: THREADS is set to what is needed, and counted."""

    @property
    def settings(self) -> dict[str, str]:
        """For people."""
        return {"connections": str(self.connections), "load": "none" if self.idle else "oha"}

    @property
    def group(self) -> tuple[str, bool]:
        """Rows of a group share a fresh start; silent connections have one of their own, whose memory is untouched."""
        return self.implementation, self.idle

    @property
    def threads(self) -> int:
        return self.connections + SPARE_THREADS if self.thread_each else 0


def window_figures(window: Window) -> dict[str, float]:
    """The figures of a load, by the experiments' names."""
    app = window.roles["app"]
    told = oha_figures(window) | {"cpu_percent": app.cpu_cores * 100}
    if window.app_memory_peak_bytes is not None:
        told["anonymous_memory_mib"] = window.app_memory_peak_bytes / MIB
    return told


def too_few_threads(spec: ConnectionsSpec, seen: Seen) -> list[Finding]:
    """A thread for each connection was claimed: were there so many? The kernel keeps connections that nobody has
    accepted established as well."""
    if not spec.thread_each or seen.app_threads >= spec.connections:
        return []
    text = f"only {seen.app_threads:,} threads for {spec.connections:,} connections: the others waited to be accepted"
    return [Finding(code="too-few-threads", severity="invalid", text=text)]


@dataclass
class ConnectionsSession:
    """Kind `connections`."""

    bench: Bench
    limits: Limits = field(default_factory=lambda: read_limits(HERE))

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        settings, specs = experiment.plan(plan), list(self._specs(experiment, plan).values())
        groups = len({spec.group for spec in specs})
        each = self._window_s(settings) + WINDOW_S
        loads = sum(IDLE_S if s.idle else each + opening_s(s.connections) for s in specs)
        return settings.starts * (groups * (START_S + settings.warm_up_s) + loads)

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        specs = self._specs(experiment, plan).values()
        for spec in sorted(specs, key=lambda spec: -spec.connections):  # what is told fits all
            under = self._work(experiment, plan, 0).under
            under.check(SCENARIO, [under.catalog.implementation(spec.implementation)])
            refuse_too_many(spec.connections, self.limits, spec.threads)

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        specs = self._specs(experiment, asked.plan)
        work = self._work(experiment, asked.plan, asked.seed)
        groups: dict[tuple[str, bool], list[str]] = {}
        for label, spec in specs.items():
            groups.setdefault(spec.group, []).append(label)
        with work.open(experiment, asked, resume) as opened:
            folder = opened.journal.folder
            runs = {
                name: work.prepare(name, SCENARIO, folder / "stack" / file_name(name), _knobs(specs, name))
                for name in dict.fromkeys(spec.implementation for spec in specs.values())
            }
            opened.start(list(runs.values()))

            def measure(block: int, labels: Sequence[str], attempt: int) -> list[Start]:
                # What a load has touched stays with the allocator: ascending, so that memory is each load's own.
                rising = sorted(labels, key=lambda label: specs[label].connections)
                prepared = runs[specs[labels[0]].implementation]
                raw = folder / "raw" / f"{block}-{prepared.name}{'-idle' if specs[labels[0]].idle else ''}"
                found = self._start(work, prepared, experiment.plan(asked.plan), specs, rising, raw)
                told = {"block": block, "attempts": attempt, "raw": str(raw.relative_to(folder))}
                return [start.model_copy(update=told) for start in found]

            facts = {
                label: Facts({**spec.settings, **_knobs(specs, spec.implementation)})
                for label, spec in specs.items()
            }
            order = steps(
                list(groups.values()), experiment.plan(asked.plan).starts, opened.journal.asked.seed
            )
            return opened.make(
                order, measure, runs, facts, {}, lambda found: plots.write(folder, curves(found, specs))
            )

    # ---- parts ----

    def _specs(self, experiment: Experiment, plan: PlanName) -> dict[str, ConnectionsSpec]:
        return {row.label: parse_run(experiment, row, ConnectionsSpec) for row in experiment.measured(plan)}

    def _window_s(self, plan: ExperimentPlan) -> int:
        return plan.window_s or 10

    def _work(self, experiment: Experiment, plan: PlanName, seed: int) -> Work:
        settings = experiment.plan(plan)
        return Work.of(self.bench, SCENARIO, settings, self._window_s(settings), seed)

    def _start(
        self,
        work: Work,
        prepared: Prepared,
        plan: ExperimentPlan,
        specs: dict[str, ConnectionsSpec],
        labels: Sequence[str],
        folder: Path,
    ) -> list[Start]:
        """One fresh start with all its loads, in the order given. A row without a load is failed."""
        made: dict[str, Start] = {}
        began = time.monotonic()
        ready_s = None
        try:
            with work.fresh(prepared, folder) as lab:
                ready_s = time.monotonic() - began
                for label in labels:
                    spec, load_began = specs[label], time.monotonic()
                    try:
                        made[label] = (
                            self._idle(lab, spec) if spec.idle else self._load(work, prepared, lab, spec)
                        )
                    except TandemError as error:
                        made[label] = failed(str(error))
                    made[label].spent_s = {"idle" if spec.idle else "loads": time.monotonic() - load_began}
        except TandemError as error:
            for label in labels:
                made.setdefault(label, failed(str(error)))
        first = made[labels[0]]
        first.spent_s = {**first.spent_s, "fresh starts": ready_s or time.monotonic() - began}
        return [made[label].model_copy(update={"row": label}) for label in labels]

    def _load(self, work: Work, prepared: Prepared, lab: BenchLab, spec: ConnectionsSpec) -> Start:
        cell, window_s = loaded(prepared.cell, spec.connections)
        lab.ask_for(cell, cell.load_address)
        work.session.view.phase(f"{spec.connections:,} connections", window_s)
        app, loadgen = lab.stack.service("app"), lab.stack.service("loadgen")
        with Witness(HERE, app, loadgen, spec.connections) as witness:
            window = lab.measure("closed", window_s, None)
        text = window.model_dump_json(indent=1)
        (lab.folder / f"{spec.connections}.json").write_text(text + "\n")
        with suppress(OSError):
            (lab.folder / "closed.sqlite").unlink()
        figures = window_figures(window)
        findings = [
            *not_connected(figures, witness.seen, spec.connections),
            *too_few_threads(spec, witness.seen),
            *window.findings,
        ]
        return started(window, figures, findings, witness.seen, limit(window, None))

    def _idle(self, lab: BenchLab, spec: ConnectionsSpec) -> Start:
        """Opens silent connections to an application that has answered a few requests, and looks at its memory."""
        app, loadgen = lab.stack.service("app"), lab.stack.service("loadgen")
        group = HERE.cgroup(app.pid)
        settle(HERE)
        before = group.usage().anonymous_bytes
        target, path = lab.cell.load_address.partition(":")[0], lab.cell.scenario.path
        held = IdleConnections(HERE, loadgen.id, loadgen.pid, target, spec.connections, path)
        try:
            settle(HERE)
            grown = group.usage().anonymous_bytes - before
            open_now = held.established()
        finally:
            held.release()
        start = failed("")
        if open_now < spec.connections:
            start.verdict = Verdict.INVALID
            start.reason = f"only {open_now:,} of {spec.connections:,} silent connections stayed open"
            return start
        figures = {"memory_per_idle_kib": grown / spec.connections / KIB, "established": float(open_now)}
        return start.model_copy(update={"verdict": Verdict.OK, "reason": None, "figures": figures})


def _knobs(specs: dict[str, ConnectionsSpec], implementation: str) -> dict[str, str]:
    """THREADS where the model is a thread for each connection."""
    threads = max(spec.threads for spec in specs.values() if spec.implementation == implementation)
    return {"THREADS": str(threads)} if threads else {}


def curves(found: Reproduction, specs: dict[str, ConnectionsSpec]) -> list[plots.Point]:
    """What the plots show: every load's means."""
    return [
        plots.Point(
            specs[row.label].implementation,
            specs[row.label].connections,
            {name: mean.mean for name, mean in row.figures.items()},
        )
        for row in found.rows
        if not specs[row.label].idle
    ]

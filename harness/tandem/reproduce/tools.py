"""Experiments by tools (kind `tools`): one application under wrk, drill and oha, in one fresh start of each build."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE
from tandem.load import drill, wrk
from tandem.load.generator import FOLDER, TIMEOUT_S
from tandem.old.cell import Cell
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.old.store import file_name
from tandem.reproduce.benches import START_S, WINDOW_S, Work, failed, loaded, started, variant
from tandem.reproduce.experiment import Experiment, ExperimentPlan, PlanName, parse_run
from tandem.reproduce.kinds import Bench
from tandem.reproduce.limits import Limits, read_limits, refuse_too_many
from tandem.reproduce.result import Asked, Facts, Reproduction, Start, steps
from tandem.reproduce.saturation import limit
from tandem.reproduce.tool_spec import (
    ToolSpec,
    asked_requests,
    drill_rps,
    not_connected,
    oha_figures,
    opinion_of,
)
from tandem.reproduce.toolrun import installed, run_tool, services, versions
from tandem.reproduce.witness import Witness

OHA = "oha"
DEBUG_VARIABLES = {"VARIANT": "-debug", "PROFILE": "dev"}
KEPT_CHARACTERS = 4_000
"""Of what a tool printed."""


@dataclass
class ToolsSession:
    """Kind `tools`."""

    bench: Bench
    limits: Limits = field(default_factory=lambda: read_limits(HERE))

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        settings, specs = experiment.plan(plan), set(self._specs(experiment, plan).values())
        groups = len({spec.group for spec in specs})
        loads = sum(
            asked_requests(s, settings) / drill_rps(s) if s.tool == drill.NAME else self._window_s(settings)
            for s in specs
        )
        each = groups * (START_S + settings.warm_up_s) + loads + len(specs) * WINDOW_S
        return settings.starts * each

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        for label, spec in self._specs(experiment, plan).items():
            work = self._work(experiment, plan, spec, 0)
            work.under.check(spec.scenario, [work.under.catalog.implementation(spec.implementation)])
            refuse_too_many(spec.connections, self.limits)
            if spec.tool == drill.NAME:
                self._drill(
                    "http://app", work.cell(spec.implementation, spec.scenario), spec, experiment.plan(plan)
                )
            if spec.tool == wrk.NAME and spec.threads > spec.connections:
                raise UsageError(
                    f"row '{label}': wrk needs a connection for each of its {spec.threads} threads"
                )

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        specs = self._specs(experiment, asked.plan)
        first = next(iter(specs.values()))
        work = self._work(experiment, asked.plan, first, asked.seed)
        groups: dict[tuple[str, str], list[str]] = {}
        for label, spec in specs.items():
            groups.setdefault(spec.group, []).append(label)
        with work.open(experiment, asked, resume) as opened:
            runs = {group: self._prepared(work, opened.journal.folder, group) for group in groups}
            opened.start(list(runs.values()))
            tools: list[str] = sorted({spec.tool for spec in specs.values()})
            installed(runs[first.group].stack, tools)
            settings = experiment.plan(asked.plan)
            facts = {label: Facts(spec.settings(settings)) for label, spec in specs.items()}
            told = versions(runs[first.group].stack, tools)

            def measure(block: int, labels: Sequence[str], attempt: int) -> list[Start]:
                prepared = runs[specs[labels[0]].group]
                folder = opened.journal.folder / "raw" / f"{block}-{prepared.name}"
                return self._start(work, prepared, experiment, asked, specs, (block, labels, attempt), folder)

            order = steps(
                list(groups.values()), experiment.plan(asked.plan).starts, opened.journal.asked.seed
            )
            return opened.make(order, measure, {r.name: r for r in runs.values()}, facts, told)

    # ---- parts ----

    def _specs(self, experiment: Experiment, plan: PlanName) -> dict[str, ToolSpec]:
        return {row.label: parse_run(experiment, row, ToolSpec) for row in experiment.measured(plan)}

    def _window_s(self, plan: ExperimentPlan) -> int:
        return plan.window_s or 10

    def _work(self, experiment: Experiment, plan: PlanName, spec: ToolSpec, seed: int) -> Work:
        settings = experiment.plan(plan)
        return Work.of(self.bench, spec.scenario, settings, self._window_s(settings), seed)

    def _prepared(self, work: Work, folder: Path, group: tuple[str, str]) -> Prepared:
        implementation, build = group
        own = (
            folder
            / "stack"
            / file_name(implementation if build == "release" else f"{implementation}-{build}")
        )
        prepared = work.prepare(implementation, "index", own)
        return prepared if build == "release" else variant(prepared, own, DEBUG_VARIABLES)

    def _start(
        self,
        work: Work,
        prepared: Prepared,
        experiment: Experiment,
        asked: Asked,
        specs: dict[str, ToolSpec],
        step: tuple[int, Sequence[str], int],
        folder: Path,
    ) -> list[Start]:
        """One fresh start, in which every distinct load of the labels is made once."""
        block, labels, attempt = step
        made: dict[ToolSpec, Start] = {}
        began = time.monotonic()
        raw = str(folder.relative_to(folder.parents[1]))
        try:
            with work.fresh(prepared, folder) as lab:
                made_ready_s = time.monotonic() - began
                for label in labels:
                    if specs[label] not in made:
                        made[specs[label]] = self._load(
                            work,
                            prepared,
                            lab,
                            experiment.plan(asked.plan),
                            specs[label],
                            folder / file_name(label),
                        )
        except TandemError as error:
            for label in labels:
                made.setdefault(specs[label], failed(str(error)))
            made_ready_s = time.monotonic() - began
        spent = {"fresh starts": made_ready_s}
        out = []
        for label in labels:
            own = made[specs[label]].model_copy(
                update={"row": label, "block": block, "attempts": attempt, "raw": raw}
            )
            own.spent_s = {**own.spent_s, **spent}
            spent = {}  # counted once
            made[specs[label]].spent_s = {}
            out.append(own)
        return out

    def _load(
        self,
        work: Work,
        prepared: Prepared,
        lab: BenchLab,
        plan: ExperimentPlan,
        spec: ToolSpec,
        folder: Path,
    ) -> Start:
        """One load, verified before and after. A TandemError makes it failed, and the next load goes on."""
        began = time.monotonic()
        cell = work.cell(spec.implementation, spec.scenario, prepared.knobs)
        cell, window_s = loaded(cell, spec.connections)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lab.ask_for(cell, cell.load_address)
            before = lab.verify()
            if before:
                raise TandemError(before[0].text)
            work.session.view.phase(spec.tool, self._window_s(plan))
            if spec.tool == OHA:
                found = self._oha(lab, spec, folder, window_s)
            else:
                found = self._tool(work, prepared, cell, spec, plan, folder)
            after = lab.verify()
            if after:
                raise TandemError(f"after the load: {after[0].text}")
        except TandemError as error:
            found = failed(str(error))
        found.spent_s = {f"loads by {spec.tool}": time.monotonic() - began}
        return found

    def _oha(self, lab: BenchLab, spec: ToolSpec, folder: Path, window_s: int) -> Start:
        """The house's own window: every gate applies."""
        app, loadgen = lab.stack.service("app"), lab.stack.service("loadgen")
        kept, lab.folder = lab.folder, folder
        try:
            with Witness(HERE, app, loadgen, spec.connections) as witness:
                window = lab.measure("closed", window_s, None)
        finally:
            lab.folder = kept
        (folder / "window.json").write_text(window.model_dump_json(indent=1) + "\n")
        with suppress(OSError):
            (folder / "closed.sqlite").unlink()
        figures = oha_figures(window)
        findings = [*not_connected(figures, witness.seen, spec.connections), *window.findings]
        return started(window, figures, findings, witness.seen, limit(window, None))

    def _tool(
        self,
        work: Work,
        prepared: Prepared,
        cell: Cell,
        spec: ToolSpec,
        plan: ExperimentPlan,
        folder: Path,
    ) -> Start:
        roles = services(prepared.stack)
        base = f"http://{roles['app'].address}:8080"
        if spec.tool == drill.NAME:
            load = self._drill(base, cell, spec, plan)
            file = folder / "drill.yml"
            file.write_text(load.benchmark())
            prepared.stack.copy_in("loadgen", file, f"{FOLDER}/{file.name}")
            command, parse = load.arguments(f"{FOLDER}/{file.name}"), drill.parse
        else:
            path = cell.scenario.path.replace("{id}", str(next(iter(cell.scenario.expanded_ids), "")))
            own = wrk.Wrk(f"{base}{path}", spec.threads, spec.connections, self._window_s(plan), TIMEOUT_S)
            command, parse = own.arguments(), wrk.parse
        made = run_tool(prepared.stack, cell, roles, command, spec.connections, work.session.view.sample)
        (folder / f"{spec.tool}.txt").write_text(made.text[-KEPT_CHARACTERS:])
        asked_s = float(self._window_s(plan)) if spec.tool == wrk.NAME else None
        return opinion_of(parse(made.text), made, spec, asked_s)

    def _drill(self, base: str, cell: Cell, spec: ToolSpec, plan: ExperimentPlan) -> drill.Drill:
        """Raises UsageError where its requests cannot be made."""
        scenario = cell.scenario
        paths = tuple(scenario.path.replace("{id}", str(i)) for i in scenario.expanded_ids) or (
            scenario.path,
        )
        requests = asked_requests(spec, plan)
        load = drill.Drill(base, paths, spec.connections, requests, spec.rampup_s, TIMEOUT_S, spec.quiet)
        try:
            load.benchmark()
        except TandemError as error:
            raise UsageError(str(error)) from None
        return load

"""An experiment's rows as variants, windows and fresh starts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.labs import OF_A_LAB
from tandem.catalog.scenario import Scenario
from tandem.engine.blocks import complete_blocks, rounds_of_blocks
from tandem.engine.grid import placed, waiting
from tandem.errors import TandemError, UsageError
from tandem.judge.file_io import PROGRAM, WaySettings
from tandem.lab.case import db_pool_usable, handler_threads
from tandem.load.drill import DRILL
from tandem.load.generator import OHA, Load
from tandem.record.request import Variant
from tandem.record.result import laid_over
from tandem.record.store import file_name
from tandem.record.trial import TrialSpec, WarmUp, WindowSpec
from tandem.studies.reproduce.experiment import Experiment, ExperimentRow, PlanName, parse
from tandem.studies.reproduce.windows import SILENT, RowWindow, patience_s, waiting_ceilings

WARM_UP_LEAST_S = 1
LIMITS = ("APP_MAXCONN", "PGBOUNCER_POOL_SIZE")
"""Variables of the shared services that a variant may set."""
LINES_PERCENT = "lines_percent"
"""A plan's limit: how much of the published number of lines is made."""


@dataclass(frozen=True)
class PlannedRow:
    """A row with everything that is known of it before it is measured."""

    row: ExperimentRow
    variant: Variant
    start: str
    """Rows of one start are measured in one fresh start, one after the other."""
    settings: dict[str, str]
    """Settings that are run, for people: name -> value."""
    own: RowWindow = field(default_factory=RowWindow)
    window: WindowSpec | None = None
    """Rows with the same load share one; None: the program measures itself."""
    ceilings: dict[str, float] = field(default_factory=dict)
    """Rates that waiting allows, by name."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of the scenario that follow from the wait."""
    usable: int | None = None
    """Database connections that can be in use at once; None where the scenario has no statements."""
    on_ladder: bool = False
    """Whether the row is one number of connections among several of its variant."""

    @property
    def label(self) -> str:
        return self.row.label

    @property
    def described(self) -> Variant:
        """The row as its estimates name it; on a ladder the variant, with its connections as a coordinate."""
        changes = {} if self.window is None else self.window.scenario_changes
        base = self.variant.label if self.on_ladder else None
        return placed(self.variant, self.label, changes if base else {}, scenario=changes, base=base)


class ExperimentRows:
    """The rows of one experiment that one plan measures. cpus: of the host; in a lab, of the application. places: see
    ReproduceOptions."""

    def __init__(
        self,
        catalog: Catalog,
        experiment: Experiment,
        plan: PlanName,
        cpus: int,
        in_lab: bool = False,
        places: int | None = None,
    ) -> None:
        """Raises UsageError, with the row, for what does not exist or does not fit together."""
        self.catalog, self.experiment, self.cpus = catalog, experiment, cpus
        self._host_placement = OF_A_LAB if in_lab else catalog.default_placement(places or cpus).name
        self.plan = experiment.plan(plan)
        self.rows: dict[str, PlannedRow] = {}
        for row in experiment.measured(plan):
            try:
                self.rows[row.label] = self._alone(row)
            except TandemError as error:
                raise UsageError(f"{experiment.name}: row '{row.label}': {error}") from None
        self.rows = {label: self._beside_others(known) for label, known in self.rows.items()}
        # The shortest delay first: it is what is verified and warmed up.
        by_delay = sorted(self.rows.values(), key=lambda known: known.own.delay_ms or 0)
        self.variants = list({known.variant.label: known.variant for known in by_delay}.values())
        """All variants that are started."""
        self.starts: dict[str, list[str]] = {}
        """Name of a fresh start -> its rows."""
        for known in by_delay:
            self.starts.setdefault(known.start, []).append(known.label)

    # ---- what a row is ----

    def _alone(self, row: ExperimentRow) -> PlannedRow:
        """A row as if there were no other."""
        table = laid_over({"label": "", **self.experiment.variant}, row.variant)
        variant = parse("variant", table, Variant)
        own = parse("window", laid_over(self.experiment.window, row.window), RowWindow)
        if variant.implementation == PROGRAM:
            return self._counting(row, variant)
        return self._served(row, variant.model_copy(update={"placement": self._placement()}), own)

    def _placement(self) -> str:
        """The host's own where it gives the application enough CPUs, else the one that pins nothing."""
        least = self.experiment.app_cpus_least
        if (self.catalog.app_cpus(self._host_placement) or self.cpus) >= least:
            return self._host_placement
        if self.cpus < least:
            raise UsageError(f"app_cpus_least: {least} CPUs are needed, and this host has {self.cpus}")
        return self.catalog.placements["shared"].name

    def _counting(self, row: ExperimentRow, variant: Variant) -> PlannedRow:
        """A way of counting lines of files; the rows of one case share its files."""
        way = parse("variant -> settings", dict(variant.settings), WaySettings)
        lines = max(way.files, way.lines * self.plan.limits.get(LINES_PERCENT, 100) // 100)
        made = way.model_copy(update={"lines": lines})
        settings = {name: str(value) for name, value in made.model_dump().items()}
        for other in self.rows.values():
            if other.settings == settings:
                raise UsageError(f"it is the same measurement as the row '{other.label}'")
        update = {"label": row.label, "settings": settings, "placement": None}
        return PlannedRow(row, variant.model_copy(update=update), made.case.name, settings)

    def _served(self, row: ExperimentRow, variant: Variant, own: RowWindow) -> PlannedRow:
        """A program under load. Raises UsageError for what cannot be run, TandemError for a load that drill cannot make."""
        implementation, base = self._known(row, variant)
        app_cpus = self.catalog.app_cpus(variant.placement or "") or self.cpus
        settings = self.catalog.effective_settings(implementation, app_cpus, dict(variant.settings))
        changes: dict[str, Any] = {}
        if own.delay_ms is not None:
            if "?delay_ms=" not in base.path:
                raise UsageError(f"window -> delay_ms: the scenario {base.name} does not wait")
            changes |= waiting(base, own.delay_ms)
        table = {**base.model_dump(), **variant.scenario_changes, **changes}
        scenario = parse("variant -> scenario_changes", table, Scenario)
        threads = handler_threads(implementation, settings)
        connections = own.connections or scenario.connections
        ceilings = waiting_ceilings(connections, own.delay_ms, threads)
        least = min(ceilings.values(), default=None)
        patience = patience_s(connections, least)
        if "timeout_s" not in variant.scenario_changes and patience != scenario.timeout_s:
            changes["timeout_s"] = patience
        window = own.spec(file_name(row.label), variant.label, self.plan, least, changes)
        if own.generator == DRILL.name:
            urls = [f"http://app/{number}" for number in scenario.expanded_ids] or None
            options = window.generator_options
            load = Load("http://app/", window.seconds, connections, 1, {}, urls=urls, options=options)
            DRILL.inputs(load, "check")
        usable = db_pool_usable(scenario, implementation, settings)
        most = threads, variant.variables.get("APP_MAXCONN")
        shown = {
            "implementation": variant.implementation,
            "scenario": scenario.path,
            "topology": variant.topology,
            "placement": variant.placement,
            "connections": connections,
            "window_s": window.seconds,
            "delay_ms": own.delay_ms,
            "db_rtt_ms": variant.db_rtt_ms,
            "round_trips": row.round_trips,
            "build": variant.build,
            "generator": None if own.generator == OHA.name else own.generator,
            **window.generator_options,
            **variant.variables,
            **settings,
        }
        return PlannedRow(
            row=row,
            variant=variant,
            start=row.label,
            settings={name: str(value) for name, value in shown.items() if value not in (None, "")},
            own=own,
            window=window,
            ceilings=ceilings,
            changes=changes,
            usable=None if usable is None else min([usable, *(int(one) for one in most if one is not None)]),
            on_ladder=self.experiment.ascending,
        )

    def _known(self, row: ExperimentRow, variant: Variant) -> tuple[Implementation, Scenario]:
        """The implementation and the scenario of a variant. Raises UsageError for names that do not exist or do not fit."""
        catalog = self.catalog
        known, base = catalog.implementation(variant.implementation), catalog.scenario(variant.scenario or "")
        catalog.pick("topology", variant.topology or "", catalog.topologies)
        for name in variant.variables:
            catalog.pick("limit of a shared service", name, dict.fromkeys(LIMITS, name))
        if variant.db_rtt_ms is not None and not base.statements:
            raise UsageError(f"{base.name} never asks the database: leave db_rtt_ms out")
        if variant.db_rtt_ms is None and row.round_trips is not None:
            raise UsageError("`round_trips` needs `db_rtt_ms`: without a distance they give no ceiling")
        if base.name in known.unsupported.scenarios:
            why = known.unsupported.scenarios[base.name]
            raise UsageError(f"{known.name} does not support {base.name}: {why}")
        return known, base

    def _beside_others(self, row: PlannedRow) -> PlannedRow:
        """The row in its start. Rows of equal variants share a fresh start, and those with the same load a window; silent
        connections have a start of their own, whose memory is untouched."""
        if row.window is None:
            return row
        alike = [other for other in self.rows.values() if other.variant == row.variant]
        first = min(alike, key=lambda other: other.own.delay_ms or 0)
        load = next(other.window for other in alike if other.window and other.own == row.own)
        label = row.variant.label or first.label
        changes = {**row.variant.scenario_changes, **first.changes}
        return replace(
            row,
            variant=row.variant.model_copy(update={"label": label, "scenario_changes": changes}),
            start=f"{label} idle" if row.own.generator == SILENT else label,
            window=load.model_copy(update={"variants": [label]}),
        )

    # ---- when it is measured ----

    def joined_by_claims(self) -> list[list[str]]:
        """The starts, together where a claim compares their rows, directly or by way of a third row."""
        joined = [[start] for start in self.starts]
        for claim in self.experiment.claims:
            ends = {claim.of, claim.to}
            parts = [part for part in joined if any(ends & set(self.starts[start]) for start in part)]
            one = [start for part in parts for start in part]
            joined = [part for part in joined if part not in parts] + ([one] if one else [])
        return joined

    def outline(self, seed: int, together: Sequence[Sequence[str]]) -> list[list[TrialSpec]]:
        """Rounds of randomised complete blocks, fixed by the seed. The order of rows within a start is random too.

        together: the starts that stand side by side in one block.
        """
        starts = self.plan.starts
        others = seed + len(together) + 1  # before it are the seeds of the blocks
        orders = {
            start: iter(complete_blocks(labels, starts, others + number))
            for number, (start, labels) in enumerate(self.starts.items())
        }
        return [
            [self._trial(start, block, next(orders[start])) for start in order]
            for block, order in enumerate(rounds_of_blocks(together, starts, seed), start=1)
        ]

    def _trial(self, start: str, block: int, labels: Sequence[str]) -> TrialSpec:
        """A fresh start with its rows, in this order."""
        rows, name = [self.rows[label] for label in labels], f"{block}-{file_name(start)}"
        if self.experiment.ascending:
            rows.sort(key=lambda row: row.own.connections or 0)
        windows = list({row.window.name: row.window for row in rows if row.window}.values())
        if not windows:  # the program counts in an order of its own
            case = WaySettings.model_validate(rows[0].settings).case
            return TrialSpec(
                name=name,
                block=block,
                variants=self.starts[start],
                warm_up=WarmUp(least_s=0, cap_s=0),
                expected_s=case.expected_s(len(rows)),
            )
        seconds = max(WARM_UP_LEAST_S, self.plan.warm_up_s)
        return TrialSpec(
            name=name,
            block=block,
            variants=[rows[0].variant.label],
            warm_up=WarmUp(least_s=seconds, cap_s=seconds),
            windows=windows,
        )


def counts_files(experiment: Experiment) -> bool:
    """Say whether the program of an experiment reads and writes files and answers no HTTP."""
    implementation: str = (experiment.variant | experiment.rows[0].variant).get("implementation", "")
    return implementation == PROGRAM


def scaled(experiment: Experiment, scale: float | None) -> Experiment:
    """The experiment with another share of the published lines. scale: 0.01 to 1; None: the plan's own."""
    if scale is None:
        return experiment
    if not counts_files(experiment):
        raise UsageError(f"--scale is for experiments with files; {experiment.name} has none")
    if not 0.01 <= scale <= 1:
        raise UsageError(f"--scale takes a share of the published lines from 0.01 to 1, not {scale:g}")
    own, limits = experiment.plans, {LINES_PERCENT: round(scale * 100)}
    plans = {name: plan.model_copy(update={"limits": plan.limits | limits}) for name, plan in own}
    return experiment.model_copy(update={"plans": own.model_copy(update=plans)})


def check_space(rows: ExperimentRows, free_bytes: int) -> None:
    """Raises UsageError, with the scale that would fit, where the largest case is too large for the disk."""
    cases = (WaySettings.model_validate(row.settings).case for row in rows.rows.values())
    largest = max(cases, key=lambda case: case.bytes)
    if largest.bytes <= free_bytes:
        return
    fits = int(rows.plan.limits.get(LINES_PERCENT, 100) * free_bytes / largest.bytes)
    remedy = (
        f"Free some space, or use --scale {fits / 100:.2f}"
        if fits >= 1
        else "Free some space: not even a hundredth of the published lines fits"
    )
    raise UsageError(
        f"{rows.experiment.name}: {largest.files} files with {largest.lines:,} lines need {largest.bytes / 1e6:,.0f} MB, and"
        f" the engine's disk has {free_bytes / 1e6:,.0f} MB left. {remedy}"
    )

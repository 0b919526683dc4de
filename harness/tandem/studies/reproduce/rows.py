"""An experiment's rows as variants, windows and fresh starts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.catalog.labs import OF_A_LAB
from tandem.catalog.scenario import Scenario
from tandem.engine.blocks import complete_blocks, rounds_of_blocks
from tandem.errors import TandemError, UsageError
from tandem.judge.file_io import PROGRAM, Case, WaySettings
from tandem.lab.case import db_pool_usable, handler_threads
from tandem.load.generator import OHA, Load
from tandem.load.generators import GENERATORS
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
        update: dict[str, Any] = {
            "label": self.label,
            "scenario_changes": {**self.variant.scenario_changes, **changes},
        }
        if self.on_ladder:
            update |= {"base": self.variant.label, "coordinates": changes}
        return self.variant.model_copy(update=update)


@dataclass(frozen=True)
class ReadRow:
    """A row as its file says it, in types."""

    row: ExperimentRow
    variant: Variant
    own: RowWindow


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
        self._places = places or cpus
        self.catalog, self.experiment, self.cpus, self.in_lab = catalog, experiment, cpus, in_lab
        self.plan = experiment.plan(plan)
        self.rows: dict[str, PlannedRow] = {}
        self._asked: list[ReadRow] = []
        for step in (self._ask, self._know):  # what a row shares with others is known once all are read
            for row in experiment.measured(plan):
                try:
                    step(row)
                except UsageError as error:
                    raise UsageError(f"{experiment.name}: row '{row.label}': {error}") from None
        # The shortest delay first: it is what is verified and warmed up.
        by_delay = sorted(self.rows.values(), key=lambda row: row.own.delay_ms or 0)
        self.variants = list({row.variant.label: row.variant for row in by_delay}.values())
        """All variants that are started."""
        self.starts: dict[str, list[str]] = {}
        """Name of a fresh start -> its rows."""
        for known in by_delay:
            self.starts.setdefault(known.start, []).append(known.label)

    # ---- what a row is ----

    def _ask(self, row: ExperimentRow) -> None:
        table = laid_over({"label": "", **self.experiment.variant}, row.variant)
        variant = parse("variant", table, Variant)
        own = parse("window", laid_over(self.experiment.window, row.window), RowWindow)
        self._asked.append(ReadRow(row, variant.model_copy(update={"placement": self._placement()}), own))

    def _know(self, row: ExperimentRow) -> None:
        asked = next(one for one in self._asked if one.row is row)
        counts = asked.variant.implementation == PROGRAM
        self.rows[row.label] = self._counting(asked) if counts else self._served(asked)

    def _placement(self) -> str:
        """The host's own where it gives the application enough CPUs, else the one that pins nothing."""
        least, own = self.experiment.app_cpus_least, OF_A_LAB
        if not self.in_lab:
            own = self.catalog.default_placement(self._places).name
        if (self.catalog.app_cpus(own) or self.cpus) >= least:
            return own
        if self.cpus < least:
            raise UsageError(f"app_cpus_least: {least} CPUs are needed, and this host has {self.cpus}")
        return self.catalog.placements["shared"].name

    def _counting(self, asked: ReadRow) -> PlannedRow:
        """A way of counting lines of files; the rows of one case share its files."""
        way = parse("variant -> settings", dict(asked.variant.settings), WaySettings)
        lines = max(way.files, way.lines * self.plan.limits.get(LINES_PERCENT, 100) // 100)
        made = way.model_copy(update={"lines": lines})
        settings = {name: str(value) for name, value in made.model_dump().items()}
        for other in self.rows.values():
            if other.settings == settings:
                raise UsageError(f"it is the same measurement as the row '{other.label}'")
        update = {"label": asked.row.label, "settings": settings, "placement": None}
        return PlannedRow(asked.row, asked.variant.model_copy(update=update), made.case.name, settings)

    def _served(self, asked: ReadRow) -> PlannedRow:
        """A program under load. Rows of equal variants share a fresh start, and those with the same load a window; silent
        connections have a start of their own, whose memory is untouched."""
        variant, own = asked.variant, asked.own
        alike = [other for other in self._asked if other.variant == variant]
        first = min(alike, key=lambda other: other.own.delay_ms or 0)
        load = next(other for other in alike if other.own == own)
        scenario, settings, ceilings, changes = self._waiting(asked)
        label = variant.label or first.row.label
        started = {
            "label": label,
            "scenario_changes": {**variant.scenario_changes, **self._waiting(first)[3]},
        }
        least = min(ceilings.values(), default=None)
        window = own.spec(file_name(load.row.label), label, self.plan, least, changes)
        known = self.catalog.implementation(variant.implementation)
        usable = db_pool_usable(scenario, known, settings)
        most = handler_threads(known, settings), variant.variables.get("APP_MAXCONN")
        self._check(own, window, scenario)
        told = {
            "implementation": variant.implementation,
            "scenario": scenario.path,
            "topology": variant.topology,
            "placement": variant.placement,
            "connections": own.connections or scenario.connections,
            "window_s": window.seconds,
            "delay_ms": own.delay_ms,
            "db_rtt_ms": variant.db_rtt_ms,
            "round_trips": asked.row.round_trips,
            "build": variant.build,
            "generator": None if own.generator == OHA.name else own.generator,
            **window.generator_options,
            **variant.variables,
            **settings,
        }
        return PlannedRow(
            row=asked.row,
            variant=variant.model_copy(update=started),
            start=f"{label} idle" if own.generator == SILENT else label,
            settings={name: str(value) for name, value in told.items() if value not in (None, "")},
            own=own,
            window=window,
            ceilings=ceilings,
            usable=None if usable is None else min([usable, *(int(one) for one in most if one is not None)]),
            on_ladder=self.experiment.ascending,
        )

    def _waiting(self, asked: ReadRow) -> tuple[Scenario, dict[str, str], dict[str, float], dict[str, Any]]:
        """The scenario with a row's changes, the effective settings, the rates that waiting allows, and what follows from the
        wait for the client. Raises UsageError for what cannot be run."""
        catalog, variant, own = self.catalog, asked.variant, asked.own
        known = catalog.implementation(variant.implementation)
        base = catalog.scenario(variant.scenario or "")
        catalog.pick("topology", variant.topology or "", catalog.topologies)
        for name in variant.variables:
            catalog.pick("limit of a shared service", name, dict.fromkeys(LIMITS, name))
        if variant.db_rtt_ms is not None and not base.statements:
            raise UsageError(f"{base.name} never asks the database: leave db_rtt_ms out")
        if variant.db_rtt_ms is None and asked.row.round_trips is not None:
            raise UsageError("`round_trips` needs `db_rtt_ms`: without a distance they give no ceiling")
        if base.name in known.unsupported.scenarios:
            why = known.unsupported.scenarios[base.name]
            raise UsageError(f"{known.name} does not support {base.name}: {why}")
        app_cpus = catalog.app_cpus(variant.placement or "") or self.cpus
        settings = catalog.effective_settings(known, app_cpus, dict(variant.settings))
        changes: dict[str, Any] = {}
        if own.delay_ms is not None:
            head, mark, _ = base.path.partition("?delay_ms=")
            if not mark:
                raise UsageError(f"window -> delay_ms: the scenario {base.name} does not wait")
            changes["path"] = f"{head}{mark}{own.delay_ms}"
        table = {**base.model_dump(), **variant.scenario_changes, **changes}
        scenario = parse("variant -> scenario_changes", table, Scenario)
        threads = handler_threads(known, settings)
        connections = own.connections or scenario.connections
        ceilings = waiting_ceilings(connections, own.delay_ms, threads)
        if "timeout_s" not in variant.scenario_changes:
            patience = patience_s(connections, min(ceilings.values(), default=None))
            changes |= {} if patience == scenario.timeout_s else {"timeout_s": patience}
        return scenario, settings, ceilings, changes

    def _check(self, own: RowWindow, window: WindowSpec, scenario: Scenario) -> None:
        """Raises UsageError for a load that its generator cannot make."""
        if own.generator in (OHA.name, SILENT):
            return
        urls = [f"http://app/{number}" for number in scenario.expanded_ids] or None
        connections, options = own.connections or scenario.connections, window.generator_options
        load = Load("http://app/", window.seconds, connections, 1, {}, urls=urls, options=options)
        try:
            GENERATORS[own.generator].inputs(load, "check")
        except TandemError as error:
            raise UsageError(str(error)) from None

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
        if self.experiment.ascending:
            windows.sort(key=_connections)
        seconds = max(WARM_UP_LEAST_S, self.plan.warm_up_s)
        return TrialSpec(
            name=name,
            block=block,
            variants=[rows[0].variant.label],
            warm_up=WarmUp(least_s=seconds, cap_s=seconds),
            windows=windows,
        )


def _connections(window: WindowSpec) -> int:
    """Number of connections of a window, silent ones included."""
    return max(one for one in window.scenario_changes.values() if isinstance(one, int))


def counts_files(experiment: Experiment) -> bool:
    """Say whether the program of an experiment reads and writes files and answers no HTTP."""
    return PROGRAM in (
        experiment.variant.get("implementation"),
        experiment.rows[0].variant.get("implementation"),
    )


def scaled(experiment: Experiment, plan: PlanName, scale: float | None) -> Experiment:
    """The experiment with another share of the published lines. scale: 0.01 to 1; None: the plan's own."""
    if scale is None:
        return experiment
    if not counts_files(experiment):
        raise UsageError(f"--scale is for experiments with files; {experiment.name} has none")
    if not 0.01 <= scale <= 1:
        raise UsageError(f"--scale takes a share of the published lines from 0.01 to 1, not {scale:g}")
    plans = experiment.plans.limited(plan, {LINES_PERCENT: round(scale * 100)})
    return experiment.model_copy(update={"plans": plans})


def cases(rows: ExperimentRows) -> list[Case]:
    """The different files that the starts count."""
    return list({WaySettings.model_validate(row.settings).case: None for row in rows.rows.values()})


def check_space(rows: ExperimentRows, free_bytes: int) -> None:
    """Raises UsageError, with the scale that would fit, where the largest case is too large for the disk."""
    largest = max(cases(rows), key=lambda case: case.bytes)
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

"""The study behind `crossover`: both variants in each cell of a grid, fresh starts in randomised complete blocks:
waits x threads x pools."""

import math
import re
import statistics
from collections.abc import Sequence
from itertools import product

from tandem.analysis.stack import Calibrated, Setup, beside, calibrated
from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.scenario import Scenario
from tandem.engine.blocks import Blocks
from tandem.engine.findings import together
from tandem.engine.grid import LONGEST_DISTANCE_MS, LONGEST_WAIT_MS, SETTINGS, Grid, placed, waiting
from tandem.engine.study import INTERVAL_LEAST, Options, warn_of_too_few
from tandem.errors import UsageError
from tandem.facts.estimate import OfVariant, goodput, ln_ratios, of_variants
from tandem.lab.case import setup_of
from tandem.record.conclusion import Coordinates
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.record.window import Window
from tandem.studies.crossover import report as tables
from tandem.studies.crossover.conclusions import Crossed, Prediction, cells, meetings

PATIENCE_S, ROOM = 1.5, 0.8
"""The contract lets a request wait so long for a database connection, then it is refused; some of it is left for bursts."""


class CrossoverOptions(Options):
    needs = "a crossover needs waits, threads, pools and rounds"
    waits_ms: list[int]
    threads: list[int]
    """Threads of each worker, for sync models; empty: as the variant has it."""
    pools: list[int]
    rounds: int
    """Number of fresh starts of each cell."""
    app_cpus: int | None = None
    """CPUs of the application in a lab; None: as the placement has them."""

    @property
    def points(self) -> list[Coordinates]:
        """The cells, by threads and pool, then by wait; without what a variant keeps as it has it."""
        axes = {"threads": self.threads, "pool": self.pools}
        given = {name: values for name, values in axes.items() if values}
        groups = [dict(zip(given, values, strict=True)) for values in product(*given.values())]
        return [{"wait_ms": wait, **group} for group in groups for wait in self.waits_ms]


def whole_numbers(option: str, text: str | None, least: int, unit: str = "") -> list[int]:
    """`0,1,5` as ascending numbers, the unit allowed behind each; none where nothing is given. Raises UsageError."""
    if text is None:
        return []
    found = set()
    for part in text.split(","):
        match = re.fullmatch(rf"\s*(\d{{1,5}})(?:{unit})?\s*", part, re.ASCII)
        if not match or int(match[1]) < least:
            raise UsageError(f"{option} takes whole numbers from {least}, such as 1,5,20{unit}, not '{part}'")
        found.add(int(match[1]))
    return sorted(found)


def waits_by_itself(scenario: Scenario) -> bool:
    """Whether a request asks for its wait; else the wait is the distance of the database."""
    return "delay_ms=" in scenario.path


def refuse(asked: CrossoverOptions, scenario: Scenario, both: list[Implementation]) -> None:
    """Raises UsageError for a grid that means nothing."""
    if len(both) != 2:
        raise UsageError(f"a crossover takes two variants, not {len(both)}")
    own = waits_by_itself(scenario)
    if not own and not scenario.statements:
        raise UsageError(f"{scenario.name} neither waits nor asks the database, so there is no wait to vary")
    most = LONGEST_WAIT_MS if own else LONGEST_DISTANCE_MS
    if max(asked.waits_ms) > most:
        raise UsageError(f"--wait: {most} ms is the maximum for {scenario.name}")
    if len(asked.waits_ms) < 2:
        raise UsageError("--wait needs at least two values, such as 0,1,5,15,50ms")
    if asked.pools and not scenario.statements:
        raise UsageError(f"--pool: {scenario.name} never asks the database")
    if asked.threads and all(one.model != "sync" for one in both):
        raise UsageError("--threads is for sync models, and neither of the two is sync")


def variant_at(variant: Variant, model: str, point: Coordinates, scenario: Scenario) -> Variant:
    """The variant in a cell. Threads are not varied where handlers hold none: such a variant has one start for them all."""
    own = {name: value for name, value in point.items() if model == "sync" or name != "threads"}
    chosen = {SETTINGS[name]: str(value) for name, value in own.items() if name in SETTINGS}
    twice = sorted({*chosen} & {*variant.settings})
    if twice:
        raise UsageError(f"{variant.label}: {twice[0]} is varied here, so it cannot be given as well")
    wait_ms = own["wait_ms"]
    told = [f"wait={wait_ms}ms", *(f"{name}={value}" for name, value in own.items() if name in SETTINGS)]
    label = " ".join([variant.label, *told])
    if waits_by_itself(scenario):
        return placed(variant, label, own, chosen, waiting(scenario, wait_ms))
    return placed(variant, label, own, chosen, db_rtt_ms=wait_ms)


class Crossover(Grid[Crossed]):
    """Each of two variants in each cell once in each round; a block has one wait and pool. Every trial has the plan's
    warm-up and closed window."""

    name = "crossover"
    kind = Crossed
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = CrossoverOptions.read(request)
        self.scenario = catalog.scenario(request.scenario)
        both = [catalog.implementation(variant.implementation) for variant in request.variants]
        refuse(self.asked, self.scenario, both)
        if request.conditions.db_rtt_ms is not None:
            raise UsageError("--db-rtt cannot be given: --wait varies the distance")
        sides = list(zip(request.variants, both, strict=True))
        self.points = self.asked.points
        self.at = [
            [variant_at(variant, known.model, point, self.scenario) for variant, known in sides]
            for point in self.points
        ]
        self._refuse_impatient()

    def _refuse_impatient(self) -> None:
        """Raises UsageError, with what fits, where requests would wait for a database connection for longer than they may: a
        window of refusals measures nothing."""
        cpus = self.asked.app_cpus or self.catalog.app_cpus(self.request.conditions.placement) or 1
        for variant in self.variants:
            setup, _ = self._setup(variant, cpus)
            span_s = self.scenario.in_turn * (variant.db_rtt_ms or 0) / 1e3
            inside = min(setup.connections, setup.threads or setup.connections)
            if setup.pool is None or span_s <= 0 or (inside / setup.pool - 1) * span_s <= ROOM * PATIENCE_S:
                continue
            most = math.floor((ROOM * PATIENCE_S / span_s + 1) * setup.pool)
            raise UsageError(
                f"{variant.label}: {inside} requests share {setup.pool} database connections, each for {span_s * 1e3:.0f} ms: they"
                f" would wait longer than the {PATIENCE_S} s after which they are refused. --connections {most} fits, or a larger"
                " --pool"
            )

    def _setup(self, variant: Variant, cpus: int, distance_ms: float = 0.0) -> tuple[Setup, dict[str, str]]:
        """What limits a variant on so many CPUs, and its effective settings."""
        implementation = self.catalog.implementation(variant.implementation)
        chosen = {**self.request.settings, **variant.settings}
        settings = self.catalog.effective_settings(implementation, cpus, chosen)
        scenario = self.scenario.model_copy(update=variant.scenario_changes)
        return setup_of(implementation, scenario, settings, distance_ms), settings

    @property
    def variants(self) -> list[Variant]:
        return list({variant.label: variant for pair in self.at for variant in pair}.values())

    @property
    def rounds(self) -> int:
        return self.asked.rounds

    @property
    def groups(self) -> list[list[str]]:
        # An async variant is in the pairs of all threads, so those of one wait and pool share a block.
        groups: dict[tuple[object, ...], list[str]] = {}
        for point, pair in zip(self.points, self.at, strict=True):
            groups.setdefault((point["wait_ms"], point.get("pool")), []).extend(one.label for one in pair)
        return [list(dict.fromkeys(labels)) for labels in groups.values()]

    def plan(self) -> Blocks:
        warn_of_too_few(
            self.tell, self.rounds, INTERVAL_LEAST, "rounds", "say who wins in any cell", "--rounds 3"
        )
        yield from super().plan()

    # ---- afterwards ----

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Crossed]:
        first, second = (variant.label for variant in self.request.variants)
        found = of_variants(trials, self.variants)
        full = {one.variant.label: one.full_of_all_attempts for one in found}
        ln = [ln_ratios(full[b.label], full[a.label], goodput) for a, b in self.at]
        crossed = Crossed(
            estimates=[each for one in found for each in one.standard()],
            contrasts=cells(first, second, self.points, ln),
            first=first,
            second=second,
            waits_for="request" if waits_by_itself(self.scenario) else "database",
            rounds=self.rounds,
            predictions=self._predictions(found),
        )
        crossed.meetings = meetings(crossed)
        known = all(cell.interval is not None for cell in crossed.contrasts)
        return together(trials, known, crossed, tables.headline(crossed))

    def _predictions(self, found: Sequence[OfVariant]) -> list[Prediction]:
        """Predict each variant in each cell from its windows at the shortest wait, where CPU time is most of it."""
        near: dict[str, list[Window]] = {variant.label: [] for variant in self.request.variants}
        for one in found:
            if self._is_nearest(one.variant):
                near[one.variant.asked] += [fact.window for fact in one.full]
        bases = {label: calibrated(windows) for label, windows in near.items()}
        return [self._prediction(one, base) for one in found if (base := bases[one.variant.asked])]

    def _is_nearest(self, variant: Variant) -> bool:
        return variant.coordinates["wait_ms"] == min(self.asked.waits_ms)

    def _prediction(self, own: OfVariant, base: Calibrated) -> Prediction:
        variant, windows = own.variant, [one.window for one in own.full]
        here = calibrated(windows)
        # Of the cell's own windows only the idle round trip is taken, and nothing that the load changes.
        far_ms = here.distance_ms if here else float(variant.db_rtt_ms or 0)
        setup, settings = self._setup(variant, base.cores[base.cpusets["app"]], far_ms)
        measured_rps = statistics.fmean(map(goodput, windows)) if windows else 0.0
        predicted, off, reasons = beside(base, here, setup, settings, measured_rps)
        return Prediction(
            variant=variant.asked,
            coordinates=variant.coordinates,
            predicted=predicted,
            calibrated=self._is_nearest(variant),
            off=off,
            likely=reasons,
        )

"""The study behind `crossover`: both variants in each cell of a grid, fresh starts in randomised complete blocks."""

import statistics
from collections.abc import Mapping, Sequence

from tandem.analysis.stack import Calibrated, beside, calibrated
from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import cpus_in
from tandem.engine.blocks import Blocks
from tandem.engine.findings import together
from tandem.engine.grid import Grid
from tandem.engine.study import INTERVAL_LEAST, warn_of_too_few
from tandem.errors import UsageError
from tandem.facts.estimate import OfVariant, goodput, ln_ratios, of_variants
from tandem.lab.case import setup_of
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.studies.crossover import report as tables
from tandem.studies.crossover.conclusions import Crossed, Prediction, cells, meetings
from tandem.studies.crossover.grid import (
    CrossoverOptions,
    refuse,
    refuse_impatient,
    variant_at,
    waits_by_itself,
)


class Crossover(Grid[Crossed]):
    """Each of two variants in each cell once in each round; a block has one wait and pool. Every trial has the plan's
    warm-up and closed window."""

    name = "crossover"
    kind = Crossed
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = CrossoverOptions.read(request)
        self.scenario = catalog.pick("scenario", request.scenario, catalog.scenarios)
        self.both = [catalog.implementation(variant.implementation) for variant in request.variants]
        refuse(self.asked, self.scenario, self.both)
        self.points = self.asked.points
        if request.conditions.db_rtt_ms is not None:
            raise UsageError("--db-rtt cannot be given: --wait varies the distance")
        sides = list(zip(request.variants, self.both, strict=True))
        self.at: list[list[Variant]] = [
            [variant_at(variant, known.model, point, self.scenario) for variant, known in sides]
            for point in self.points
        ]

        self._refuse_impatient()

    def _refuse_impatient(self) -> None:
        placement = self.catalog.pick("placement", self.request.conditions.placement, self.catalog.placements)
        cpus = self.asked.app_cpus or cpus_in(placement.variables.get("APP_CPUSET", "")) or 1
        for pair in self.at if self.scenario.statements else []:
            for known, variant in zip(self.both, pair, strict=True):
                chosen = {**self.request.settings, **variant.settings}
                settings = self.catalog.effective_settings(known, cpus, chosen)
                asked = setup_of(known, self.scenario.model_copy(update=variant.scenario_changes), settings)
                if asked.pool is not None:
                    inside = min(asked.connections, asked.threads or asked.connections)
                    refuse_impatient(variant.label, self.scenario, variant.db_rtt_ms or 0, inside, asked.pool)

    @property
    def variants(self) -> list[Variant]:
        return list({variant.label: variant for pair in self.at for variant in pair}.values())

    @property
    def rounds(self) -> int:
        return self.asked.rounds

    @property
    def groups(self) -> list[list[str]]:
        # An async variant is in the pairs of all threads, so those of one wait and pool share a block.
        groups: dict[tuple[object, ...], dict[str, None]] = {}
        for point, pair in zip(self.points, self.at, strict=True):
            key = point["wait_ms"], point.get("pool")
            groups.setdefault(key, {}).update({one.label: None for one in pair})
        return [list(own) for own in groups.values()]

    def plan(self) -> Blocks:
        warn_of_too_few(
            self.tell, self.rounds, INTERVAL_LEAST, "rounds", "say who wins in any cell", "--rounds 3"
        )
        yield from super().plan()

    # ---- afterwards ----

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Crossed]:
        first, second = (variant.label for variant in self.request.variants)
        found = {one.variant.label: one for one in of_variants(trials, self.variants)}
        pairs = [tuple(found[variant.label] for variant in pair) for pair in self.at]
        crossed = Crossed(
            estimates=[each for one in found.values() for each in one.standard()],
            contrasts=cells(
                first,
                second,
                self.points,
                [ln_ratios(b.full_of_all_attempts, a.full_of_all_attempts, goodput) for a, b in pairs],
            ),
            first=first,
            second=second,
            waits_for="request" if waits_by_itself(self.scenario) else "database",
            rounds=self.rounds,
            predictions=self._predictions(found),
        )
        crossed.meetings = meetings(crossed)
        known = all(cell.interval is not None for cell in crossed.contrasts)
        return together(trials, known, crossed, tables.headline(crossed))

    def _predictions(self, found: Mapping[str, OfVariant]) -> list[Prediction]:
        """Of each variant in each cell, from its own windows at the shortest wait, where CPU time is most of it."""
        out: dict[str, Prediction] = {}
        shortest = min(self.asked.waits_ms)
        for side in range(2):
            labels = dict.fromkeys(pair[side].label for pair in self.at)
            near = [label for label in labels if found[label].variant.coordinates["wait_ms"] == shortest]
            base = calibrated([one.window for label in near for one in found[label].full])
            for label in labels if base is not None else []:
                assert base is not None
                out[label] = self._prediction(side, found[label], base, label in near)
        order = (variant.label for pair in self.at for variant in pair)
        return [out[label] for label in dict.fromkeys(order) if label in out]

    def _prediction(self, side: int, own: OfVariant, base: Calibrated, is_base: bool) -> Prediction:
        variant, windows = own.variant, [one.window for one in own.full]
        here, settings = calibrated(windows), self._settings(side, own.variant, base)
        # Of the cell's own windows only the idle round trip is taken, and nothing that the load changes.
        far_ms = here.distance_ms if here else float(variant.db_rtt_ms or 0)
        asked = self.scenario.model_copy(update=variant.scenario_changes)
        setup = setup_of(self.both[side], asked, settings, far_ms)
        measured_rps = statistics.fmean(map(goodput, windows)) if windows else 0.0
        predicted, off, reasons = beside(base, here, setup, settings, measured_rps)
        return Prediction(
            variant=variant.asked,
            coordinates=variant.coordinates,
            predicted=predicted,
            calibrated=is_base,
            off=off,
            likely=reasons,
        )

    def _settings(self, side: int, variant: Variant, base: Calibrated) -> dict[str, str]:
        cpus = base.cores[base.cpusets["app"]]
        chosen = {**self.request.settings, **variant.settings}
        return self.catalog.effective_settings(self.both[side], cpus, chosen)

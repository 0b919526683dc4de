"""The study behind `crossover`: both variants in each cell of a grid, fresh starts in randomised complete blocks."""

import math
import statistics
from collections.abc import Sequence

from tandem.analysis.ratios import t_interval
from tandem.analysis.stack import OFF, Calibrated, calibrated, likely, off, predict
from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import cpus_in
from tandem.engine import deciding
from tandem.engine.blocks import best, of_each
from tandem.engine.findings import not_counted, verdict_of, warnings
from tandem.engine.study import Study
from tandem.errors import UsageError
from tandem.facts.metric import GOODPUT
from tandem.lab.case import setup_of
from tandem.record.conclusion import Contrast
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.bench.study import closed_blocks
from tandem.studies.crossover import pictures as drawn
from tandem.studies.crossover import plots
from tandem.studies.crossover import report as tables
from tandem.studies.crossover.conclusions import CrossCell, Crossed, CrossSide, intervals, meetings, winner
from tandem.studies.crossover.grid import (
    CrossoverOptions,
    GridPoint,
    refuse,
    refuse_impatient,
    variant_at,
    waits_by_itself,
)
from tandem.studies.sweep.conclusions import MeanOfRounds, good_windows, mean


class Crossover(Study[Crossed]):
    """Each of two variants in each cell once in each round; a block has one wait and pool. Every trial has the plan's
    warm-up and closed window."""

    name = "crossover"
    kind = Crossed
    whole = "each of its cells is a pair of both variants"
    report = staticmethod(tables.report)
    headline = staticmethod(tables.headline)
    pictures = staticmethod(drawn.pictures)

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

    def outline(self) -> list[list[TrialSpec]]:
        groups: dict[
            tuple[int, int | None], dict[str, None]
        ] = {}  # an async variant is in the pairs of all threads
        for point, pair in zip(self.points, self.at, strict=True):
            groups.setdefault((point.wait_ms, point.pool), {}).update({one.label: None for one in pair})
        return closed_blocks(
            self.timing, [list(own) for own in groups.values()], self.asked.rounds, self.request.seed
        )

    def ahead(self, expected_s: float) -> list[str]:
        return deciding.too_few(
            self.asked.rounds,
            deciding.INTERVAL_LEAST,
            "rounds",
            expected_s,
            "say who wins in any cell",
            "--rounds 3",
        )

    # ---- afterwards ----

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Crossed]:
        chosen = best(trials)
        own = of_each((variant.label for variant in self.variants), chosen)
        ln_ratios = [self._ln_ratios(*(own[variant.label] for variant in pair)) for pair in self.at]
        bases = [self._base(side, own) for side in range(2)]
        cells = [
            self._cell(point, pair, own, ln, interval, bases)
            for point, pair, ln, interval in zip(
                self.points, self.at, ln_ratios, intervals(ln_ratios), strict=True
            )
        ]
        known = all(cell.interval is not None for cell in cells)
        return Concluded(
            verdict=verdict_of(trials, known),
            reasons=not_counted(chosen),
            findings=warnings(trials),
            conclusions=Crossed(
                first=self.request.variants[0].label,
                second=self.request.variants[1].label,
                waits_for="request" if waits_by_itself(self.scenario) else "database",
                waits_ms=self.asked.waits_ms,
                rounds=self.asked.rounds,
                cells=cells,
                contrasts=[
                    Contrast(
                        metric=GOODPUT,
                        of=self.request.variants[1].label,
                        to=self.request.variants[0].label,
                        coordinates=cell.at.coordinates,
                        ratio=cell.ratio,
                        interval=cell.interval,
                        n=cell.blocks,
                        word=cell.winner,
                        family="cells",
                    )
                    for cell in cells
                ],
                meetings=meetings(cells),
            ),
        )

    def _ln_ratios(self, first: Sequence[Trial], second: Sequence[Trial]) -> list[float]:
        """ln(second / first) of each block in which both are good."""
        rates = [
            {t.spec.block: window.goodput_rps for t in side for window in good_windows([t])}
            for side in (first, second)
        ]
        return [math.log(rates[1][b] / rates[0][b]) for b in rates[0] if b in rates[1]]

    def _base(self, side: int, own: dict[str, list[Trial]]) -> Calibrated | None:
        """What a side's predictions are made from: its windows at the shortest wait, where CPU time is most of it."""
        shortest = min(self.asked.waits_ms)
        labels = {
            pair[side].label: None
            for point, pair in zip(self.points, self.at, strict=True)
            if point.wait_ms == shortest
        }
        return calibrated([window for label in labels for window in good_windows(own[label])])

    def _cell(
        self,
        point: GridPoint,
        pair: Sequence[Variant],
        own: dict[str, list[Trial]],
        ln: Sequence[float],
        interval: tuple[float, float] | None,
        bases: Sequence[Calibrated | None],
    ) -> CrossCell:
        sides = [
            self._side(n, point, variant, own[variant.label], bases[n]) for n, variant in enumerate(pair)
        ]
        first, second = (side.predicted for side in sides)
        return CrossCell(
            at=point,
            sides=sides,
            blocks=len(ln),
            ratio=math.exp(statistics.fmean(ln)) if ln else None,
            interval=interval,
            winner=winner(interval),
            predicted_ratio=second.throughput_rps / first.throughput_rps if first and second else None,
        )

    def _side(
        self, side: int, point: GridPoint, variant: Variant, trials: Sequence[Trial], base: Calibrated | None
    ) -> CrossSide:
        good = good_windows(trials)
        here = calibrated(good)
        rates = [window.goodput_rps for window in good]
        rate = MeanOfRounds(mean=statistics.fmean(rates), interval=t_interval(rates)) if rates else mean([])
        predicted, distance, reasons = None, None, list[str]()
        if base is not None:
            settings = self._settings(side, variant, base)
            # Of the cell's own windows only the idle round trip is taken, and nothing that the load changes.
            far_ms = here.distance_ms if here else float(variant.db_rtt_ms or 0)
            asked = self.scenario.model_copy(update=variant.scenario_changes)
            predicted = predict(base, setup_of(self.both[side], asked, settings, far_ms))
            if rate.mean is not None and here is not None:
                distance = off(predicted.throughput_rps, rate.mean)
                if abs(distance) > OFF:
                    reasons = likely(base, here, settings, too_high=distance > 0)
        return CrossSide(
            label=variant.label,
            goodput_rps=rate,
            bottleneck=statistics.mode(window.bottleneck for window in good) if good else None,
            predicted=predicted,
            calibrated=point.wait_ms == min(self.asked.waits_ms),
            off=distance,
            likely=reasons,
        )

    def _settings(self, side: int, variant: Variant, base: Calibrated) -> dict[str, str]:
        cpus = base.cores[base.cpusets["app"]]
        chosen = {**self.request.settings, **variant.settings}
        return self.catalog.effective_settings(self.both[side], cpus, chosen)

    @classmethod
    def files(cls, result: Result[Crossed]) -> dict[str, str]:
        """The heat map."""
        return plots.files(result.conclusions)

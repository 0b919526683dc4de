"""The study behind `explain`: both sides' settings in every combination, in randomised blocks; and what is known of each
cell: its good starts, what limited it, a closed network beside it."""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tandem.analysis.block_model import CellMeans, fit
from tandem.analysis.ceilings import reaches_ceiling
from tandem.analysis.cost import APP
from tandem.analysis.stack import Setup, beside, calibrated
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks, complete_blocks
from tandem.engine.findings import warnings, why
from tandem.engine.grid import fresh_start
from tandem.engine.study import INTERVAL_LEAST, Study, warn_of_too_few
from tandem.errors import UsageError
from tandem.facts.estimate import AT_FULL_LOAD, OfVariant, of_variants
from tandem.facts.metric import GOODPUT
from tandem.lab.case import setup_of
from tandem.record.conclusion import Estimate
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.explain import report as tables
from tandem.studies.explain.conclusions import EXPLAINED, Cell, Explained, Modelled
from tandem.studies.explain.design import (
    CONDITIONS,
    LIMITS,
    SIDES,
    ExplainOptions,
    check_groups,
    check_path,
    effective,
    leg_of,
)
from tandem.studies.explain.shares import CellLimits, crossings, explanation, gap

SHARED = ("generator", "generator-thread", "proxy", "faults")
"""Limits that are the laboratory's: a rate that one of them holds back is a lower bound."""
BEHIND = {"database", "pooler"}
"""What a program cannot be faster than: a setting may relieve it, but of the program itself its rate is a lower bound."""


@dataclass(frozen=True)
class MeasuredCell:
    """One cell as its starts found it."""

    own: OfVariant
    trials: list[Trial]
    """Trials of this cell alone, bad ones too."""
    ceilings_rps: Mapping[str, float | None]

    @property
    def windows(self) -> list[Window]:
        """Windows of the good starts."""
        return [fact.window for fact in self.own.full]

    @property
    def held_back(self) -> bool:
        """Whether the laboratory held the rate back, or a ceiling is near."""
        if not self.windows:
            return False
        mean = statistics.fmean(window.goodput_rps for window in self.windows)
        return self.own.limit in SHARED or reaches_ceiling(mean, self.ceilings_rps)

    @property
    def behind(self) -> bool:
        """Whether what stands behind the program limited it. A tie with the program itself does not count."""
        return {*(self.own.limit or "").split("+")} <= BEHIND

    @property
    def verdict(self) -> Verdict:
        """ok: it has figures. failed: it cannot be, as no start of it ever came up. Else the host or wrong answers took them."""
        if self.windows:
            return Verdict.OK
        if self.trials and all(trial.verdict is Verdict.FAILED for trial in self.trials):
            return Verdict.FAILED
        wrong = any(trial.verdict in (Verdict.INVALID, Verdict.FAILED) for trial in self.trials)
        return Verdict.INVALID if wrong else Verdict.VOID

    @property
    def reason(self) -> str:
        """The reason why the cell has no figures."""
        return next(filter(None, map(why, self.trials)), "it was not made")

    def mean(self, read: Callable[[Window], float | None]) -> float | None:
        known = [value for window in self.windows if (value := read(window)) is not None]
        return statistics.fmean(known) if known else None

    def for_each_answer(self, count: Callable[[Window], float | None]) -> float | None:
        """The mean of a count, for each answer to a request."""

        def one(window: Window) -> float | None:
            counted, answered = count(window), window.good + window.probes
            return None if counted is None or not answered else counted / answered

        return self.mean(one)


type Cells = dict[str, MeasuredCell]
"""Label -> cell."""


def measured(
    variants: Sequence[Variant], trials: Sequence[Trial], ceilings_rps: Mapping[str, float | None]
) -> Cells:
    """All cells, those without a start too."""
    cells: Cells = {}
    for one in of_variants(trials, variants):
        own = [trial for trial in trials if trial.spec.variants == [one.variant.label]]
        cells[one.variant.label] = MeasuredCell(one, own, ceilings_rps)
    return cells


def fits(cells: Cells) -> dict[str, CellMeans]:
    """Metric -> its fit, where enough cells have a figure."""
    found = {}
    for metric in EXPLAINED:
        values = [
            (label, fact.block, math.log(value))
            for label, cell in cells.items()
            for fact in cell.own.full
            if (value := AT_FULL_LOAD[metric](fact.window))
        ]
        if (means := fit(values)) is not None:
            found[metric] = means
    return found


def limits(cells: Cells) -> dict[str, CellLimits]:
    """Metric -> its limits. A rate that was held back would have been higher; of a request's cost nothing follows from that."""
    unknown = {label for label, cell in cells.items() if cell.verdict in (Verdict.INVALID, Verdict.VOID)}
    held_back = {label for label, cell in cells.items() if cell.held_back}
    behind = {label: cell.own.limit or "" for label, cell in cells.items() if cell.behind}
    return {GOODPUT: CellLimits(held_back, behind, unknown), APP: CellLimits(unknown=unknown)}


def cell_estimates(cells: Cells, fits: Mapping[str, CellMeans]) -> Iterator[Estimate]:
    """Estimates of each cell and metric; of a cell without figures one that says why."""
    for label, cell in cells.items():
        for metric in EXPLAINED:
            means, known = fits.get(metric), {label: 1.0}
            mean, interval = means.ratio(known) if means is not None and means.knows(known) else (None, None)
            if mean is None and metric != GOODPUT:
                continue
            yield Estimate(
                metric=metric,
                variant=cell.own.variant.asked,
                coordinates=cell.own.variant.coordinates,
                mean=mean,
                interval=interval,
                n=len({fact.block for fact in cell.own.full}),
                limit=cell.own.limit,
                verdict=cell.verdict,
                reasons=[] if cell.windows else [cell.reason],
            )


def modelled(
    windows: Sequence[Window], setup: Setup, settings: Mapping[str, str], goodput_rps: float
) -> Modelled | None:
    """What a closed network predicts from what the windows counted. None where nothing was counted, or the network is too large
    to be solved. windows: the good ones of a cell. setup: what its settings allow. settings: effective ones. goodput_rps: what
    was measured."""
    found = calibrated(windows)
    if found is None:
        return None
    counted = max((w.db_connections_max for w in windows if w.db_connections_max), default=None)
    pool = setup.pool if setup.pool is None or counted is None else min(setup.pool, counted)
    try:
        limited = replace(setup, pool=pool, distance_ms=found.distance_ms)
        predicted, off, reasons = beside(found, found, limited, settings, goodput_rps)
    except ValueError:
        return None
    # A connection that lives for one request is rarely seen; its thread is known.
    seen = counted if pool is None and setup.threads is None else pool
    limits = [n for n in (seen, setup.threads, setup.admitted) if n is not None]
    return Modelled(
        round_trips=found.round_trips,
        usable_connections=min(limits) if limits and found.round_trips else None,
        distance_ms=found.distance_ms,
        predicted=predicted,
        off=off or 0.0,
        likely=reasons,
    )


LEAST = 2
"""Good starts of a cell; one that has fewer after the last block is made once more."""
AGAIN = " (again)"
"""What the name of a trial has behind its label, where a block has the cell twice."""


class Explain(Study[Explained]):
    """Each cell once in each block; the ends of the legs, where there are other cells, once more in every second."""

    name = "explain"
    kind = Explained
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = ExplainOptions.read(request)
        check_groups(self.asked, {*self.asked.factors, *catalog.settings, *CONDITIONS})
        topology = request.conditions.topology
        under = catalog.pick("topology", topology, catalog.topologies)
        check_path({name for own in self.asked.conditions for name in own}, topology, under.variables)
        if len(request.variants) != len(SIDES):
            raise UsageError("explain takes two variants: A and B")
        self.legs = [leg_of(catalog, request, self.asked, side) for side in range(len(SIDES))]
        cells = (leg.cell(state) for leg in self.legs for state in leg.orders().states)
        self._cells = {cell.label: cell for cell in cells}
        self.corners = list(dict.fromkeys(leg.label(corner) for leg in self.legs for corner in leg.corners))

    @property
    def variants(self) -> list[Variant]:
        return list(self._cells.values())

    def outline(self) -> list[list[TrialSpec]]:
        # A share of three factors needs 1.4 times as many starts of the ends as of the rest to be as sharp as it can be.
        more = self.corners if len(self._cells) > len(self.corners) else []
        once = [(label, label) for label in self._cells]
        twice = [*once, *((label, label + AGAIN) for label in more)]
        blocks, seed = self.asked.blocks, self.request.seed
        odd, even = (complete_blocks(starts, blocks, seed) for starts in (once, twice))
        return [
            [fresh_start(self.timing, n, *start) for start in (odd if n % 2 else even)[n - 1]]
            for n in range(1, blocks + 1)
        ]

    def plan(self) -> Blocks:
        """A void start costs its cell one value and no other: the blocks are fitted, so none is made again as a whole. A
        cell with too few gets one more start, beside the ends in a block of its own."""
        warn_of_too_few(
            self.tell, self.asked.blocks, INTERVAL_LEAST, "blocks", "decide any factor", "--blocks 3"
        )
        made: list[Trial] = []
        for block in self.outline():
            made += yield block
        few = [
            label
            for label, cell in measured(self.variants, made, {}).items()
            if len(cell.windows) < LEAST and any(trial.verdict is Verdict.VOID for trial in cell.trials)
        ]
        if few:
            again = dict.fromkeys([*few, *self.corners])
            yield [fresh_start(self.timing, self.asked.blocks + 1, label) for label in again]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Explained]:
        cells = measured(self.variants, trials, baselines.ceilings_rps)
        found = self._explained(cells)
        ends = [cells[label] for label in self.corners if not cells[label].windows]
        reasons = [f"{end.own.variant.label}: {end.reason}" for end in ends]
        verdict = Verdict.OK
        if found.of() is None:
            wrong = any(end.verdict in (Verdict.INVALID, Verdict.FAILED) for end in ends)
            verdict = Verdict.INVALID if wrong else Verdict.VOID
            reasons = reasons or ["no path leads from one end to the other through cells that have figures"]
        return Concluded(
            verdict=verdict,
            reasons=reasons,
            findings=[*_without(cells), *warnings(trials)],
            conclusions=found,
            headline=tables.headline(found),
        )

    def _explained(self, cells: Cells) -> Explained:
        every, under = fits(cells), limits(cells)
        explained = {
            metric: one
            for metric, means in every.items()
            if (one := explanation(self.legs, self.asked.words, means, under[metric], metric))
        }
        goodput = every.get(GOODPUT)
        a, b = self.request.variants
        return Explained(
            estimates=list(cell_estimates(cells, every)),
            contrasts=[gap(self.legs, every[metric], self.asked.blocks, metric) for metric in explained],
            a=a.label,
            b=b.label,
            explanations=list(explained.values()),
            cells=[
                self._cell(cell, goodput.known({label: 1.0}) if goodput else None)
                for label, cell in cells.items()
            ],
            crossings=crossings(self.legs, explained[GOODPUT], every[GOODPUT])
            if GOODPUT in explained
            else [],
            blocks=self.asked.blocks,
            source=self.asked.source,
        )

    def _cell(self, cell: MeasuredCell, goodput_rps: float | None) -> Cell:
        """What is known of a cell besides its estimates, with the model beside it. goodput_rps: as it was fitted; None: it was not."""
        variant, windows = cell.own.variant, cell.windows
        settings = effective(self.catalog, self.request, self.asked, variant)
        rates = [math.log(window.goodput_rps) for window in windows if window.goodput_rps]
        demands_us: dict[str, list[float]] = {}
        for window in windows:
            for name, role in window.roles.items():
                if window.goodput_rps:
                    demands_us.setdefault(name, []).append(role.cpu_cores / window.goodput_rps * 1e6)
        connections = [window.db_connections_max for window in windows if window.db_connections_max]
        setup = self._setup(variant, settings)
        return Cell(
            label=variant.label,
            variant=variant.asked,
            coordinates=variant.coordinates,
            settings=settings,
            starts=len(windows),
            held_back=cell.held_back,
            sd_ln=statistics.stdev(rates) if len(rates) > 1 else None,
            connections=windows[0].connections if windows else None,
            db_connections_max=max(connections, default=None),
            statements_per_request=cell.for_each_answer(
                lambda w: sum(one.calls for one in w.statements.values()) if w.statements else None
            ),
            pooler_queries_per_request=cell.for_each_answer(lambda w: w.pooler.queries if w.pooler else None),
            db_rtt_idle_ms=cell.mean(lambda w: w.db_rtt_ms.before_p50 if w.db_rtt_ms else None),
            db_rtt_loaded_ms=cell.mean(lambda w: w.db_rtt_ms.during_p50 if w.db_rtt_ms else None),
            demands_us={name: statistics.fmean(each) for name, each in demands_us.items()},
            model=None if goodput_rps is None else modelled(windows, setup, settings, goodput_rps),
        )

    def _setup(self, variant: Variant, settings: Mapping[str, str]) -> Setup:
        """What limits a variant. settings: effective ones."""
        proxy, pooler = (variant.variables.get(variable) for variable in LIMITS.values())
        setup = setup_of(
            self.catalog.implementation(variant.implementation),
            self.catalog.scenario(self.request.scenario).model_copy(update=variant.scenario_changes),
            settings,
            admitted=int(proxy) if proxy else None,
        )
        return replace(setup, pool=min(int(pooler), setup.pool or int(pooler))) if pooler else setup


def _without(cells: Cells) -> list[Finding]:
    """A warning for each cell that has no figures."""
    found = []
    for label, cell in cells.items():
        if cell.verdict is Verdict.FAILED:
            text = f"{label} cannot be measured: {cell.reason}; orders through it are left out"
            found.append(Finding.of("cannot-be", "warning", text))
        elif cell.verdict is not Verdict.OK:
            text = f"{label} has no figures: {cell.reason}; orders through it are left out, and the leg's shares are only hints"
            found.append(Finding.of("no-figures", "warning", text))
    return found

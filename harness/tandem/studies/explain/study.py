"""The study behind `explain`: both sides' settings in every combination, in randomised blocks."""

from collections.abc import Sequence
from dataclasses import replace

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks, complete_blocks
from tandem.engine.deciding import INTERVAL_LEAST, warn_of_too_few
from tandem.engine.findings import warnings
from tandem.engine.grid import fresh_start
from tandem.engine.study import Study
from tandem.facts.metric import GOODPUT
from tandem.lab.case import setup_of
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Finding, Verdict
from tandem.studies.explain import report as tables
from tandem.studies.explain.cells import (
    Cells,
    MeasuredCell,
    cell_of,
    estimates,
    fits,
    limits,
    measured,
    modelled,
)
from tandem.studies.explain.conclusions import Cell, Explained
from tandem.studies.explain.conditions import CONDITIONS, LIMITS, check_path
from tandem.studies.explain.design import ExplainOptions, check_groups, effective, legs
from tandem.studies.explain.shares import crossings, explanation, gap

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
        self.legs = legs(catalog, request, self.asked)
        self._cells = {
            cell.label: cell
            for leg in self.legs
            for state in leg.orders().states
            for cell in [leg.cell(state)]
        }
        self.corners = list(dict.fromkeys(leg.label(corner) for leg in self.legs for corner in leg.corners))

    @property
    def variants(self) -> list[Variant]:
        return list(self._cells.values())

    def outline(self) -> list[list[TrialSpec]]:
        # A share of three factors needs 1.4 times as many starts of the ends as of the rest to be as sharp as it can be.
        more = self.corners if len(self._cells) > len(self.corners) else []
        once = [(label, label) for label in self._cells]
        twice = [*once, *((label, label + AGAIN) for label in more)]
        orders = zip(
            complete_blocks(once, self.asked.blocks, self.request.seed),
            complete_blocks(twice, self.asked.blocks, self.request.seed),
            strict=True,
        )
        return [
            [fresh_start(self.timing, number, *one) for one in (both if number % 2 == 0 else single)]
            for number, (single, both) in enumerate(orders, start=1)
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
            if len(cell.starts) < LEAST and any(trial.verdict is Verdict.VOID for trial in cell.trials)
        ]
        if few:
            again = dict.fromkeys([*few, *self.corners])
            yield [fresh_start(self.timing, self.asked.blocks + 1, label) for label in again]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Explained]:
        cells = measured(self.variants, trials, baselines.ceilings_rps)
        found = self._explained(cells)
        ends = [cells[label] for label in self.corners if not cells[label].starts]
        reasons = [f"{end.variant.label}: {end.reason}" for end in ends]
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
            for metric, fit in every.items()
            if (one := explanation(self.legs, self.asked.words, fit, under[metric], metric))
        }
        rates = every[GOODPUT].place if GOODPUT in every else {}
        a, b = self.request.variants
        return Explained(
            estimates=list(estimates(cells, every)),
            contrasts=[gap(self.legs, every[metric], self.asked.blocks, metric) for metric in explained],
            a=a.label,
            b=b.label,
            explanations=list(explained.values()),
            cells=[
                self._cell(cell, every[GOODPUT].mean(label)[0] if label in rates else None)
                for label, cell in cells.items()
            ],
            crossings=crossings(self.legs, explained[GOODPUT], every[GOODPUT])
            if GOODPUT in explained
            else [],
            blocks=self.asked.blocks,
            source=self.asked.source,
        )

    def _cell(self, cell: MeasuredCell, goodput_rps: float | None) -> Cell:
        """With the model beside it. goodput_rps: as it was fitted."""
        variant = cell.variant
        settings = effective(self.catalog, self.request, self.asked, variant)
        if goodput_rps is None:
            return cell_of(cell, settings, None)
        proxy, pooler = (variant.variables.get(variable) for variable in LIMITS.values())
        setup = setup_of(
            self.catalog.implementation(variant.implementation),
            self.catalog.scenarios[self.request.scenario].model_copy(update=variant.scenario_changes),
            settings,
            admitted=int(proxy) if proxy else None,
        )
        if pooler:
            setup = replace(setup, pool=min(int(pooler), setup.pool or int(pooler)))
        return cell_of(cell, settings, modelled(cell.windows, setup, settings, goodput_rps))


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

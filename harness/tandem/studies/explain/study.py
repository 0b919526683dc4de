"""The study behind `explain`: both sides' settings in every combination, in randomised blocks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.engine import deciding
from tandem.engine.blocks import Blocks, complete_blocks
from tandem.engine.findings import warnings
from tandem.engine.grid import fresh_start
from tandem.engine.study import Study
from tandem.lab.case import setup_of
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Finding, Verdict
from tandem.studies.explain import pictures as drawn
from tandem.studies.explain import report as tables
from tandem.studies.explain import waterfall
from tandem.studies.explain.cells import CellWindows, cell_figures, cpu, goodput
from tandem.studies.explain.conclusions import CellFigures, Explained, Explanation
from tandem.studies.explain.conditions import CONDITIONS, LIMITS, check_path
from tandem.studies.explain.design import ExplainOptions, check_groups, effective, legs
from tandem.studies.explain.model import modelled
from tandem.studies.explain.shares import crossings, explanation

LEAST = 2
"""Good starts of a cell; one that has fewer after the last block is made once more."""
AGAIN = " (again)"


class Explain(Study[Explained]):
    """Each cell once in each block; the ends of the legs, where there are other cells, once more in every second."""

    name = "explain"
    kind = Explained
    whole = "its shares come from all cells together"
    report = staticmethod(tables.report)
    headline = staticmethod(tables.headline)
    pictures = staticmethod(drawn.pictures)

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
        even = [*self._cells, *(label + AGAIN for label in more)]
        orders = zip(
            complete_blocks(list(self._cells), self.asked.blocks, self.request.seed),
            complete_blocks(even, self.asked.blocks, self.request.seed),
            strict=True,
        )
        return [
            [self._trial(name, number) for name in (twice if number % 2 == 0 else once)]
            for number, (once, twice) in enumerate(orders, start=1)
        ]

    def ahead(self, expected_s: float) -> list[str]:
        return deciding.too_few(
            self.asked.blocks,
            deciding.INTERVAL_LEAST,
            "blocks",
            expected_s,
            "decide any factor",
            "--blocks 3",
        )

    def _trial(self, name: str, block: int) -> TrialSpec:
        return fresh_start(self.timing, block, name.removesuffix(AGAIN), name)

    def plan(self) -> Blocks:
        """A void start costs its cell one value and no other: the blocks are fitted, so none is made again as a whole. A
        cell with too few gets one more start, beside the ends in a block of its own."""
        made: list[Trial] = []
        for block in self.outline():
            made += yield block
        measured = CellWindows(list(self._cells), made, {})
        few = [
            label
            for label in self._cells
            if len(measured.good[label]) < LEAST
            and any(trial.verdict is Verdict.VOID for trial in measured.trials[label])
        ]
        if few:
            yield [
                self._trial(label, self.asked.blocks + 1) for label in dict.fromkeys([*few, *self.corners])
            ]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Explained]:
        measured = CellWindows(list(self._cells), trials, baselines.ceilings_rps)
        words = self.asked.words
        by_rate = explanation(self.legs, words, measured, goodput)
        ends = [label for label in self.corners if not measured.good[label]]
        reasons = [f"{label}: {measured.reason(label)}" for label in ends]
        verdict = Verdict.OK
        if by_rate is None:
            wrong = any(
                t.verdict in (Verdict.INVALID, Verdict.FAILED) for e in ends for t in measured.trials[e]
            )
            verdict = Verdict.INVALID if wrong else Verdict.VOID
            reasons = reasons or ["no path leads from one end to the other through cells that have figures"]
        return Concluded(
            verdict=verdict,
            reasons=reasons,
            findings=[*self._without(measured), *warnings(trials)],
            conclusions=self._explained(measured, by_rate),
        )

    def _explained(self, measured: CellWindows, by_rate: Explanation | None) -> Explained:
        cells = [
            cell_figures(
                label, cell.implementation, effective(self.catalog, self.request, self.asked, cell), measured
            )
            for label, cell in self._cells.items()
        ]
        for figure, field in ((goodput, "goodput_rps"), (cpu, "app_cpu_us_per_request")):
            means = measured.means(figure)
            cells = [cell.model_copy(update={field: means.get(cell.label)}) for cell in cells]
        cells = [self._beside_its_model(cell, measured) for cell in cells]
        nothing: dict[str, Any] = {
            **dict.fromkeys(("gap", "interval", "noise", "sd_ln")),
            "freedom": 0,
            "legs": [],
            "factors": [],
            "groups": [],
        }
        a, b = self.request.variants
        return Explained(
            **(nothing if by_rate is None else dict(by_rate)),
            a=a.label,
            b=b.label,
            cpu=explanation(self.legs, self.asked.words, measured, cpu),
            cells=cells,
            crossings=[] if by_rate is None else crossings(self.legs, by_rate, measured),
            blocks=self.asked.blocks,
            source=self.asked.source,
        )

    def _beside_its_model(self, cell: CellFigures, measured: CellWindows) -> CellFigures:
        if cell.goodput_rps is None:
            return cell
        variant = self._cells[cell.label]
        proxy, pooler = (variant.variables.get(variable) for variable in LIMITS.values())
        setup = setup_of(
            self.catalog.implementation(cell.implementation),
            self.catalog.scenarios[self.request.scenario].model_copy(update=variant.scenario_changes),
            cell.settings,
            admitted=int(proxy) if proxy else None,
        )
        if pooler:
            setup = replace(setup, pool=min(int(pooler), setup.pool or int(pooler)))
        windows = [window for _, window in measured.good[cell.label]]
        found = modelled(windows, setup, cell.settings, cell.goodput_rps)
        return cell.model_copy(update={"model": found})

    def _without(self, measured: CellWindows) -> list[Finding]:
        found = []
        for label in self._cells:
            state, reason = measured.state(label), measured.reason(label)
            if state == "cannot be":
                text = f"{label} cannot be measured: {reason}; orders through it are left out"
                found.append(Finding.of("cannot-be", "warning", text))
            elif state == "no figures":
                text = f"{label} has no figures: {reason}; orders through it are left out, and the leg's shares are only hints"
                found.append(Finding.of("no-figures", "warning", text))
        return found

    @classmethod
    def files(cls, result: Result[Explained]) -> dict[str, str]:
        """The figure."""
        found = result.conclusions.goodput()
        return {} if found is None else {waterfall.NAME: waterfall.svg(result.conclusions, found) + "\n"}

"""The studies behind `bench`: fresh starts, a closed and an open window each; and, with --questions, three questions."""

from collections.abc import Sequence
from typing import Any

from tandem.analysis.cost import total_cpu_us_per_request
from tandem.engine.deciding import too_few_blocks
from tandem.engine.estimate import Overheads, trial_s
from tandem.engine.grid import CLOSED, Grid
from tandem.facts.metric import GOODPUT
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Verdict
from tandem.studies.bench import report as tables
from tandem.studies.bench.conclusions import Benched, conclude
from tandem.studies.bench.questions import Questions as Questions
from tandem.wording import lasts, number


class Bench(Grid[Benched]):
    """Each variant once in each block."""

    name = "bench"
    kind = Benched
    opened = True
    report = staticmethod(tables.report)

    def ahead(self, expected_s: float) -> list[str]:
        first_s = trial_s(self.outline()[0][0], Overheads())
        told = (
            f"the first figure comes after about {lasts(first_s)}; all {self.rounds} starts of each variant then give"
            " intervals and ratios within blocks"
        )
        return [told, *too_few_blocks(self.catalog, self.timing, len(self.variants), expected_s)]

    def line(self, made: Trial | WindowRecord) -> str | None:
        """Of the first start also what it came to: nobody waits for the last one to see a figure."""
        first = self.outline()[0][0].key
        if not isinstance(made, Trial) or made.spec.key != first or made.verdict is not Verdict.OK:
            return None
        window = made.window(CLOSED)
        if window is None:
            return None
        own, cost = window.app_cpu_us_per_request, total_cpu_us_per_request(window)
        told = (
            ""
            if cost is None or own is None
            else f", {cost:,.0f} µs of CPU per request, {own:,.0f} of it the application's"
        )
        starts = self.rounds * len(self.variants) - 1
        return (
            f"{made.spec.variants[0]}: first figure {window.goodput_rps:,.0f}/s{told}, from one start."
            f" The {starts} starts that follow add an interval"
            + (" and the ratios within blocks" if len(self.variants) > 1 else "")
        )

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Benched]:
        return conclude([self.variants], trials, self.rounds, baselines)

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        found = Benched.model_validate(conclusions)
        reached = [one for one in found.estimates if one.metric == GOODPUT and one.mean is not None]
        return ", ".join(f"{one.variant} {number(one.mean)}/s" for one in reached)

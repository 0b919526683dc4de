"""The studies behind `bench`: fresh starts, a closed and an open window each; and, with --questions, three questions."""

from collections.abc import Sequence

from tandem.analysis.cost import APP, total_cpu_us_per_request
from tandem.engine.blocks import Blocks
from tandem.engine.estimate import Overheads, trial_s
from tandem.engine.grid import Grid
from tandem.engine.study import Windows, in_order, shortest_with_enough, warn_of_too_few_blocks
from tandem.facts.estimate import CLASS
from tandem.facts.metric import GOODPUT
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Verdict, Window
from tandem.studies.bench import report as tables
from tandem.studies.bench.conclusions import CONDITIONS, Benched, conclude
from tandem.wording import lasts, number


class Questions(Grid[Benched]):
    """One closed window of each implementation under each condition, in randomised complete blocks of each condition."""

    name = "questions"
    kind = Benched
    report = staticmethod(tables.questions_report)

    @property
    def _under(self) -> list[list[Variant]]:
        """The variants under each condition."""
        return [[one.of(variant, self.catalog) for variant in self.request.variants] for one in CONDITIONS]

    @property
    def variants(self) -> list[Variant]:
        return [variant for own in self._under for variant in own]

    @property
    def groups(self) -> list[list[str]]:
        return [[variant.label for variant in own] for own in self._under]

    def plan(self) -> Blocks:
        warn_of_too_few_blocks(self, self.rounds, shortest_with_enough(self.catalog))
        yield from super().plan()

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Benched]:
        found = conclude(self._under, trials, self.rounds, baselines)
        found.headline = ", ".join(
            f"{one.variant} {number(1e6 / one.mean)} per core-s"
            for one in found.conclusions.estimates
            if one.metric == APP and one.coordinates.get("question") == "cost" and one.mean
        )
        return found


class Bench(Grid[Benched]):
    """Each variant once in each block."""

    name = "bench"
    kind = Benched
    opened = True
    report = staticmethod(tables.report)

    def plan(self) -> Blocks:
        first_s = trial_s(self.outline()[0][0], Overheads())
        rest = (
            f"; all {self.rounds} starts of each variant then give intervals and ratios within blocks"
            if self.rounds > 1
            else "; one start of each variant gives no interval"
        )
        self.tell(f"the first figure comes after about {lasts(first_s)}{rest}")
        warn_of_too_few_blocks(self, self.rounds, shortest_with_enough(self.catalog))
        yield from super().plan()

    def windows(self, spec: TrialSpec) -> Windows:
        """Windows, and what the very first came to: nobody waits for the last one to see a figure."""
        closed, *others = spec.windows
        window = (yield closed).windows.get(spec.variants[0])
        is_first = spec.key == self.outline()[0][0].key
        if is_first and window is not None and window.verdict is Verdict.OK:
            self.tell(f"  {spec.variants[0]}: {self._first_figure(window)}")
        yield from in_order(others)

    def _first_figure(self, window: Window) -> str:
        text = f"first figure {window.goodput_rps:,.0f}/s"
        own, total = window.app_cpu_us_per_request, total_cpu_us_per_request(window)
        if total is not None and own is not None:
            text += f", {total:,.0f} µs of CPU per request, {own:,.0f} of it the application's"
        text += ", from one start"
        if starts := self.rounds * len(self.variants) - 1:
            text += (
                ". The start that follows adds " if starts == 1 else f". The {starts} starts that follow add "
            )
            several = {"an interval": self.rounds, "the ratios within blocks": len(self.variants)}
            text += " and ".join(gain for gain, number_of in several.items() if number_of > 1)
        return text

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Benched]:
        found = conclude([self.variants], trials, self.rounds, baselines)
        found.headline = ", ".join(
            f"{one.variant} {number(one.mean)}/s"
            for one in found.conclusions.estimates
            if one.metric == GOODPUT and one.mean is not None and CLASS not in one.coordinates
        )
        return found

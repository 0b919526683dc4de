"""The study behind `bench --questions`: every implementation under each condition once in each round."""

from collections.abc import Sequence

from tandem.analysis.cost import APP
from tandem.engine.blocks import Blocks
from tandem.engine.deciding import shortest_with_enough, warn_of_too_few_blocks
from tandem.engine.grid import Grid
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.studies.bench import questions_report as tables
from tandem.studies.bench.conclusions import Benched, conclude
from tandem.studies.bench.conditions import CONDITIONS
from tandem.wording import number


class Questions(Grid[Benched]):
    """One closed window of each implementation under each condition, in randomised complete blocks of each condition."""

    name = "questions"
    kind = Benched
    report = staticmethod(tables.report)

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
        costs = [
            (one.variant, one.mean)
            for one in found.conclusions.estimates
            if one.metric == APP and one.coordinates.get("question") == "cost"
        ]
        found.headline = ", ".join(f"{name} {number(1e6 / mean)} per core-s" for name, mean in costs if mean)
        return found

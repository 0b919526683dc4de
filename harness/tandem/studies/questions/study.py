"""The study behind `bench --questions`: every implementation under each condition once in each round."""

from collections.abc import Sequence
from typing import Any

from tandem.engine.study import Study
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.bench.conclusions import contrasts, worst
from tandem.studies.bench.study import benched, closed_blocks, too_few
from tandem.studies.questions import report as tables
from tandem.studies.questions.conclusions import Answered, application_bound, waited
from tandem.studies.questions.conditions import APP_BOUND, CONDITIONS, COST, WAITING
from tandem.wording import number


class Questions(Study[Answered]):
    """One closed window of each implementation under each condition, in randomised complete blocks of each condition."""

    name = "questions"
    kind = Answered
    report = staticmethod(tables.report)

    @property
    def looks_at_ceilings(self) -> bool:
        return False  # two of the questions have a bound of their own, and the first asks for no rate

    @property
    def variants(self) -> list[Variant]:
        return [one.of(variant, self.catalog) for one in CONDITIONS for variant in self.request.variants]

    def outline(self) -> list[list[TrialSpec]]:
        under = [[one.label(variant) for variant in self.request.variants] for one in CONDITIONS]
        return closed_blocks(self.timing, under, self.timing.trials, self.request.seed)

    def ahead(self, expected_s: float) -> list[str]:
        return too_few(self.catalog, self.timing, len(self.request.variants), expected_s)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Answered]:
        asked, needed = self.request.variants, self.timing.trials
        found = {
            one.name: benched([one.label(variant) for variant in asked], trials, needed, baselines)
            for one in CONDITIONS
        }
        far = {
            row.label: waited([t for t in trials if t.spec.variants == [row.label]], row)
            for one in WAITING
            for row in found[one.name].rows
        }
        rows = [row for under in found.values() for row in under.rows]
        return Concluded(
            verdict=worst(row.verdict for row in rows),
            reasons=[f"{row.label}: {reason}" for row in rows for reason in row.reasons],
            conclusions=Answered(
                conditions=found,
                application_bound={
                    row.label: application_bound(row) for row in found[APP_BOUND.name].rows if row.resources
                },
                waited=far,
                contrasts=[
                    one
                    for under in found.values()
                    for one in contrasts(under.rows, {each.label: each for each in self.variants})
                ],
            ),
        )

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        told = [
            (row["label"].partition(" @ ")[0], row["summary"]["requests_per_core_s"])
            for row in conclusions["conditions"][COST]["rows"]
        ]
        return ", ".join(f"{label} {number(rate)} per core-s" for label, rate in told if rate is not None)

"""The study behind `bench`: fresh starts, a closed and an open window each, in randomised complete blocks."""

from collections.abc import Sequence
from typing import Any

from tandem.catalog.catalog import Plan
from tandem.engine.blocks import complete_blocks
from tandem.engine.study import Study
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowSpec
from tandem.studies.bench import report as tables
from tandem.studies.bench.conclusions import CLOSED, OPEN, Benched, row, worst
from tandem.wording import number


def warm_up_of(plan: Plan) -> WarmUp:
    """The plan's warm-up."""
    return WarmUp(
        least_s=plan.warm_up_s,
        requests_per_worker=plan.warm_up_requests_per_worker,
        steady_buckets=plan.steady_buckets,
        cap_s=plan.warm_up_cap_s,
    )


def windows_of(plan: Plan, label: str) -> list[WindowSpec]:
    """A closed window, then an open one at a share of what it reached."""
    closed = WindowSpec(
        name=CLOSED,
        variants=[label],
        seconds=plan.closed_s,
        trim_start_s=plan.trim_start_s,
        trim_end_s=plan.trim_end_s,
    )
    opened = closed.model_copy(
        update={
            "name": OPEN,
            "load": "open",
            "seconds": plan.open_s,
            "share": plan.open_load_fraction,
            "share_of": CLOSED,
        }
    )
    return [closed, opened]


class Bench(Study[Benched]):
    """Each variant once in each block."""

    name = "bench"
    kind = Benched
    report = staticmethod(tables.report)
    markdown = staticmethod(tables.markdown)

    def outline(self) -> list[list[TrialSpec]]:
        labels = [variant.label for variant in self.variants]
        plan = self.timing
        return [
            [
                TrialSpec(
                    name=f"{number}-{label}",
                    block=number,
                    variants=[label],
                    warm_up=warm_up_of(plan),
                    windows=windows_of(plan, label),
                )
                for label in order
            ]
            for number, order in enumerate(complete_blocks(labels, plan.trials, self.request.seed), start=1)
        ]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Benched]:
        by_label = {v.label: [t for t in trials if t.spec.variants == [v.label]] for v in self.variants}
        rows = [row(label, own, self.timing.trials) for label, own in by_label.items()]
        return Concluded(
            verdict=worst(r.verdict for r in rows),
            reasons=[f"{r.label}: {reason}" for r in rows for reason in r.reasons],
            conclusions=Benched(rows=rows),
        )

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        reached = [(row["label"], row["summary"]["goodput_rps"]) for row in conclusions["rows"]]
        return ", ".join(f"{label} {number(rate)}/s" for label, rate in reached if rate is not None)

"""The study behind `bench`: fresh starts, a closed and an open window each, in randomised complete blocks."""

from collections.abc import Sequence
from typing import Any

from tandem.analysis.cost import total_cpu_us_per_request
from tandem.catalog.catalog import Catalog, Plan
from tandem.engine import deciding
from tandem.engine.blocks import complete_blocks, of_each, rounds_of_blocks
from tandem.engine.estimate import Overheads, trial_s
from tandem.engine.study import Study
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.bench import report as tables
from tandem.studies.bench.conclusions import (
    BLOCKS_LEAST,
    CLOSED,
    OPEN,
    Benched,
    compare_rows,
    contrasts,
    row,
    worst,
)
from tandem.wording import lasts, number


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


def closed_trial(plan: Plan, block: int, label: str, name: str | None = None) -> TrialSpec:
    """A fresh start with one closed window. name: where the variant's label does not tell the starts of a block apart."""
    return TrialSpec(
        name=f"{block}-{name or label}",
        block=block,
        variants=[label],
        warm_up=warm_up_of(plan),
        windows=windows_of(plan, label)[:1],
    )


def closed_blocks(
    plan: Plan, groups: Sequence[Sequence[str]], rounds: int, seed: int
) -> list[list[TrialSpec]]:
    """Fresh starts with one closed window each. groups: labels of the variants that are compared with one another."""
    orders = rounds_of_blocks(groups, rounds, seed)
    return [[closed_trial(plan, n, label) for label in order] for n, order in enumerate(orders, start=1)]


def benched(labels: Sequence[str], trials: Sequence[Trial], needed: int, baselines: Baselines) -> Benched:
    """What trials of these variants come to. needed: good starts of each. baselines: with the looks at the ceilings."""
    by_label = of_each(labels, trials)
    rows = [row(label, own, needed) for label, own in by_label.items()]
    compare_rows(rows, by_label, baselines)
    return Benched(rows=rows, blocks=len({trial.spec.block for own in by_label.values() for trial in own}))


def too_few(catalog: Catalog, plan: Plan, variants: int, expected_s: float) -> list[str]:
    """What a plan of so few blocks cannot decide, and how long one that can would take. expected_s: of this one."""
    if variants < 2:
        return []
    enough = [one for one in catalog.plans.values() if one.trials >= BLOCKS_LEAST and one.cpus_least <= 1]
    return deciding.too_few(
        plan.trials,
        BLOCKS_LEAST,
        "blocks",
        expected_s,
        "show that two variants differ",
        f"--plan {min(enough, key=lambda one: one.trials).name}" if enough else "",
        "The result will be figures with intervals, and whether variants are equivalent",
    )


class Bench(Study[Benched]):
    """Each variant once in each block."""

    name = "bench"
    kind = Benched
    report = staticmethod(tables.report)

    @property
    def labels(self) -> list[str]:
        """Of what was asked for."""
        return [variant.label for variant in self.request.variants]

    def outline(self) -> list[list[TrialSpec]]:
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
            for number, order in enumerate(
                complete_blocks(self.labels, plan.trials, self.request.seed), start=1
            )
        ]

    def ahead(self, expected_s: float) -> list[str]:
        specs = [spec for block in self.outline() for spec in block]
        first_s = trial_s(specs[0], Overheads())
        told = (
            f"the first figure comes after about {lasts(first_s)}; all {self.timing.trials} starts of each variant then give"
            " intervals and ratios within blocks"
        )
        return [told, *too_few(self.catalog, self.timing, len(self.labels), expected_s)]

    def line(self, made: Trial | WindowRecord) -> str | None:
        """Of the first start also what it came to: nobody waits for the last one to see a figure."""
        if not isinstance(made, Trial) or made.spec.key != self._first or made.verdict is not Verdict.OK:
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
        starts = self.timing.trials * len(self.labels) - 1
        return (
            f"{made.spec.variants[0]}: first figure {window.goodput_rps:,.0f}/s{told}, from one start."
            f" The {starts} starts that follow add an interval"
            + (" and the ratios within blocks" if len(self.labels) > 1 else "")
        )

    @property
    def _first(self) -> str | None:
        """The trial whose figures are the first ones."""
        return next((spec.key for block in self.outline() for spec in block), None)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Benched]:
        found = benched(self.labels, trials, self.timing.trials, baselines)
        found.contrasts = contrasts(found.rows, {one.label: one for one in self.variants})
        return Concluded(
            verdict=worst(r.verdict for r in found.rows),
            reasons=[f"{r.label}: {reason}" for r in found.rows for reason in r.reasons],
            conclusions=found,
        )

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        reached = [(row["label"], row["summary"]["goodput_rps"]) for row in conclusions["rows"]]
        return ", ".join(f"{label} {number(rate)}/s" for label, rate in reached if rate is not None)

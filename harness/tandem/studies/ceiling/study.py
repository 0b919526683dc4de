"""The study behind `ceiling`: stand-ins and variants, interleaved in randomised complete blocks."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.arriving import mixed
from tandem.engine.blocks import Blocks, complete_blocks, in_blocks
from tandem.engine.findings import first_rate, together
from tandem.engine.grid import fresh_start
from tandem.engine.study import Study
from tandem.errors import UsageError
from tandem.facts.estimate import goodput, of_variants
from tandem.facts.fact import at_full_load, by_label, facts
from tandem.facts.metric import CEILING_SHARE
from tandem.record.request import Request, StandIn, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.ceiling import report as tables
from tandem.studies.ceiling.conclusions import EQUAL_LOAD, NEEDED, Ceilings, estimates, nearest


def supporting(catalog: Catalog, scenario: str, asked: list[str] | None) -> list[str]:
    """The implementations to measure: those asked for, or all that support the scenario. Raises UsageError for none."""
    names = asked or [
        n for n, i in catalog.implementations.items() if scenario not in i.unsupported.scenarios
    ]
    if not names:
        raise UsageError(f"no implementation supports {scenario}")
    return names


def equal_load_rps(trials: Sequence[Trial], labels: Sequence[str]) -> int | None:
    """The equal load that follows from a block; None unless each of these variants has a goodput in it."""
    good = by_label(one for one in facts(trials) if one.good)
    found = [at_full_load(good.get(label, [])) for label in labels]
    slowest = min((min((goodput(one.window) for one in own), default=0.0) for own in found), default=0.0)
    return int(slowest * EQUAL_LOAD) or None


class Ceiling(Study[Ceilings]):
    """Stand-ins and variants once in each block. From the first block in which all variants have a goodput follows the
    equal load; in the blocks after it each variant has an open window at that rate. The plan's trials are the blocks."""

    name = "ceiling"
    kind = Ceilings
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.stand_ins: dict[str, StandIn] = {
            stand_ins.variant(kind).label: kind for kind in stand_ins.fitting(catalog, request)
        }
        if mixed(self):
            raise UsageError(
                f"{request.scenario} is a mix, and no stand-in does what its requests do: name one of its scenarios"
            )

    @property
    def variants(self) -> list[Variant]:
        return [*map(stand_ins.variant, self.stand_ins.values()), *self.request.variants]

    def _orders(self) -> list[list[str]]:
        labels = [variant.label for variant in self.variants]
        return complete_blocks(labels, self.timing.trials, self.request.seed)

    def outline(self) -> list[list[TrialSpec]]:
        return [
            [self._trial(label, n, None, opened=n > 1) for label in order]
            for n, order in enumerate(self._orders(), 1)
        ]

    def plan(self) -> Blocks:
        yield from in_blocks(self._decided())

    def _decided(self) -> Blocks:
        rate: int | None = None
        for number, order in enumerate(self._orders(), start=1):
            trials = yield [self._trial(label, number, rate, opened=rate is not None) for label in order]
            rate = rate or equal_load_rps(trials, [one.label for one in self.request.variants])

    def _trial(self, label: str, block: int, rate: int | None, opened: bool) -> TrialSpec:
        """rate: of the open window; None, in the outline: half of the variant's own goodput stands for it."""
        plan, spec = self.timing, fresh_start(self.timing, block, label, opened=opened)
        if label in self.stand_ins:
            trims_s = plan.trim_start_s, plan.trim_end_s
            return stand_ins.trial(
                self.stand_ins[label], spec.name, block, spec.warm_up, plan.closed_s, trims_s
            )
        how = {"share": EQUAL_LOAD} if rate is None else {"share": None, "rates_rps": {label: rate}}
        windows = [spec.windows[0], *(one.model_copy(update=how) for one in spec.windows[1:])]
        return spec.model_copy(update={"windows": windows})

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Ceilings]:
        found = of_variants(trials, self.variants, NEEDED)
        ceilings = {one.variant.stand_in: one for one in found if one.variant.stand_in is not None}
        variants = [one for one in found if one.variant.stand_in is None]
        lowest = nearest(ceilings)
        reached = Ceilings(
            estimates=estimates(ceilings, variants, lowest),
            rounds=self.timing.trials,
            equal_load_rps=first_rate(trials),
            nearest=lowest,
        )
        shares = {one.variant: one.mean for one in reached.estimates if one.metric == CEILING_SHARE}
        headline = ", ".join(f"{name} {share:.0f}% of {lowest}" for name, share in shares.items() if share)
        return together(trials, all(one.ok for one in found), reached, headline)

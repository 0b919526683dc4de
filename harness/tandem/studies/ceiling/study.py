"""The study behind `ceiling`: stand-ins and variants, interleaved in randomised complete blocks; how near each variant comes to what
the parts around it could do at most; and the tables of that."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from rich.console import Group
from rich.text import Text

from tandem.analysis.ceilings import in_same_blocks
from tandem.analysis.cost import APP, at
from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.blocks import Blocks, complete_blocks, in_blocks
from tandem.engine.findings import first_rate, together
from tandem.engine.grid import fresh_start
from tandem.engine.study import Study, scheduled
from tandem.errors import UsageError
from tandem.facts.estimate import OfVariant, ReadFact, by_block, goodput, of_variants
from tandem.facts.fact import at_full_load, by_label, facts
from tandem.facts.metric import CEILING_SHARE, GOODPUT
from tandem.record.conclusion import Estimate
from tandem.record.request import Request, StandIn, Variant
from tandem.record.result import Baselines, Concluded, Conclusions, Result
from tandem.record.trial import Trial, TrialSpec
from tandem.report.parts import ending
from tandem.report.table import Column, figure, limit, table
from tandem.wording import counted, number

NEEDED = 2
"""Good rounds, else there is no figure."""
EQUAL_LOAD = 0.5
"""The equal offered load is this share of the slowest variant's goodput."""
AT_EQUAL_LOAD = at(APP, EQUAL_LOAD)
COST: dict[str, ReadFact] = {
    AT_EQUAL_LOAD: lambda fact: fact.window.app_cpu_us_per_request if fact.role == "open" else None
}
MEANINGS: dict[StandIn, str] = {
    "proxy": "generator to HAProxy, which answers itself",
    "null": "generator through HAProxy to the null application",
    "database": "pgbench with the scenario's statements through PgBouncer, on the application's CPUs",
}
NOTE = "mean ± half-width of the 95 % interval over the rounds; a dash below two good rounds"


class Ceilings(Conclusions):
    """Estimates of stand-ins and variants, of these also the cost at the equal load and the share of the nearest ceiling."""

    rounds: int
    equal_load_rps: int | None
    nearest: StandIn | None
    """The lowest ceiling."""


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
    full = by_label(at_full_load([one for one in facts(trials) if one.good]))
    if not all(label in full for label in labels):
        return None
    return int(min(goodput(one.window) for label in labels for one in full[label]) * EQUAL_LOAD) or None


def share(own: OfVariant, ceiling: OfVariant | None) -> list[Estimate]:
    """Goodput by that of the ceiling, in percent, mean over the blocks; nothing below two blocks."""
    if ceiling is None or not own.ok:
        return []
    rates, most = (by_block(one.full_of_all_attempts, goodput) for one in (own, ceiling))
    shares = [100 * one for one in in_same_blocks(rates, most)]
    return [own.estimate(CEILING_SHARE, shares)] if len(shares) >= NEEDED else []


class Ceiling(Study[Ceilings]):
    """Stand-ins and variants once in each block. From the first block in which all variants have a goodput follows the
    equal load; in the blocks after it each variant has an open window at that rate. The plan's trials are the blocks."""

    name = "ceiling"
    kind = Ceilings

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.stand_ins: dict[str, StandIn] = {
            stand_ins.variant(kind).label: kind for kind in stand_ins.fitting(catalog, request)
        }
        if scheduled(self):
            raise UsageError(
                f"{request.scenario} is a mix, and no stand-in does what its requests do: name one of its scenarios"
            )

    @property
    def variants(self) -> list[Variant]:
        return [*map(stand_ins.variant, self.stand_ins.values()), *self.request.variants]

    @property
    def _orders(self) -> Iterator[tuple[int, list[str]]]:
        """Number of each block, and its labels."""
        labels = [variant.label for variant in self.variants]
        return enumerate(complete_blocks(labels, self.timing.trials, self.request.seed), 1)

    def outline(self) -> list[list[TrialSpec]]:
        return [[self._trial(label, n, None, opened=n > 1) for label in order] for n, order in self._orders]

    def plan(self) -> Blocks:
        yield from in_blocks(self._decided())

    def _decided(self) -> Blocks:
        rate: int | None = None
        for n, order in self._orders:
            trials = yield [self._trial(label, n, rate, opened=rate is not None) for label in order]
            rate = rate or equal_load_rps(trials, [one.label for one in self.request.variants])

    def _trial(self, label: str, block: int, rate: int | None, opened: bool) -> TrialSpec:
        """rate: of the open window; None, in the outline: half of the variant's own goodput stands for it."""
        plan, spec = self.timing, fresh_start(self.timing, block, label, opened=opened)
        if kind := self.stand_ins.get(label):
            trims_s = plan.trim_start_s, plan.trim_end_s
            return stand_ins.trial(kind, spec.name, block, spec.warm_up, plan.closed_s, trims_s)
        how = {"share": EQUAL_LOAD} if rate is None else {"share": None, "rates_rps": {label: rate}}
        closed, *others = spec.windows
        windows = [closed, *(one.model_copy(update=how) for one in others)]
        return spec.model_copy(update={"windows": windows})

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Ceilings]:
        found = of_variants(trials, self.variants, NEEDED)
        ceilings = [one for one in found if one.variant.stand_in and one.ok]
        ceiling = min(ceilings, key=lambda one: fmean(by_block(one.full, goodput).values()), default=None)
        nearest = ceiling.variant.stand_in if ceiling else None
        estimates = list[Estimate]()
        for one in found:
            estimates += one.standard()
            if one.variant.stand_in is None:
                costs = [each for each in one.estimates(COST) if each.n >= NEEDED]
                estimates += [*costs, *share(one, ceiling)]
        reached = Ceilings(
            estimates=estimates,
            rounds=self.timing.trials,
            equal_load_rps=first_rate(trials),
            nearest=nearest,
        )
        shares = [one for one in estimates if one.metric == CEILING_SHARE]
        headline = ", ".join(f"{one.variant} {one.mean:.0f}% of {nearest}" for one in shares)
        return together(trials, all(one.ok for one in found), reached, headline)

    @classmethod
    def report(cls, result: Result[Ceilings]) -> Group:
        """The tables, then why rounds do not count and their warnings."""
        found = result.conclusions
        places = {kind: stand_ins.variant(kind).position for kind in MEANINGS}
        variants = [variant.position for variant in result.request.variants]
        variants.sort(key=lambda position: found.mean_of(AT_EQUAL_LOAD, position) or math.inf)
        return Group(
            table(
                f"ceilings for {result.request.scenario}, {counted(found.rounds, 'rounds')}",
                [kind for kind, position in places.items() if found.estimate_of(GOODPUT, position)],
                Column("ceiling", str, text=True),
                Column("what", lambda kind: MEANINGS[kind], text=True),
                Column("1/s", lambda kind: figure(found, GOODPUT, places[kind])),
            ),
            table(
                f"variants; CPU per request at {number(found.equal_load_rps)}/s for all",
                variants,
                Column("variant", lambda position: position.variant, text=True),
                Column("goodput, 1/s", lambda position: figure(found, GOODPUT, position)),
                Column("nearest ceiling", lambda _: found.nearest or "–", text=True),
                Column("share of it, %", lambda position: figure(found, CEILING_SHARE, position)),
                Column("app CPU, µs/request", lambda position: figure(found, AT_EQUAL_LOAD, position)),
                Column("limited by", lambda position: limit(found, position), text=True),
            ),
            Text(NOTE, style="dim"),
            *ending(result),
        )

"""How near each variant comes to what the parts around it could do at most. Pure."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from tandem.analysis.ceilings import in_same_blocks
from tandem.analysis.cost import APP, at
from tandem.facts.estimate import OfVariant, ReadFact, by_block, goodput
from tandem.facts.metric import CEILING_SHARE
from tandem.record.conclusion import Estimate
from tandem.record.request import StandIn
from tandem.record.result import Conclusions

NEEDED = 2
"""Good rounds, else there is no figure."""
EQUAL_LOAD = 0.5
"""The equal offered load is this share of the slowest variant's goodput."""
AT_EQUAL_LOAD = at(APP, EQUAL_LOAD)
COST: dict[str, ReadFact] = {
    AT_EQUAL_LOAD: lambda fact: fact.window.app_cpu_us_per_request if fact.role == "open" else None
}


class Ceilings(Conclusions):
    """Estimates of stand-ins and variants, of these also the cost at the equal load and the share of the nearest ceiling."""

    rounds: int
    equal_load_rps: int | None
    nearest: StandIn | None
    """The lowest ceiling."""


def nearest(ceilings: Mapping[StandIn, OfVariant]) -> StandIn | None:
    """The stand-in that reaches least."""
    rates = {kind: by_block(one.full, goodput).values() for kind, one in ceilings.items() if one.ok}
    means = {kind: fmean(own) for kind, own in rates.items() if own}
    return min(means, key=lambda kind: means[kind], default=None)


def share(own: OfVariant, ceiling: OfVariant | None) -> list[Estimate]:
    """Its goodput by that of the ceiling, in percent, mean over the blocks; nothing below two blocks."""
    if ceiling is None or not own.ok:
        return []
    rates, most = (by_block(one.full_of_all_attempts, goodput) for one in (own, ceiling))
    shares = [100 * one for one in in_same_blocks(rates, most)]
    return [own.estimate(CEILING_SHARE, shares)] if len(shares) >= NEEDED else []


def estimates(
    ceilings: Mapping[StandIn, OfVariant], variants: Sequence[OfVariant], lowest: StandIn | None
) -> list[Estimate]:
    """Of all: the standard ones, and those of this study alone."""
    ceiling = ceilings[lowest] if lowest is not None else None
    found = [each for one in ceilings.values() for each in one.standard()]
    for one in variants:
        costs = [each for each in one.estimates(COST) if each.n >= NEEDED]
        found += [*one.standard(), *costs, *share(one, ceiling)]
    return found

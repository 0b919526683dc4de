"""How near a rate is to what the parts around the application reach. Pure."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

from tandem.record.result import Baselines

CENSORED_SHARE = 0.9
"""A goodput above this share of a ceiling is the ceiling's as much as the application's."""

type Made = tuple[int, int]
"""Block and attempt."""
type Rates = Mapping[Made, float]
"""What was reached in each block."""


def in_same_blocks(own: Rates, others: Rates) -> list[float]:
    """own / other, of each block the last attempt in which both are there."""
    both = {made[0]: made for made in sorted(own.keys() & others.keys())}
    return [own[made] / others[made] for made in both.values()]


@dataclass(frozen=True)
class Nearness:
    """How a rate is to the ceilings."""

    shares: dict[str, float] = field(default_factory=dict)
    """Stand-in -> rate by that of the stand-in in the same block, mean over the blocks."""
    near: str | None = None
    """The ceiling that cuts it off, in words."""


def passed(shares: Iterable[Mapping[str, float]]) -> set[str]:
    """Stand-ins that an application passed. They are no ceilings, and cut nothing off."""
    return {name for own in shares for name, share in own.items() if share > 1}


def near(shares: Mapping[str, float], without: Collection[str]) -> str | None:
    """The ceiling that a rate comes near to, in words. without: those that were passed."""
    share, name = max(
        ((share, name) for name, share in shares.items() if name not in without), default=(0.0, "")
    )
    return f"{share * 100:.0f} % of the ceiling {name}" if share > CENSORED_SHARE else None


def nearness(rates: Mapping[str, Rates], baselines: Baselines) -> dict[str, Nearness]:
    """Label -> how it is to the ceilings, within blocks. rates: of all that was measured together, by label."""
    ceilings = {
        name: {(one.block, one.attempt): one.goodput_rps for one in own if one.goodput_rps}
        for name, own in baselines.looks.items()
    }
    shares: dict[str, dict[str, float]] = {label: {} for label in rates}
    for label, name in product(rates, ceilings):
        if found := in_same_blocks(rates[label], ceilings[name]):
            shares[label][name] = fmean(found)
    none = passed(shares.values())
    return {label: Nearness(own, near(own, none)) for label, own in shares.items()}


def cut_off(
    recorded: str | None, rate_rps: float | None, baselines: Baselines, reached_rps: float
) -> str | None:
    """The ceiling that a rate comes near to, in words: as it was found within the blocks, else by the one look of an older
    record. reached_rps: the highest rate of the session."""
    if baselines.looks or not rate_rps:
        return recorded
    held = holding(baselines.ceilings_rps, reached_rps)
    return near({name: rate_rps / own for name, own in held.items()}, ())


def holding(ceilings_rps: Mapping[str, float | None], reached_rps: float) -> dict[str, float]:
    """Ceilings that nothing passed, of a record with one look before all blocks. reached_rps: the highest rate of the session."""
    return {name: rate for name, rate in ceilings_rps.items() if rate and rate >= reached_rps}


def reaches_ceiling(goodput_rps: float | None, ceilings_rps: Mapping[str, float | None]) -> bool:
    """Is a goodput as much the lowest ceiling's as its own? False where no ceiling was looked at."""
    lowest = min(filter(None, ceilings_rps.values()), default=math.inf)
    return (goodput_rps or 0) > CENSORED_SHARE * lowest

"""Looking at a comparison more than once: how much of the error each look may spend. Pure.

The numbers of blocks at which it is looked are fixed beforehand. Up to each look a part of the 5 % may be spent (Lan and
DeMets, Biometrika 70, 1983), by the function of O'Brien and Fleming's type, which spends little while there is little to
see: alpha*(t) = 4 - 4 Phi(z(1 - alpha / 4) / sqrt(t)), where t is the share of the blocks. A look may use what was not spent
before it. The sum of what all looks use is alpha, so whatever the looks have in common, a false alarm in any of them is no
more likely than that. The levels of Lan and DeMets are a little higher (0.044 in place of 0.031 at the last of 6, 9, 12
blocks): they take the looks to be as alike as those of normal values with a known variance are. t statistics of so few
blocks are less alike, and 5.5 % of equal pairs would be told apart (tests/analysis/test_looks.py).

The number of blocks may also follow from the scatter of the first ones, the pilot. That scatter must not be used twice: where
it came out small by chance there are few blocks, and if it counted among theirs, more equal pairs would be told apart than
the level says, up to a third more for the strongest of three variants. So the t test of the last look takes the mean of all
blocks and the scatter of the later ones alone. The mean of normal values is independent of their scatter, so given the number
of blocks this is Student's t, with the degrees of freedom of the later blocks, exactly and at any level. How many are needed
is Stein's rule (Annals of Mathematical Statistics 16, 1945). The levels of the two looks are fixed shares of alpha, because a
level that followed from the scatter would use it twice too.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

MEANINGFUL = 0.5
"""A larger alpha is told as 1: nobody decides by it, and further up the later looks would have less to spend again."""
POWER = 0.80
PILOT_SHARE = 0.2
"""The share of alpha for the look at a pilot; the rest is for the last look."""
SIMULATED, SEED = 20_000, 20261123


def spent(alpha: float, share: float) -> float:
    """How much of alpha (two-sided) may be spent when so large a share of the blocks is there."""
    return 4 * float(scipy.special.ndtr(scipy.special.ndtri(alpha / 4) / math.sqrt(share)))


def needed(sd: float, freedom: int, distance: float, alpha: float) -> int:
    """How many blocks find a distance with a power of at least 80 % at a two-sided alpha, whatever the true scatter is
    (Stein 1945). sd: of a pilot, with so many degrees of freedom, in the unit of the distance. The power is exactly that
    where the pilot's scatter is all that is known of it; the scatter of more blocks is known better, and finds more."""
    quantiles = scipy.special.stdtrit(freedom, 1 - alpha / 2) + scipy.special.stdtrit(freedom, POWER)
    return math.ceil((float(quantiles) * sd / distance) ** 2)


@dataclass(frozen=True)
class PlannedLook:
    """The look at which a comparison is judged. planned: blocks at each; none: it is looked once, at what there is. pilot:
    of two looks, the scatter of so many first blocks decided how many there are; 0: the numbers were fixed beforehand."""

    planned: tuple[int, ...] = ()
    number: int = 1
    pilot: int = 0

    @classmethod
    def of(cls, planned: tuple[int, ...], blocks: int, pilot: int = 0) -> "PlannedLook":
        """The look after so many blocks; between two the later one, which the blocks were made for."""
        reached = next((n for n, due in enumerate(planned, 1) if due >= blocks), len(planned))
        return cls(planned, max(1, reached), pilot)

    @property
    def last(self) -> bool:
        return self.number >= len(self.planned)

    @property
    def left_out(self) -> int:
        """The number of first blocks whose scatter does not count, as the number of all followed from it."""
        return self.pilot if self.last else 0

    def level(self, alpha: float) -> float:
        """What a p value of this look may be at most."""
        if len(self.planned) < 2:
            return alpha
        if self.pilot:
            return alpha * (1 - PILOT_SHARE if self.last else PILOT_SHARE)
        before, share = (
            due / self.planned[-1] for due in (0, *self.planned)[self.number - 1 : self.number + 1]
        )
        return spent(alpha, share) - (spent(alpha, before) if before else 0.0)

    def overall(self, p: float) -> float:
        """The smallest alpha of the whole comparison at which a two-sided p of this look is enough."""
        if len(self.planned) < 2:
            return p
        if self.pilot:
            return min(1.0, p / self.level(1.0))
        if p <= 0:
            return 0.0
        if p >= self.level(MEANINGFUL):
            return 1.0

        def lacking(ln_alpha: float) -> float:
            return math.log(self.level(math.exp(ln_alpha)) / p)

        low, high = math.log(p) - 1e-6, math.log(MEANINGFUL)
        return min(1.0, math.exp(scipy.optimize.brentq(lacking, low, high, xtol=1e-6)))

    def overall_one_sided(self, p: float) -> float:
        """The smallest alpha, as in `overall`, at which a one-sided p is enough: half of a two-sided one."""
        return self.overall(2 * p) / 2 if p < 0.5 else p

    def detectable(self, blocks: int, alpha: float) -> float:
        """How many standard deviations of one block's value the truth must be away, so that the t test says so with a
        power of 80 %, over all planned looks. blocks: how many there are, where it is looked once. With a pilot: by the
        last look alone."""
        if self.pilot:
            due = blocks if self.last else self.planned[-1]
            return _at_once(due, due - self.pilot - 1, alpha * (1 - PILOT_SHARE))
        return (
            _at_looks(self.planned, alpha) if len(self.planned) > 1 else _at_once(blocks, blocks - 1, alpha)
        )


@cache
def _at_once(n: int, freedom: int, alpha: float) -> float:
    """The detectable distance with one look, from the noncentral t distribution."""
    critical = float(scipy.stats.t.ppf(1 - alpha / 2, freedom))

    def lacking(distance: float) -> float:
        # Far out the tail on the wrong side underflows to nan; it is zero there.
        wrong_side = np.nan_to_num(scipy.stats.nct.cdf(-critical, freedom, distance))
        return float(scipy.stats.nct.sf(critical, freedom, distance) + wrong_side - POWER)

    high = 10.0
    while lacking(high) < 0:
        high *= 2
    return float(scipy.optimize.brentq(lacking, 1e-3, high)) / math.sqrt(n)


@cache
def _at_looks(planned: tuple[int, ...], alpha: float) -> float:
    """The distance detectable at several looks, by simulation with a fixed seed: their t statistics have no closed form."""
    noise = np.random.default_rng(SEED).standard_normal((SIMULATED, planned[-1]))
    tests = [
        (
            noise[:, :n].mean(axis=1),
            noise[:, :n].std(axis=1, ddof=1) / math.sqrt(n),
            float(scipy.stats.t.ppf(1 - PlannedLook(planned, number).level(alpha) / 2, n - 1)),
        )
        for number, n in enumerate(planned, start=1)
    ]

    def lacking(distance: float) -> float:
        found = [np.abs(mean + distance) > critical * error for mean, error, critical in tests]
        return float(np.any(found, axis=0).mean()) - POWER

    return float(scipy.optimize.brentq(lacking, 1e-3, 20.0, xtol=1e-4))

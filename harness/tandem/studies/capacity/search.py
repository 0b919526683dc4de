"""The search for capacity: told what each probe came to, it says which rate to try next. Pure.

Capacity is the highest offered rate that meets the service-level objective (SLO). The bracket is a pair of
rates: the lower one met it, the upper one did not.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import geometric_mean

from tandem.analysis.threshold import StartProbes
from tandem.errors import TandemError, UsageError
from tandem.load.rows import SAMPLES_BEYOND
from tandem.record.part import Number, Part
from tandem.record.window import Verdict

STEP = 1.5
WIDTH = 0.05
"""The bracket is narrow enough when its edges differ by this share of the upper one."""
MOST_PROBES, MORE_PROBES = 12, 6
"""The most probes; more where some took an edge back, after which the bracket is wide or open: a host may stall for a second."""
LEAD = 2
"""An edge is settled when one outcome leads by so many probes: 2 of 2 or 3 of 4. Where the probes run out, 2 of 3
decide it. In simulation that brackets the limit more often than 2 of 3 alone, for less than half a probe more."""
PROBES_A_START, APPROACH_STEP = 4, 1.1
"""Probes of each further fresh start, and the factor from one to the next until the outcome changes."""
ERRORS_MOST = 0.001
COMPLETE_LEAST = 0.995
SPARE = 1.02
"""A window is made this much longer than the samples need: some requests may fail."""
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


class Ended(TandemError):
    """What ends a study before its end. invalid: wrong answers, or no rate meets the objective; void: the host disturbed too
    much; failed: anything else."""

    def __init__(self, verdict: Verdict, text: str) -> None:
        super().__init__(text)
        self.verdict, self.text = verdict, text


class Slo(Part):
    """A percentile of the response time and what it may be at most."""

    percentile: str
    limit_ms: Number

    @property
    def quantile(self) -> float:
        return PERCENTILES[self.percentile]

    @property
    def samples(self) -> int:
        """Samples that the percentile needs to be published."""
        return math.ceil(SAMPLES_BEYOND / (1 - self.quantile) - 1e-6)

    @property
    def asked(self) -> str:
        """The objective as a request has it; `p99=0.05s` and `p99=50ms` are the same."""
        return f"{self.percentile}={self.limit_ms:.9f}".rstrip("0").rstrip(".") + "ms"

    def __str__(self) -> str:
        return f"{self.percentile} <= {self.limit_ms:g} ms"


def parse_slo(text: str) -> Slo:
    """`p99=50ms` as an objective. Raises UsageError for anything else."""
    match = re.fullmatch(r"(p\d+)=(\d+(?:\.\d+)?)(ms|s)", text.strip())
    if not match or match[1] not in PERCENTILES or float(match[2]) == 0:
        names = ", ".join(PERCENTILES)
        raise UsageError(f"--slo takes a percentile ({names}) and a time, such as p99=50ms, not '{text}'")
    return Slo(percentile=match[1], limit_ms=float(match[2]) * (1000 if match[3] == "s" else 1))


def window_s(slo: Slo, rate_rps: int, shortest_s: int, longest_s: int, trims_s: float) -> int:
    """How long a window has to be, in whole seconds, for the percentile's samples at a rate.

    trims_s: what is cut off at its ends. Raises Ended if that is longer than longest_s.
    """
    needed = max(shortest_s, math.ceil(slo.samples * SPARE / rate_rps + trims_s))
    if needed > longest_s:
        least = math.ceil(slo.samples * SPARE / (longest_s - trims_s))
        lower = [name for name, q in PERCENTILES.items() if q < slo.quantile]
        remedy = f"ask for {lower[-1]}, or " if lower else ""
        raise Ended(
            Verdict.FAILED,
            f"{slo.percentile} needs {slo.samples:,} samples: at {rate_rps:,}/s a window of {needed} s, but the longest allowed is"
            f" {longest_s} s, which is enough from {least:,}/s on. Remedy: {remedy}allow it with --longest {needed}",
        )
    return needed


def edges_of[R: float](outcomes: Iterable[tuple[R, bool]]) -> tuple[R | None, R | None]:
    """The highest rate that was held, and the lowest that was not; None where there is none."""
    made = list(outcomes)
    held = max((rate for rate, passed in made if passed), default=None)
    return held, min((rate for rate, passed in made if not passed), default=None)


@dataclass
class Search:
    """Steps by 1.5 until the outcome changes, bisects to WIDTH, then repeats the edges until they are settled.

    `next_rps` is None at the end: settled, or after MOST_PROBES, and a few more where an edge was taken back. A void probe is
    not among the votes.
    """

    start_rps: int
    lead: int = LEAD
    votes: dict[int, list[bool]] = field(default_factory=dict)

    def tell(self, rate_rps: int, passed: bool) -> None:
        self.votes.setdefault(rate_rps, []).append(passed)

    @property
    def probes(self) -> int:
        return sum(map(len, self.votes.values()))

    @property
    def edges(self) -> tuple[int | None, int | None]:
        """The highest rate that passed more often than not, and the lowest that did not; a tie counts as not passed."""
        return edges_of((rate, self._margin(rate) > 0) for rate in self.votes)

    @property
    def decided(self) -> bool:
        """Is the bracket narrow, with at least two probes that agree at both its edges?"""
        votes = [self.votes[rate] for rate in self.edges if rate is not None]
        return self._narrow and all(max(own.count(True), own.count(False)) >= 2 for own in votes)

    def next_rps(self) -> int | None:
        if self.probes >= MOST_PROBES + (MORE_PROBES if self._took_back else 0):
            return None
        for rate in self.votes:  # one vote against another: the third decides
            if self._margin(rate) == 0:
                return rate
        lower, upper = self.edges
        if upper is None:
            return max(1, self.start_rps) if lower is None else max(lower + 1, round(lower * STEP))
        if lower is None:
            return max(1, round(upper / STEP)) if upper > 1 else None
        if not self._narrow:
            return max(lower + 1, min(upper - 1, round(math.sqrt(lower * upper))))
        return next((rate for rate in (lower, upper) if abs(self._margin(rate)) < self.lead), None)

    @property
    def _narrow(self) -> bool:
        lower, upper = self.edges
        return lower is not None and upper is not None and upper - lower <= max(1, WIDTH * upper)

    @property
    def _took_back(self) -> bool:
        outcomes = {passed for votes in self.votes.values() for passed in votes}
        return len(outcomes) == 2 and not self._narrow

    def _margin(self, rate: int) -> int:
        """Probes of a rate that passed, less those that did not."""
        return 2 * sum(self.votes[rate]) - len(self.votes[rate])


@dataclass
class Approach:
    """The probes of a fresh start that begins near the limit: by a tenth up or down until the outcome changes, then
    between the edges. So each start tests an upper edge of its own, and not only that a lower one holds."""

    start_rps: int
    made: list[tuple[int, bool]] = field(default_factory=list)

    def tell(self, rate_rps: int, passed: bool) -> None:
        self.made.append((rate_rps, passed))

    @property
    def edges(self) -> tuple[int | None, int | None]:
        return edges_of(self.made)

    def next_rps(self) -> int | None:
        if len(self.made) >= PROBES_A_START:
            return None
        lower, upper = self.edges
        if upper is None:
            return self.start_rps if lower is None else max(lower + 1, round(lower * APPROACH_STEP))
        return max(1, round(upper / APPROACH_STEP)) if lower is None else round(math.sqrt(lower * upper))


def middle_rps(made: StartProbes) -> float:
    """The rate that one start's limit is about: between its edges, or at the only one."""
    return geometric_mean(edge for edge in edges_of(made) if edge is not None)


def next_start_rps(starts: Iterable[StartProbes]) -> int:
    """The rate at which a further fresh start begins: near the limits of those before it."""
    return max(1, round(geometric_mean(middle_rps(start) for start in starts)))

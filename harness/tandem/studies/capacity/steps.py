"""What the probes of a capacity search and of its further starts come to, told one by one, void ones among them. Pure.

Who is told the same probes again asks for the same next rate.
"""

from dataclasses import dataclass, field
from statistics import geometric_mean

from tandem.analysis.threshold import StartProbes, Threshold, threshold
from tandem.studies.capacity.judged import Judged, State, stalled_again
from tandem.studies.capacity.search import Approach, Search, Slo, middle_rps

VOID_STARTS = 2
"""So many further fresh starts may replace void ones."""


@dataclass
class SearchSteps:
    """The probes of one warm start. A void one is repeated once; two at one rate end it."""

    search: Search | Approach
    again: Judged | None = None
    """Void, and to be repeated next."""
    disturbed: Judged | None = None
    """Void like the one before it."""

    def next_rps(self) -> int | None:
        """The rate of the next probe; None at the end."""
        if self.disturbed is not None:
            return None
        return self.search.next_rps() if self.again is None else self.again.rate_rps

    def tell(self, probe: Judged) -> Judged:
        """The probe as it counts: what stalls the generator twice in a row is a limit, not an accident."""
        before, self.again = self.again, None
        if probe.state is State.VOID and before is not None and before.stalled and probe.stalled:
            probe = stalled_again(probe)
        if probe.state is not State.VOID:
            self.search.tell(probe.rate_rps, probe.state is State.PASSED)
        elif before is None:
            self.again = probe
        else:
            self.disturbed = probe
        return probe


def start_of(probes: list[Judged]) -> StartProbes:
    """A start's probes that count."""
    return [
        (probe.rate_rps, probe.state is State.PASSED) for probe in probes if probe.state is not State.VOID
    ]


@dataclass
class FurtherStarts:
    """The fresh starts after the search, each with a few probes. One without any that counts is replaced; too many of
    these end it. wanted: so many are to count. starts: those that do, the search's first."""

    wanted: int
    starts: list[StartProbes]
    void: int = 0
    disturbed: Judged | None = None
    """The last of the void ones, where they were too many."""
    _found: Threshold | None = field(default=None, compare=False)

    @property
    def done(self) -> int:
        return len(self.starts) - 1

    def next_rps(self) -> int | None:
        """Where the next fresh start begins; None at the end."""
        if self.disturbed is not None or self.done >= self.wanted:
            return None
        return max(1, round(geometric_mean(middle_rps(start) for start in self.starts)))

    def tell(self, probes: list[Judged]) -> None:
        """All probes of one fresh start."""
        if start := start_of(probes):
            self.starts.append(start)
            return
        self.void += 1
        if self.void > VOID_STARTS:
            self.disturbed = probes[-1]

    @property
    def found(self) -> Threshold | None:
        """The capacity, once all starts are there."""
        if self.next_rps() is not None or self.disturbed is not None:
            return None
        self._found = self._found or threshold(self.starts)
        return self._found


def further_of(steps: SearchSteps, probes: list[Judged], starts: int) -> FurtherStarts | None:
    """What follows a search; None while it goes on, and where it has no bracket. probes: those of the search."""
    lower, upper = steps.search.lower_rps, steps.search.upper_rps
    if steps.next_rps() is not None or steps.disturbed is not None or lower is None or upper is None:
        return None
    return FurtherStarts(starts, [start_of(probes)])


def reasons(search: SearchSteps, further: FurtherStarts | None, slo: Slo) -> list[str]:
    """Why what has ended has no capacity."""
    if search.next_rps() is not None:
        return []
    if (probe := search.disturbed) is not None:
        return [f"the host disturbed the probe at {probe.rate_rps:,}/s twice: {probe.reasons[0]}"]
    if search.search.lower_rps is None:
        return [f"no rate was found at which {slo} holds"]
    if search.search.upper_rps is None:
        return [
            f"no rate was found at which {slo} does not hold: the probes ran out at {search.search.lower_rps:,}/s"
        ]
    if further is not None and (probe := further.disturbed) is not None:
        return [f"the host disturbed {further.void} further starts: {probe.reasons[0]}"]
    return []

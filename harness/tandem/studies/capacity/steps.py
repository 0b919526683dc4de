"""What the probes of a capacity search and of its confirmation come to, told one by one, void ones among them. Pure.

Who is told the same probes again asks for the same next rate.
"""

from dataclasses import dataclass

from tandem.studies.capacity.judged import Judged, State, stalled_again
from tandem.studies.capacity.search import Confirmation, Search, Slo

VOID_STARTS = 2
"""So many further fresh starts may replace void ones."""


@dataclass
class SearchSteps:
    """The search. A void probe is repeated once; two at one rate end it."""

    search: Search
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


@dataclass
class ConfirmationSteps:
    """The confirmation, a fresh start for each probe. A void one does not count; too many end it."""

    confirmation: Confirmation
    void: int = 0
    disturbed: Judged | None = None
    """The void one that was too many."""

    def next_rps(self) -> int | None:
        """The rate of the next fresh start; None at the end."""
        return None if self.disturbed is not None else self.confirmation.next_rps()

    def tell(self, probe: Judged) -> Judged:
        """The probe as it counts."""
        if probe.state is not State.VOID:
            self.confirmation.tell(probe.state is State.PASSED)
            return probe
        self.void += 1
        if self.void > VOID_STARTS:
            self.disturbed = probe
        return probe


def confirmation_of(search: SearchSteps, starts: int) -> ConfirmationSteps | None:
    """What follows a search; None while it goes on, and where it has no bracket."""
    lower, upper = search.search.lower_rps, search.search.upper_rps
    if search.next_rps() is not None or search.disturbed is not None or lower is None or upper is None:
        return None
    return ConfirmationSteps(Confirmation(lower, upper, starts))


def reasons(search: SearchSteps, confirmation: ConfirmationSteps | None, slo: Slo) -> list[str]:
    """Why what has ended has no capacity."""
    if search.next_rps() is not None:
        return []
    if (probe := search.disturbed) is not None:
        return [f"the host disturbed the probe at {probe.rate_rps:,}/s twice: {probe.reasons[0]}"]
    if search.search.lower_rps is None:
        return [f"no rate was found at which {slo} holds"]
    if confirmation is None or confirmation.next_rps() is not None:
        return []
    if (probe := confirmation.disturbed) is not None:
        return [f"the host disturbed {confirmation.void} confirmations: {probe.reasons[0]}"]
    state = confirmation.confirmation
    if state.confirmed:
        return []
    return [
        f"{slo} did not hold in {state.needed} of {state.starts} fresh starts, at {state.lower_rps:,}/s either"
    ]

"""The one form of a check: a known answer, when a measurement agrees with it, and what is broken on purpose to see it fail."""

from collections.abc import Callable
from dataclasses import dataclass

from tandem.record.selftest import Outcome


@dataclass(frozen=True, kw_only=True)
class KnownAnswer[T]:
    """A check with a known answer. It holds if what was measured is right and the negative control is caught."""

    name: str
    expected: str
    tolerance: str = "none"
    right: Callable[[T], bool]
    """Whether a measurement agrees with what is expected."""
    shown: Callable[[T], str]
    """Words for a measurement."""
    broken: str
    """Name of the negative control: what is broken on purpose, or left out."""
    caught: Callable[[T], bool] | None = None
    """Whether the negative control failed as it must; by default: it is not right."""

    def judged(self, measured: T, control: T) -> Outcome:
        """Judges a measurement and its negative control."""
        caught = self.caught or (lambda found: not self.right(found))
        return Outcome(
            name=self.name,
            expected=self.expected,
            measured=self.shown(measured),
            tolerance=self.tolerance,
            passed=bool(self.right(measured)),
            negative_control=f"{self.broken}: {self.shown(control)}",
            negative_control_failed=bool(caught(control)),
        )


def close(found: float, wanted: float, share: float, least: float = 0.0) -> bool:
    """Whether a figure is within a share of the wanted one, or within `least`, whichever is more."""
    return abs(found - wanted) <= max(least, share * abs(wanted))


def percent(shares: dict[int, float]) -> str:
    """Shares by the number of blocks."""
    return ", ".join(f"n = {n}: {share:.1%}" for n, share in shares.items())

"""What one check of the self-test came to."""

from tandem.record import Part


class Outcome(Part):
    """Figures are texts with their units: a table prints them as they are."""

    name: str
    group: str
    expected: str
    measured: str
    tolerance: str
    passed: bool
    negative_control: str | None
    """What was broken on purpose; None where there is no such control."""
    negative_control_failed: bool | None
    """True when the broken variant was caught, as it must be."""

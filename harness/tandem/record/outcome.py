"""What a check of the self-test found."""

from tandem.record.part import Part


class Outcome(Part):
    name: str
    group: str
    expected: str
    measured: str
    tolerance: str
    passed: bool
    negative_control: str | None
    """What was broken on purpose, and what the check then saw; null where there is none."""
    negative_control_failed: bool | None
    """True when the broken variant did fail, as it must."""

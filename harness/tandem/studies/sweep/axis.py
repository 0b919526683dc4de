"""Which values of which setting a sweep measures. Pure."""

import re
from dataclasses import dataclass

from tandem.engine.grid import LONGEST_WAIT_MS
from tandem.errors import UsageError, unknown

AXES = {
    "connections": "connections of the closed loop",
    "pool": "DB_POOL_MAX, database connections of the whole application",
    "threads": "THREADS, handler threads of each worker",
    "wait": "milliseconds that each request of the scenario work waits",
}
WAIT_SCENARIO = "work"
WANTED = "AXIS=VALUES, such as connections=1..512 or pool=4,10,32"


@dataclass(frozen=True)
class Over:
    """What is swept. values: distinct, ascending."""

    axis: str
    values: tuple[int, ...]


def parse_over(text: str) -> Over:
    """`pool=4,10,16` or `connections=1..512`: a list, or the powers of two from one end to the other, both ends
    included. Raises UsageError."""
    axis, equals, given = text.strip().partition("=")
    if not equals:
        raise UsageError(f"--over takes {WANTED}, not '{text}'")
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    values: set[int] = set()
    for part in given.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\.\.(\d{1,6}))?\s*", part)
        if not match:
            raise UsageError(f"--over takes {WANTED}: '{part}' is neither a whole number nor FROM..TO")
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low:
            raise UsageError(f"--over {axis}: {low}..{high} is empty; the smaller end comes first")
        values |= {low, high} | {2**n for n in range(high.bit_length()) if low < 2**n < high}
    if axis == "connections" and 0 in values:
        raise UsageError("--over connections: the minimum is 1")
    if axis == "wait" and max(values) > LONGEST_WAIT_MS:
        raise UsageError(f"--over wait: the maximum is {LONGEST_WAIT_MS} ms, as windows last only seconds")
    if len(values) < 2:
        raise UsageError(f"--over {axis} needs at least two values: {WANTED}")
    return Over(axis, tuple(sorted(values)))


def coordinate(axis: str) -> str:
    """The coordinate of a value of an axis; it carries its unit."""
    return "wait_ms" if axis == "wait" else axis

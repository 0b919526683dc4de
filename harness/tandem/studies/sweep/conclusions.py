"""What the trials of a sweep say together: a curve for each variant over the values of its axis. Pure."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from tandem.analysis.curves import loss, where
from tandem.analysis.ratios import Floats
from tandem.engine.context import InContext
from tandem.engine.grid import LONGEST_WAIT_MS
from tandem.errors import UsageError, unknown
from tandem.facts.estimate import OfVariant, by_block, goodput
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Position
from tandem.record.part import Number, Part
from tandem.studies.sweep.usl import Usl, fit

AXES = {
    "connections": "connections of the closed loop",
    "cores": "cores of the application; WORKERS follow where they are not chosen",
    "pool": "DB_POOL_MAX, database connections of the whole application",
    "threads": "THREADS, handler threads of each worker",
    "wait": "milliseconds that each request of the scenario work waits",
}
ENVIRONMENT = re.compile("env:([A-Za-z_][A-Za-z0-9_]*)")
"""The axis of a variable of a reader's own service."""
WAIT_SCENARIO = "work"
WANTED = "AXIS=VALUES, such as connections=1..512 or pool=4,10,32"


def parse_over(text: str) -> tuple[str, list[int]]:
    """An axis and its values, distinct and ascending. `pool=4,10,16` or `connections=1..512`: a list, or the powers of two from
    one end to the other, both ends included. Raises UsageError."""
    axis, equals, given = text.strip().partition("=")
    if not equals:
        raise UsageError(f"--over takes {WANTED}, not '{text}'")
    if axis not in AXES and not ENVIRONMENT.fullmatch(axis):
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
    if axis in ("connections", "cores") and 0 in values:
        raise UsageError(f"--over {axis}: the minimum is 1")
    if axis == "wait" and max(values) > LONGEST_WAIT_MS:
        raise UsageError(f"--over wait: the maximum is {LONGEST_WAIT_MS} ms, as windows last only seconds")
    if len(values) < 2:
        raise UsageError(f"--over {axis} needs at least two values: {WANTED}")
    return axis, sorted(values)


def coordinate(axis: str) -> str:
    """The coordinate of a value of an axis; it carries its unit."""
    return "wait_ms" if axis == "wait" else axis.removeprefix("env:")


C90 = 0.9
LAW_CORES = 5
"""Fewest core counts for the law: with fewer it has as many parameters as there is to see; then the speed-ups stand alone."""
NEEDED = 2
"""Good rounds of a value, else it has no figure."""


class Curve(Part):
    """What the law of one variant over all values says. Null where trials are missing."""

    variant: str
    peak_at: int | None
    c90: int | None
    """The smallest value that reaches 90 % of the peak; null for `wait`, where less is more."""
    retrograde_loss: Number | None
    """1 - rate at the largest value / peak."""
    peak_between: tuple[int, int] | None = None
    """Values where the peak may be, with 95 %. Null, as the fields below, without two complete rounds."""
    c90_between: tuple[int, int] | None = None
    loss_interval: tuple[Number, Number] | None = None
    """Interval of the loss at 95 %, whichever value is the best one."""
    loss_p: Number | None = None
    """The p value of no loss: the largest value against all others at once."""
    usl: Usl | None
    """The law, for `connections`, and for `cores` from LAW_CORES values on."""


class Swept(InContext):
    """Estimates of each variant at each value, and a curve for each variant."""

    axis: str
    values: list[int]
    rounds: int
    curves: list[Curve] = Field(default_factory=list)

    def position(self, curve: Curve, value: int) -> Position:
        """Position of a variant at a value."""
        return Position(curve.variant, {coordinate(self.axis): value})

    def peak_rps(self, curve: Curve) -> float | None:
        """The highest mean goodput of a curve."""
        at = curve.peak_at
        return None if at is None else self.mean_of(GOODPUT, self.position(curve, at))


def curve(variant: str, axis: str, found: Mapping[int, OfVariant]) -> Curve:
    """The curve of a variant. found: that variant by the value of the axis."""
    rates = {value: list(by_block(one.full, goodput).values()) for value, one in found.items() if one.ok}
    known = {value: float(np.mean(own)) for value, own in rates.items() if own}
    values, complete_rounds = list(found), _rounds(list(found.values()))
    peak_at = max(known, key=lambda value: known[value], default=None)
    out = Curve(
        variant=variant,
        peak_at=peak_at,
        c90=None,
        retrograde_loss=None,
        usl=_usl(rates) if axis == "connections" or (axis == "cores" and len(found) >= LAW_CORES) else None,
    )
    if peak_at is not None and len(known) == len(found) and (peak := known[peak_at]):
        out.c90 = min(value for value in known if known[value] >= C90 * peak)
        out.retrograde_loss = 1 - known[max(found)] / peak
    if (place := where(complete_rounds, C90)) and (behind := loss(complete_rounds)):
        out.peak_between, out.c90_between = (
            (values[first], values[last]) for first, last in (place.peak, place.reaches)
        )
        out.loss_interval, out.loss_p = behind.interval, behind.p
    if axis == "wait":
        out.c90 = out.c90_between = None
    return out


def _rounds(found: Sequence[OfVariant]) -> Floats:
    """The rates of each round in which every value has one: a row for each, a column for each value."""
    rates = [
        {block: rate for (block, _), rate in by_block(one.full, goodput).items() if rate > 0} for one in found
    ]
    complete = sorted(set.intersection(*(set(one) for one in rates)))
    return np.array([[one[block] for one in rates] for block in complete], float).reshape(-1, len(rates))


def _usl(rates: Mapping[int, Sequence[float]]) -> Usl:
    """Few rounds do not give each mean's error well; the relative spread of all values together does. rates: by value."""
    means = [float(np.mean(own)) for own in rates.values()]
    residuals = [np.log(np.array(own) / np.mean(own)) for own in rates.values()]
    freedom = sum(len(own) - 1 for own in rates.values())
    spread = float(np.sqrt(sum((own**2).sum() for own in residuals) / freedom)) if freedom else 0.0
    errors = [spread * mean / len(own) ** 0.5 for mean, own in zip(means, rates.values(), strict=True)]
    return fit(list(rates), means, errors)

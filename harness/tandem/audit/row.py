"""One row of a table of results, and how its figures are read from what a file has. Pure."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from tandem.errors import UsageError, unknown

NAME_MOST = 80
"""Characters of a name that are kept."""
UNITS_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
_PART = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)(ns|[uµμm]s|s|m|h)", re.ASCII)
_TIME = re.compile(rf"(?:{_PART.pattern}){{1,4}}", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?", re.ASCII)
TIME_KEY = re.compile(r"(mean|min|max|p(\d{1,2})\.?(\d{0,4}))(?:_(ns|us|ms|s))?", re.ASCII)
TEXTS = ("name", "test", "language", "loop")
NUMBERS = (
    "rate_rps",
    "requests",
    "errors",
    "connections",
    "depth",
    "duration_s",
    "cpu_percent",
    "cpus",
    "runs",
)
COLUMNS = (*TEXTS, *NUMBERS, "mean_ms", "min_ms", "max_ms", "p50_ms", "p99_ms", "p99.9_ms")
"""Names of columns. Times are in ns, us, ms or s, and of any percentile."""


class Time(NamedTuple):
    """A time in milliseconds, and half a unit of the last digit that the file has of it."""

    ms: float
    half_ms: float = 0.0

    @property
    def low(self) -> float:
        return self.ms - self.half_ms

    @property
    def high(self) -> float:
        return self.ms + self.half_ms

    def __str__(self) -> str:
        return f"{self.ms:,.4g} ms" if abs(self.ms) < 1e4 else f"{self.ms:,.0f} ms"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The figures of one load. None: the file does not tell."""

    name: str = ""
    test: str = ""
    """What was asked; rows of one test are comparable."""
    language: str = ""
    loop: str = ""
    """`closed`; `open`: times count from when a request was due, whatever was answered before."""
    rate_rps: float | None = None
    mean: Time | None = None
    min: Time | None = None
    max: Time | None = None
    percentiles: Mapping[float, Time] = field(default_factory=dict)
    """99.9 -> its time, in rising order."""
    connections: float | None = None
    depth: float | None = None
    """Requests that a connection has at once: pipelining, streams."""
    several: bool = False
    """Several requests at once on a connection, as in HTTP/2: without `depth` nothing is known of how many."""
    requests: float | None = None
    """Answers, right or wrong."""
    errors: float | None = None
    """Answers with status 400 and above."""
    duration_s: float | None = None
    cpu_percent: float | None = None
    """CPU use: 100 is one CPU."""
    cpus: float | None = None
    runs: float | None = None
    loose: str = ""
    """Why rate, mean and connections need not fit with this generator."""
    last_second: tuple[int, float] | None = None
    """Answers in the last second, and in the median second before."""
    cut_off: float | None = None
    """Requests in flight at the end that the generator dropped."""


def clean(text: object) -> str:
    """A foreign name: one line without control characters or changes of direction, cut to NAME_MOST."""
    told = "".join(one if one.isprintable() else "\ufffd" for one in str(text)[: NAME_MOST + 1])
    return told if len(told) <= NAME_MOST else f"{told[: NAME_MOST - 1]}…"


def parse_number(value: object) -> float | None:
    """`12`, `"1,234.5"` or `"98.7%"` as a number; None for all else and for what is not finite."""
    if isinstance(value, str):
        value = value.strip()[:40].replace(",", "").removesuffix("%").strip()
        value = float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return float(value)


def parse_time(value: object, unit: str = "ms") -> Time | None:
    """A time from a number of a unit, or from a text with units of its own, such as `1.46ms` or `2m55.3s`."""
    if isinstance(value, str) and _TIME.fullmatch(text := value.strip()[:60]):
        parts = _PART.findall(text)
        return Time(math.fsum(float(digits) * UNITS_MS[of] for digits, of in parts), _half(*parts[-1]))
    found = parse_number(value)
    return None if found is None else Time(found * UNITS_MS[unit], _half(str(value), unit))


def _half(digits: str, unit: str) -> float:
    decimals = len(digits.strip().partition(".")[2])
    return 0.0 if "e" in digits.lower() else UNITS_MS[unit] * 10.0**-decimals / 2


@cache
def _column(key: str) -> tuple[str, float, str] | None:
    """`p999_us` -> p999, 99.9, us. None for what is no time. Raises UsageError for what is no column either."""
    if match := TIME_KEY.fullmatch(key):
        return match[1], float(f"{match[2]}.{match[3] or 0}") if match[2] else 0.0, match[4] or "ms"
    if key not in (*TEXTS, *NUMBERS, *Row.__dataclass_fields__):
        raise unknown("column", clean(key), COLUMNS)
    return None


def row_of(record: Mapping[str, Any]) -> Row:
    """The row of a record by names of columns; fields of Row that are no column are taken as they are."""
    found: dict[str, Any] = {}
    percentiles: dict[float, Time] = {}
    for key, value in record.items():
        if column := _column(key):
            name, share, unit = column
            if (at := parse_time(value, unit)) is not None and share:
                percentiles[share] = at
            elif not share:
                found[name] = at
        elif key in TEXTS:
            text = clean("" if value is None else value)
            found[key] = text.lower() if key == "loop" else text
        else:
            found[key] = parse_number(value) if key in NUMBERS else value
    return Row(percentiles=dict(sorted(percentiles.items())), **found)


def parse_columns(texts: list[str]) -> dict[str, str]:
    """`rate_rps=rps,mean_ms=latency` -> name of a column -> heading. Raises UsageError for another form or name."""
    pairs = [pair.partition("=") for text in texts for pair in text.split(",")]
    for name, _, heading in pairs:
        if not heading or (_column(name.strip()) is None and name.strip() not in COLUMNS):
            example = "--columns takes NAME=HEADING, such as rate_rps=rps,mean_ms=latency"
            raise UsageError(f"{example}, not '{clean(name)}'. Names: {', '.join(COLUMNS)}")
    return {name.strip(): heading.strip() for name, _, heading in pairs}

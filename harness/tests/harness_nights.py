"""Nights of a history: one implementation on one scenario, with a value of each line."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tandem.history.night import AlarmAnswer, Line, Night, Point, Program, SeriesKey

FIRST = datetime(2026, 1, 1, 1, tzinfo=UTC)
METRIC = "duet_cpu_us_per_request"


def point(line: Line, value: float, **changes: Any) -> Point:
    fields = {"implementation": "node", "scenario": "index", "metric": METRIC, "line": line, "value": value}
    return Point.model_validate({**fields, **changes})


def night(number: int, values: Mapping[Line, float], **changes: Any) -> Night:
    """So many days after the first."""
    started = FIRST + timedelta(days=number)
    fields = {
        "id": f"{started:%Y%m%dT%H%M%SZ}",
        "machine": "m",
        "cpu_model": "c",
        "started_at": started,
        "programs": {"node": Program(tag="t")},
        "frozen": {"node": "f"},
        "points": [point(line, value) for line, value in values.items()],
    }
    return Night.model_validate({**fields, **changes})


def alarm_answer(since: str, raised: str, series: SeriesKey | None = None, **changes: Any) -> AlarmAnswer:
    key = {"machine": "m", "cpu_model": "c", "implementation": "node", "scenario": "index", "metric": METRIC}
    fields = {
        "id": "a",
        "series": series or SeriesKey.model_validate({**key, "line": "today", "frozen": "f"}),
        "since": since,
        "raised": raised,
        "answered_at": FIRST,
        "word": "confirmed",
        "worse": True,
    }
    return AlarmAnswer.model_validate({**fields, **changes})

"""What a row of the kind `http` says, how long its windows are, and which ceilings it has. Pure."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tandem.studies.reproduce.experiment import ExperimentPlan
from tandem.studies.reproduce.kinds import trims_s

TRIMS_LONG, TRIMS_SHORT = (2.0, 1.0), (0.5, 0.25)
DELAYS_LEAST = 3
"""Of the measured part, in delays."""
WAVES_FROM_MS = 50
"""Requests that all wait equally long come in waves; from here on a window's edges lie between two of them."""
TIMEOUT_LEAST_S, TIMEOUT_FACTOR = 10, 2


class HttpRun(BaseModel):
    """`run` of a row, laid over the experiment's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    implementation: str
    scenario: str
    topology: str
    connections: Annotated[int, Field(ge=1)]
    settings: dict[str, str] = {}
    delay_ms: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Scenarios that wait: how long each request does."""
    db_rtt_ms: Annotated[int, Field(ge=0, le=250)] | None = None
    """How far the database is away; None: no latency proxy in the path."""
    round_trips: Annotated[int, Field(ge=1)] | None = None
    """To the database, of one request, as our program makes them."""
    limits: dict[Literal["APP_MAXCONN", "PGBOUNCER_POOL_SIZE"], str] = {}
    """Of the shared services: the same in every row."""
    timeout_s: Annotated[int, Field(ge=1, le=300)] | None = None
    """How long the client waits for an answer; None: as long as the ceilings explain, 10 s at least."""
    refused_most: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Share of the requests that may be refused with 503, where the load is meant to be too much."""
    app_cpus_least: Annotated[int, Field(ge=1)] = 1
    """Where the host's placement gives the application fewer, nothing is pinned."""

    @model_validator(mode="after")
    def _trips_need_a_distance(self) -> "HttpRun":
        if self.round_trips is not None and self.db_rtt_ms is None:
            raise ValueError("`round_trips` needs `db_rtt_ms`: without a distance they give no ceiling")
        return self

    @property
    def group(self) -> str:
        """The same for rows that one fresh start can measure one after the other: all but what the client asks."""
        return self.model_copy(update={"delay_ms": None, "round_trips": None}).model_dump_json()


def waiting_ceilings(run: HttpRun, handler_threads: int | None) -> dict[str, float]:
    """Requests per second that cannot be exceeded because each one waits; empty where none does."""
    if not run.delay_ms:
        return {}
    found = {"connections/delay": run.connections / run.delay_ms * 1e3}
    if handler_threads is not None:
        found["threads/delay"] = handler_threads / run.delay_ms * 1e3
    return found


TRIPS_CEILING = "connections/(round trips × RTT)"


def trips_ceiling(run: HttpRun, usable: int | None, rtt_ms: float) -> dict[str, float]:
    """The same where each request makes round trips on a database connection of its own. usable: database
    connections that can be in use at once; rtt_ms: the round trip before the load: under load it contains the queues of
    database and CPU, which a ceiling must not."""
    if run.round_trips is None or usable is None or rtt_ms <= 0:
        return {}
    return {TRIPS_CEILING: usable / (run.round_trips * rtt_ms) * 1e3}


def trips_implied(usable: int | None, rtt_ms: float, rate_rps: float) -> float | None:
    """How many round trips per request a rate leaves time for: all time on the connections, in round trips."""
    return None if usable is None or rtt_ms <= 0 or rate_rps <= 0 else usable / (rate_rps * rtt_ms) * 1e3


@dataclass(frozen=True)
class WindowTimes:
    """A window: its length and what of it is not measured, in seconds."""

    seconds: int
    trim_start_s: float
    trim_end_s: float

    @property
    def measured_s(self) -> float:
        return self.seconds - self.trim_start_s - self.trim_end_s


def window_times(plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None) -> WindowTimes:
    """Long enough for `plan.requests` at the ceiling, at least `window_s`, at most `cap_s`; but never shorter
    than a few delays. Where requests wait in waves, the measured part is a whole number of delays long and begins
    and ends half a delay after a wave, so that no wave is cut."""
    seconds = plan.window_s or 1
    if plan.requests and ceiling_rps:
        seconds = max(seconds, math.ceil(plan.requests / ceiling_rps + sum(TRIMS_LONG)))
    if plan.cap_s:
        seconds = min(seconds, plan.cap_s)
    start, end = trims_s(seconds, TRIMS_SHORT, TRIMS_LONG)
    if not delay_ms or delay_ms < WAVES_FROM_MS:
        return WindowTimes(seconds, start, end)
    delay_s = delay_ms / 1e3
    # Not the first wave: the harness's own request, asked before the load, has the place of one answer in it.
    start = (max(1, math.ceil(start / delay_s - 0.5 - 1e-9)) + 0.5) * delay_s
    seconds = max(seconds, math.ceil(start + DELAYS_LEAST * delay_s + end))
    measured = math.floor((seconds - start - end) / delay_s + 1e-9) * delay_s
    return WindowTimes(seconds, start, seconds - start - measured)


def expected_s(connections: int, ceiling_rps: float | None) -> float:
    """How long a request takes at the ceiling, by Little's law."""
    return connections / ceiling_rps if ceiling_rps else 0.0


def timeout_s(connections: int, ceiling_rps: float | None) -> int:
    """How long a request may take: a hundred clients of two threads that sleep for a second wait for most of a
    minute, and are right to."""
    return max(TIMEOUT_LEAST_S, math.ceil(TIMEOUT_FACTOR * expected_s(connections, ceiling_rps)))

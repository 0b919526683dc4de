"""A row's own load as a window: its length, what of it is measured, and the rates that waiting allows. Pure."""

import math
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tandem.errors import UsageError
from tandem.load import drill, wrk
from tandem.load.generator import OHA
from tandem.record.trial import WindowSpec
from tandem.studies.reproduce.experiment import ExperimentPlan

SILENT = "silent"
"""The generator of idle rows: it opens connections and sends nothing (tandem.lab.floor)."""
IDLE_S = 6
"""Seconds for the estimate: opening thousands of silent connections, one after the other."""
WINDOW_S = 10
"""The length of a window where a plan does not say."""
LONG_S = 10
"""A window from here on can spare the usual seconds at its start and its end."""
TRIMS_LONG, TRIMS_SHORT = (2.0, 1.0), (0.5, 0.25)
TRIMS_MANY = (1.5, 0.5)
"""Trims of a short window with connections of its own: they are opened in it."""
TRIM_SHARE = 0.1
"""Trimmed share of the load of a tool without rows, at both ends, in which connections are opened and closed."""
OPENING_S_PER_THOUSAND = 0.4
"""Seconds added before the measured part, for a thousand connections: oha opens them while it asks."""
DELAYS_LEAST = 3
"""Shortest measured part, in delays."""
WAVES_FROM_MS = 50
"""Requests that all wait equally long come in waves; from here on a window's edges lie between two of them."""
PATIENCE_LEAST_S, PATIENCE_FACTOR = 10, 2
DRILL_LIMIT = "drill_s"
"""A plan's limit: no more requests by drill than take about so long."""
DRILL_RPS, DRILL_RAMPED_RPS = 8_000, 600
"""Requests per second that drill's one thread makes at least; with a ramp-up, each iteration at a time."""


class RowWindow(BaseModel):
    """`window` of a row, laid over the experiment's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    connections: Annotated[int, Field(ge=1)] | None = None
    """Connections of this window alone. They are counted: a window with fewer is invalid. None: those of the variant's scenario."""
    delay_ms: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """How long each request waits, in scenarios that wait."""
    generator: Literal["oha", "wrk", "drill", "silent"] = "oha"
    generator_options: dict[str, Any] = {}
    """Options of this generator beside the load: wrk's `threads`; drill's `requests`, `rampup_s`, `quiet`."""
    thread_each: bool = False
    """The program has a thread for each connection: they are counted."""

    @model_validator(mode="after")
    def _fits_its_generator(self) -> "RowWindow":
        if self.generator != OHA.name and self.connections is None:
            raise ValueError(f"{self.generator} needs `connections`")
        if self.generator == wrk.NAME and self.generator_options.get("threads", 1) > (self.connections or 0):
            raise ValueError(
                f"wrk needs a connection for each of its {self.generator_options['threads']} threads"
            )
        if self.generator == drill.NAME and "requests" not in self.generator_options:
            raise ValueError("a drill row needs `requests`")
        return self

    def spec(
        self,
        name: str,
        variant: str,
        plan: ExperimentPlan,
        ceiling_rps: float | None,
        changes: dict[str, Any],
    ) -> WindowSpec:
        """A row's window. ceiling_rps: that waiting allows. changes: of the scenario. Raises UsageError where it is too short."""
        options, seconds = self.generator_options, plan.window_s or WINDOW_S
        if self.connections is not None:
            changes = {**changes, "connections": self.connections}
        if self.generator == SILENT:
            times, changes = WindowTimes(IDLE_S, 0, 0), {"idle_connections": self.connections}
        elif self.generator != OHA.name:
            if self.generator == drill.NAME:
                options, seconds = self._by_drill(plan)
            times = WindowTimes(seconds, seconds * TRIM_SHARE, seconds * TRIM_SHARE)
        elif self.connections is not None:
            times = opened_first(seconds, self.connections)
        else:
            times = window_times(plan, ceiling_rps, self.delay_ms)
        return WindowSpec(
            name=name,
            variants=[variant],
            seconds=times.seconds,
            generator=self.generator,
            generator_options=options,
            scenario_changes=changes,
            trim_start_s=round(times.trim_start_s, 4),
            trim_end_s=round(times.trim_end_s, 4),
        )

    def _by_drill(self, plan: ExperimentPlan) -> tuple[dict[str, Any], int]:
        """Drill's options and about how many seconds its requests take; no more of them than the plan has time for, in whole
        hundreds."""
        rps, requests = DRILL_RPS, self.generator_options["requests"]
        if self.generator_options.get("rampup_s"):
            rps = min(rps, DRILL_RAMPED_RPS * (self.connections or 1))
        if (limit_s := plan.limits.get(DRILL_LIMIT)) is not None:
            requests = min(requests, limit_s * rps // 100 * 100)
        return {**self.generator_options, "requests": requests}, max(1, math.ceil(requests / rps))


class WindowTimes(NamedTuple):
    """A window: its length and what of it is not measured, in seconds."""

    seconds: int
    trim_start_s: float
    trim_end_s: float


def _trims_s(seconds: int, short: tuple[float, float]) -> tuple[float, float]:
    """Seconds of a window that no figure is taken from, at its start and its end: a short one has less to lose."""
    chosen = TRIMS_LONG if seconds >= LONG_S else short
    if seconds <= sum(chosen):
        raise UsageError(
            f"window_s = {seconds} is too short: no figure is taken from its first {chosen[0]:g} s and its last {chosen[1]:g} s"
        )
    return chosen


def opened_first(seconds: int, connections: int) -> WindowTimes:
    """A window of so many connections, with the whole seconds in which they are opened before its own."""
    opening, (start, end) = int(connections / 1000 * OPENING_S_PER_THOUSAND), _trims_s(seconds, TRIMS_MANY)
    return WindowTimes(seconds + opening, start + opening, end)


def window_times(plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None) -> WindowTimes:
    """Long enough for `plan.requests` at the ceiling, at least `window_s`, at most `cap_s`; but never shorter
    than a few delays. Where requests wait in waves, the measured part is a whole number of delays long and begins
    and ends half a delay after a wave, so that no wave is cut."""
    seconds = plan.window_s or 1
    if plan.requests and ceiling_rps:
        seconds = max(seconds, math.ceil(plan.requests / ceiling_rps + sum(TRIMS_LONG)))
    if plan.cap_s:
        seconds = min(seconds, plan.cap_s)
    start, end = _trims_s(seconds, TRIMS_SHORT)
    if not delay_ms or delay_ms < WAVES_FROM_MS:
        return WindowTimes(seconds, start, end)
    delay_s = delay_ms / 1e3
    # Not the first wave: the harness's own request, asked before the load, has the place of one answer in it.
    start = (max(1, math.ceil(start / delay_s - 0.5 - 1e-9)) + 0.5) * delay_s
    seconds = max(seconds, math.ceil(start + DELAYS_LEAST * delay_s + end))
    measured = math.floor((seconds - start - end) / delay_s + 1e-9) * delay_s
    return WindowTimes(seconds, start, seconds - start - measured)


# ---- rates that waiting allows ----


def waiting_ceilings(connections: int, delay_ms: int | None, handler_threads: int | None) -> dict[str, float]:
    """Requests per second that cannot be exceeded because each one waits; empty where none does."""
    if not delay_ms:
        return {}
    found = {"connections/delay": connections / delay_ms * 1e3}
    if handler_threads is not None:
        found["threads/delay"] = handler_threads / delay_ms * 1e3
    return found


def patience_s(connections: int, ceiling_rps: float | None) -> int:
    """Seconds that a request may take, twice those that it takes at the ceiling by Little's law: a hundred clients of two threads that
    sleep for a second wait for most of a minute, and are right to."""
    expected_s = connections / ceiling_rps if ceiling_rps else 0.0
    return max(PATIENCE_LEAST_S, math.ceil(PATIENCE_FACTOR * expected_s))


def trips_ceiling(round_trips: int | None, usable: int | None, rtt_ms: float) -> dict[str, float]:
    """The rate that cannot be exceeded where each request makes round trips on a database connection of its own. usable: database
    connections that can be in use at once; rtt_ms: the round trip before the load: under load it contains the queues of
    database and CPU, which a ceiling must not."""
    if round_trips is None or usable is None or rtt_ms <= 0:
        return {}
    return {"connections/(round trips × RTT)": usable / (round_trips * rtt_ms) * 1e3}


def trips_implied(usable: int | None, rtt_ms: float, rate_rps: float) -> float | None:
    """The round trips per request that a rate leaves time for: all time on the connections, in round trips."""
    return None if usable is None or rtt_ms <= 0 or rate_rps <= 0 else usable / (rate_rps * rtt_ms) * 1e3

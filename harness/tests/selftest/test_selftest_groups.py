"""The checks on a stage without containers: their names, and how exact each has to be. The sampler's need real counters."""

from contextlib import nullcontext
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness_engine import Quiet
from harness_samples import good_window, make_rows, tap

from tandem.load.generator import Report
from tandem.record.trial import Start
from tandem.selftest import (
    attribution,
    carry_over,
    comparing,
    gap,
    liars,
    overhead,
    queueing,
    timing,
    visits,
)
from tandem.selftest.stage import SeenFromBothEnds, Served, Stage

EXACT = "0.3 ms or 1 %; p99 0.3 ms or 1 %"
COST = "1% of the cost"
TOLERANCES = {
    "a rate that drifts": "none",
    "an application that is deaf to SIGTERM": "none",
    "a log that cannot be written": "none",
    "constant 10 ms": EXACT,
    "2 ms, and 100 ms for a tenth": EXACT,
    "lognormal, median 10 ms": EXACT,
    "server stalls for 2 s": "5 %, 3 %, 2 %",
    "generator stopped for 1 s": "5 %",
    "the last 2 s hang": "15 %",
    **dict.fromkeys(("fast 500", "refused", "reset after the head", "short body", "redirect"), "none"),
    **dict.fromkeys(("close after each", "hang", "cached 200 without SQL"), "none"),
    "three answers in a thousand altered, same length": "none",
    "filler of the right length for the generator": "none",
    **dict.fromkeys(("added latency", "CPU of the application", "generator on one thread"), "none"),
    **dict.fromkeys(("one thread of the application", "two handler threads"), "none"),
    **dict.fromkeys(("database busy with others", "PgBouncer with one connection"), "none"),
    **dict.fromkeys(("HAProxy lets one request through", "a locked table"), "none"),
    "the application's pool with one connection": "none",
    # weekly
    "a gap made on purpose": "3%",
    "an unlike pair in slices, in windows and in separate starts": "2%",
    "what the probes cost": "1%, by two one-sided t tests",
    **{f"slowdown of {share}": f"{COST}, found in 80 %" for share in ("3%", "5%", "10%")},
    **{f"slowdown of {share} in slices": COST for share in ("3%", "5%", "10%")},
    "confusion matrix, 1 of each": "at least 95%",
    "queue at 50% load": "0.3 ms or 1 %; 0.24 (three standard errors of 1,000 requests)",
    "queue at 70% load": "0.3 ms or 1 %; 0.57 (three standard errors of 1,400 requests)",
    "2 A/A sessions of 6 pairs": "0 to 0",
}


class Silent:
    """A running application whose windows are all alike, and what the checks call of it."""

    def __init__(self) -> None:
        self.view, self.label, self.labels = Quiet(), "a", ["a", "b"]
        self.trial = SimpleNamespace(starts={"a": Start(warm_up_s=3.0)}, all_findings=list)
        self.stack = SimpleNamespace(execute=lambda *_: "", service=lambda _: SimpleNamespace(pid=7))

    def codes(self) -> set[str]:
        return set()

    def window(self, load: Any, seconds: int = 0, *_: object, rate_rps: int = 500, **__: object) -> Any:
        if not isinstance(load, str):  # slices of several
            return dict.fromkeys(self.labels, good_window())
        due = np.arange(rate_rps * seconds) / rate_rps
        rows = make_rows(start_s=due, end_s=due + 0.01, paced_s=due)
        how = {"offered_rps": rate_rps, "duration_s": float(seconds)} if load == "open" else {}
        window = good_window("open" if how else "closed", tap=tap(4_000), evidence=["nothing"], **how)
        return SeenFromBothEnds(
            window, rows, Report(statusCodeDistribution={}), Served(due, due, due + 0.004)
        )

    steady_window = window

    def alone(self, *_: object) -> Any:
        return good_window()


class SilentStage:
    """A stage that starts nothing."""

    view = Quiet()
    stack = SimpleNamespace(container=lambda _: None)

    def running(self, *_: object, **__: object) -> nullcontext[Silent]:
        return nullcontext(Silent())

    def side_by_side(self, _: int) -> nullcontext[Silent]:
        return nullcontext(Silent())


class NoStopper:
    """In place of the thread that stops a generator."""

    stopped_s = 1.0

    def __init__(self, *_: object) -> None: ...
    def start(self) -> None: ...
    def join(self) -> None: ...


def test_each_check_has_its_name_and_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "Stopper", NoStopper)
    rates = cycle((100.0, 101.0, 99.0, 100.5))
    monkeypatch.setattr(overhead, "rate", lambda *_: (next(rates), 0.0))
    monkeypatch.setattr(visits, "_kept", lambda *_, **__: None)
    stage: Stage = SilentStage()  # type: ignore[assignment]
    found = [
        *(one for group in (visits, timing, liars, attribution, gap, carry_over) for one in group.run(stage)),
        *overhead.run(stage, 3),
        *comparing.power(stage, 1),
        *comparing.in_slices(stage, 1),
        *attribution.confusion(stage, 1),
        *queueing.run(stage, 1_000),
        *comparing.same_with_itself(stage, 2),
    ]
    assert {one.name: one.tolerance for one in found} == TOLERANCES
    assert len(found) == len(TOLERANCES)
    assert all(one.negative_control for one in found)
    # Windows that are all alike show nothing, but that the rows agree with the server's log.
    assert [one.name for one in found if one.passed and one.negative_control_failed] == [
        *timing.DISTRIBUTIONS
    ]

"""One fresh start of one implementation: the order of its phases, and nothing about how they are done."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, Protocol

from tandem.catalog.catalog import Plan
from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.judge.steady import steady
from tandem.record.run import Finding, Phase, Trial, Verdict, Window


class Lab(Protocol):
    """What a visit needs done. The real one is tandem.lab.lab.BenchLab; tests give a fake."""

    def start(self) -> None:
        """Database back to the seeded state, a fresh container of the application."""

    def wait_ready(self) -> None:
        """Returns when the application answers through the whole path; raises TandemError if it never does."""

    def verify(self) -> list[Finding]:
        """Asks for answers and compares them with the golden bodies."""

    def warm_up(self, duration_s: int) -> list[int]:
        """Runs the closed load for so long; returns the answers of each second, late ones behind them."""

    def measure(self, load: Literal["closed", "open"], duration_s: int, rate_rps: int | None) -> Window:
        """Runs one window and judges it."""

    def drain(self) -> None:
        """Lets what is in flight end."""

    def collect(self) -> None:
        """Brings the raw files home."""

    def stop(self) -> list[Finding]:
        """Ends the application the way production does, and removes it."""


class View(Protocol):
    """Who is told how far it has come."""

    def phase(self, name: str, expected_s: float | None) -> None: ...


class Visit:
    """Runs the phases in order and times them. `collect` and `stop` run whatever happens."""

    def __init__(
        self, lab: Lab, plan: Plan, workers: int, view: View, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lab, self._plan, self._workers, self._view, self._clock = lab, plan, workers, view, clock
        self._phases: list[Phase] = []

    def run(self, index: int, retry_of: int | None = None) -> Trial:
        """Makes a trial. The open loop's rate is the plan's share of what this trial's own closed window reached: on a
        host that changes from start to start, one rate for all would be another load for each.

        A TandemError or OSError (a full disk) of a phase makes the trial `failed`, with the error as its finding; anything else
        (an interrupt, a defect) goes on upwards after the container is removed.
        """
        trial = Trial(
            index=index, retry_of=retry_of, started_at=datetime.now(UTC), verdict=Verdict.FAILED, findings=[]
        )
        began = self._clock()

        def attempt(work: Callable[[], None]) -> bool:
            try:
                work()
            except (TandemError, OSError) as error:
                trial.findings.append(Finding(code="failed", severity="invalid", text=str(error)))
                return False
            return True

        outcomes: list[bool] = []
        try:
            outcomes.append(attempt(lambda: self._measure(trial)))
        finally:
            try:
                outcomes.append(attempt(lambda: self._timed("collect", None, self._lab.collect)))
            finally:
                outcomes.append(attempt(lambda: self._stop(trial)))
        if all(outcomes):
            windows = [window for window in (trial.closed, trial.open) if window]
            trial.verdict = verdict([*trial.findings, *(f for window in windows for f in window.findings)])
        trial.phases = self._phases
        loaded = sum(
            phase.duration_s for phase in self._phases if phase.name in ("warm up", "closed", "open")
        )
        trial.overhead_s = self._clock() - began - loaded
        return trial

    def _measure(self, trial: Trial) -> None:
        plan = self._plan
        self._timed("start", None, self._lab.start)
        self._timed("ready", None, self._lab.wait_ready)
        trial.findings += self._timed("verify", None, self._lab.verify)
        self._timed("warm up", plan.warm_up_s, lambda: self._warm_up(trial))
        trial.closed = self._timed(
            "closed", plan.closed_s, lambda: self._lab.measure("closed", plan.closed_s, None)
        )
        rate = int(trial.closed.goodput_rps * plan.open_load_fraction)
        if rate < 1:
            trial.findings.append(
                Finding(
                    code="no-goodput", severity="invalid", text="too few right answers to derive a rate from"
                )
            )
            return
        trial.open = self._timed("open", plan.open_s, lambda: self._lab.measure("open", plan.open_s, rate))
        self._timed("drain", None, self._lab.drain)

    def _stop(self, trial: Trial) -> None:
        trial.findings += self._timed("stop", None, self._lab.stop)

    def _warm_up(self, trial: Trial) -> None:
        """Loads until the time and the number of requests are reached and the rate is steady, or the cap is reached."""
        plan, spent, answered = self._plan, 0, 0
        needed = plan.warm_up_requests_per_worker * self._workers
        seconds: list[int] = []
        step = plan.warm_up_s
        while True:
            part = self._lab.warm_up(step)
            answered += sum(part)
            spent += step
            seconds += part[1:step]  # the first second opens the connections
            trial.warm_up_s, trial.warm_up_requests = spent, answered
            settled = self._settled(seconds)
            if answered == 0 or spent >= plan.warm_up_cap_s or (answered >= needed and settled == "steady"):
                break
            missing = round(spent * (needed - answered) / answered)
            if settled != "steady":
                missing = max(missing, plan.steady_buckets - len(seconds) + 1, plan.steady_buckets // 3)
            step = min(plan.warm_up_cap_s - spent, max(2, missing))
        if answered and settled != "steady":
            text = f"after {spent} s of warm-up the rate was not steady: {settled}"
            trial.findings.append(Finding(code="no-steady-state", severity="warning", text=text))

    def _settled(self, seconds: list[int]) -> str:
        wanted = self._plan.steady_buckets
        return steady(seconds[-wanted:], least=wanted).reason if wanted else "steady"

    def _timed[T](self, name: str, expected_s: float | None, work: Callable[[], T]) -> T:
        self._view.phase(name, expected_s)
        began = self._clock()
        try:
            return work()
        finally:
            self._phases.append(Phase(name=name, duration_s=self._clock() - began))

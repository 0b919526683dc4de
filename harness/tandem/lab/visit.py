"""One visit: fresh starts of the variants of a trial, and its windows. The order of its phases, and nothing about how
they are done.

start, ready, verify, idle (where slices follow), warm up (for each variant), windows, challenge, drain, collect, stop.
`collect` and `stop` run whatever happened. Every command and the self-test run this.
"""

import random
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Protocol

from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.judge.steady import steady
from tandem.judge.windows import since_closed
from tandem.record.trial import Challenge, Phase, Start, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict

type Windows = Generator[WindowSpec, WindowRecord]
"""Yields window specs, receives each window as it was made."""

LOADS = ("warm up", "windows", "rest")
"""The phases that the spec asks for by the second; what is left of a visit is its overhead."""


class Floor(Protocol):
    """The work that a visit needs done. The real one is tandem.lab.floor; tests give a fake."""

    def reset(self) -> None:
        """Nothing runs, the database is back in the seeded state and as far away as was asked for."""

    def workers(self, label: str) -> int:
        """The number of the variant's workers; its warm-up is that many times as many requests."""

    def launch(self, label: str) -> None:
        """A fresh container."""

    def wait_ready(self, label: str) -> None:
        """Returns when it answers through the whole path; raises TandemError if it never does."""

    def verify(self, label: str) -> list[Finding]:
        """Asks for answers and compares them with the golden bodies, and their statements with the contract's."""

    def idle(self, label: str) -> float | None:
        """Rests for about a second; returns the cores that it uses meanwhile. None: not known."""

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        """Runs the closed load for so long; returns the answers of each second, late ones behind them."""

    def rest(self, labels: Sequence[str]) -> None:
        """Freezes these, where several are up."""

    def wake(self, labels: Sequence[str]) -> None:
        """Thaws these."""

    def measure(self, spec: WindowSpec) -> WindowRecord:
        """Runs one window and judges it. Raises TandemError if it breaks."""

    def challenge(self, label: str) -> tuple[Challenge | None, list[Finding]]:
        """Locks and changes what it is asked for, and looks whether its answers show that. The data stay changed."""

    def drain(self) -> None:
        """Lets what is in flight end."""

    def collect(self, label: str) -> None:
        """Brings the raw files home."""

    def stop(self, label: str) -> list[Finding]:
        """Ends it the way production does, and removes it."""


class NoGoodputError(TandemError):
    """No goodput that a rate could be a share of. label: of the variant without any."""

    def __init__(self, label: str) -> None:
        super().__init__("too few right answers to derive a rate from")
        self.label = label


class PhaseView(Protocol):
    """Who is told how far it has come."""

    def phase(self, name: str, expected_s: float | None) -> None: ...
    def note(self, text: str) -> None: ...


class Visit:
    """Runs the phases of one trial spec in order and times them. To be used once."""

    def __init__(
        self,
        floor: Floor,
        spec: TrialSpec,
        view: PhaseView,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._floor, self._spec, self._view, self._clock, self._sleep = floor, spec, view, clock, sleep
        self.trial = Trial(spec=spec, started_at=datetime.now(UTC), verdict=Verdict.FAILED)

    def run(self, script: Windows) -> Trial:
        """Makes the trial. script: its windows.

        A TandemError or OSError (a full disk) of a phase makes the trial `failed`, with the error as its finding;
        anything else (an interrupt, a defect) goes on upwards after the containers are removed.
        """
        with self.warm() as running:
            if running:
                self._follow(script, running)
        return self.trial

    def _follow(self, script: Windows, running: Sequence[str]) -> None:
        try:
            spec = next(script)
            while True:
                if spec.after_s:
                    self._timed("rest", None, self._sleep, spec.after_s)
                spec = script.send(self.measure(spec, running))
        except StopIteration:
            return

    @contextmanager
    def warm(self) -> Iterator[list[str]]:
        """Everything before the first window and after the last. Yields the variants that can be loaded, if any.

        Errors become findings of the trial, as for `run`.
        """
        began, running = self._clock(), list[str]()
        try:
            try:
                self._begin()
                running = [label for label, start in self.trial.starts.items() if start.refused is None]
            except (TandemError, OSError) as error:
                self._failed(error)
            yield running
            if running:
                if self._spec.verify:
                    self._challenge(random.choice(running))
                self._timed("drain", None, self._floor.drain)
        except (TandemError, OSError) as error:
            self._failed(error)
        finally:
            self._end()
        self._conclude(self._clock() - began)

    # ---- before the windows ----

    def _begin(self) -> None:
        spec = self._spec
        # A study may decide from window to window whether its variants take turns in slices.
        sliced = not spec.windows or any(window.slices is not None for window in spec.windows)
        self._timed("start", None, self._floor.reset)
        for label in spec.variants:
            start = self.trial.starts[label] = Start()
            try:
                self._timed("start", None, self._floor.launch, label)
                self._timed("ready", None, self._floor.wait_ready, label)
                if spec.verify:
                    start.findings += self._timed("verify", None, self._floor.verify, label)
                grave = [finding.text for finding in start.findings if finding.severity == "invalid"]
                if grave:
                    start.refused = grave[0]
                else:
                    if sliced and len(spec.variants) > 1:
                        start.idle_cpu_cores = self._timed("idle", None, self._floor.idle, label)
                    self._warm_up(label, start)
            except (TandemError, OSError) as error:
                start.refused = str(error)
                start.findings.append(Finding.of("failed", "invalid", str(error)))
                if len(spec.variants) > 1:
                    self._view.note(f"  {label}: {error}")
            self._rest([label])  # who was refused as well: it must not disturb the others

    def _warm_up(self, label: str, start: Start) -> None:
        """Loads until the time and the number of requests are reached and the rate is steady, or the cap is reached."""
        how, spent, answered = self._spec.warm_up, 0, 0
        needed = how.requests_per_worker * self._floor.workers(label)
        seconds: list[int] = []
        step, settled = how.least_s, "steady"
        while step > 0:
            part = self._timed("warm up", step, self._floor.warm_up, label, step)
            answered += sum(part)
            spent += step
            seconds += part[1:step]  # the first second opens the connections
            start.warm_up_s, start.warm_up_requests = spent, answered
            if how.steady_buckets:
                settled = steady(seconds[-how.steady_buckets :], least=how.steady_buckets).reason
            if answered == 0 or spent >= how.cap_s or (answered >= needed and settled == "steady"):
                break
            missing = round(spent * (needed - answered) / answered)
            if settled != "steady":
                missing = max(missing, how.steady_buckets - len(seconds) + 1, how.steady_buckets // 3)
            step = min(how.cap_s - spent, max(2, missing))
        if answered and settled != "steady":
            text = f"after {spent} s of warm-up the rate was not steady: {settled}"
            start.findings.append(Finding.of("no-steady-state", "warning", text))

    # ---- the windows ----

    def measure(self, spec: WindowSpec, running: Sequence[str]) -> WindowRecord:
        """Makes one window of this warm start. One of several variants that breaks is told in its record; where a
        trial has one variant alone, it ends the trial. Raises TandemError."""
        own = spec.model_copy(update={"variants": [label for label in spec.variants if label in running]})
        began = self._clock()
        try:
            own = _with_rates(own, self.trial)
            record = self._timed("windows", spec.seconds, self._loaded, own, shown=_shown(own))
        except NoGoodputError as error:
            finding = Finding.of("no-goodput", "invalid", str(error))
            self.trial.starts[error.label].findings.append(finding)
            record = WindowRecord(spec=own, refused=str(error))
        except TandemError as error:
            if len(self._spec.variants) == 1:
                raise
            record = WindowRecord(spec=own, refused=str(error))
        record.duration_s = self._clock() - began
        self._since_closed(record)
        self.trial.windows.append(record)
        return record

    def _since_closed(self, record: WindowRecord) -> None:
        """Judge an open window of one variant once more by the closed one before it."""
        for label, window in record.windows.items() if len(record.windows) == 1 else ():
            before = [one.windows[label] for one in self.trial.windows if [*one.windows] == [label]]
            closed = [one for one in before if one.load == "closed" and one.verdict is Verdict.OK]
            if closed and window.load == "open":
                window.findings = since_closed(window, closed[-1])
                window.verdict = verdict(window.findings)

    def _loaded(self, spec: WindowSpec) -> WindowRecord:
        if not spec.variants:
            raise TandemError(f"the window {spec.name}: no variant is running that could be loaded")
        self._floor.wake(spec.variants)
        try:
            return self._floor.measure(spec)
        finally:
            self._rest(spec.variants)

    def _rest(self, labels: Sequence[str]) -> None:
        """Freezes these; one that died meanwhile cannot be, and its next window or its end tells that."""
        for label in labels:
            with suppress(TandemError):
                self._floor.rest([label])

    # ---- after the windows ----

    def _challenge(self, label: str) -> None:
        """Challenge one of the variants that are up: the others have theirs in other blocks."""
        start = self.trial.starts[label]
        try:
            start.challenge, found = self._timed("challenge", None, self._floor.challenge, label)
            start.findings += found
        except TandemError:  # one of several that broke is told in its windows
            if len(self._spec.variants) == 1:
                raise

    def _end(self) -> None:
        """Collects from and stops every variant, each whatever happened to the others."""
        interrupted: BaseException | None = None
        for name, work in (("collect", self._floor.collect), ("stop", self._stop)):
            for label in self.trial.starts:
                try:
                    self._timed(name, None, work, label)
                except (TandemError, OSError) as error:
                    self._failed(error)
                except BaseException as error:  # an interrupt: the others still have to go
                    interrupted = interrupted or error
        if interrupted is not None:
            raise interrupted

    def _stop(self, label: str) -> None:
        self.trial.starts[label].findings += self._floor.stop(label)

    def _failed(self, error: Exception) -> None:
        self.trial.findings.append(Finding.of("failed", "invalid", str(error)))

    def _conclude(self, took_s: float) -> None:
        trial = self.trial
        loads_s = sum(phase.duration_s for phase in trial.phases if phase.name in LOADS)
        trial.overhead_s = max(0.0, took_s - loads_s)
        # Of several side by side some may be missing; that is told in their starts.
        none = all(any(found.code == "failed" for found in start.findings) for start in trial.starts.values())
        failed = none or any(found.code == "failed" for found in trial.findings)
        trial.verdict = Verdict.FAILED if failed else verdict(trial.counting_findings())

    def _timed[T, *Of](
        self, name: str, expected_s: float | None, work: Callable[[*Of], T], *of: *Of, shown: str = ""
    ) -> T:
        self._view.phase(shown or name, expected_s)
        began = self._clock()
        try:
            return work(*of)
        finally:
            self.trial.phases.append(Phase(name=name, duration_s=self._clock() - began))


def _shown(spec: WindowSpec) -> str:
    """A window that begins, in words."""
    rates = f", {sum(spec.rates_rps.values()):,}/s" if spec.rates_rps else ""
    return f"{spec.name}: {' + '.join(spec.variants)}{rates}"


def _with_rates(spec: WindowSpec, trial: Trial) -> WindowSpec:
    """The spec with the rates that follow from an earlier window of this trial. On a host that changes from start to
    start, one rate for all would be another load for each. Raises NoGoodputError."""
    if spec.share is None or spec.rates_rps:
        return spec
    rates = {}
    for label in spec.variants:
        before = trial.window(spec.share_of or "", label)
        rate = int(before.goodput_rps * spec.share) if before is not None else 0
        if rate < 1:
            raise NoGoodputError(label)
        rates[label] = rate
    return spec.model_copy(update={"rates_rps": rates})

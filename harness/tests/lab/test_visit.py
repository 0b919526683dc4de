"""tandem.lab.visit: the order of the phases, with a laboratory that only takes notes."""

from collections.abc import Callable
from typing import Literal

import pytest
from harness_samples import finding, good_window

from tandem.catalog.catalog import Plan
from tandem.errors import TandemError
from tandem.lab.visit import Visit
from tandem.old.run import Trial
from tandem.record.window import Finding, Verdict, Window

PLAN = Plan(
    name="test",
    purpose="tests",
    trials=3,
    warm_up_s=10,
    warm_up_requests_per_worker=1000,
    warm_up_cap_s=30,
    closed_s=20,
    open_s=25,
    open_load_fraction=0.6,
)
PHASES = ["start", "ready", "verify", "warm up", "closed", "open", "drain", "collect", "stop"]
LONG = {"start": 1.0, "ready": 2.0, "verify": 0.5, "drain": 0.25, "collect": 0.125, "stop": 1.125}
"""Seconds of the phases that are no load: 5 together."""


class FakeLab:
    """Notes each call, lets the clock run on, and fails in one phase if told to."""

    def __init__(self, answers_per_s: float = 1000, goodput_rps: float = 999.9) -> None:
        self.calls: list[str] = []
        self.now_s = 100.0
        self.failures: dict[str, BaseException] = {}
        self.answers_per_s, self.goodput_rps = answers_per_s, goodput_rps
        self.rates: list[int | None] = []
        self.warm_ups: list[int] = []
        self.verified: list[Finding] = []
        self.stopped: list[Finding] = []
        self.windows: dict[str, list[Finding]] = {"closed": [], "open": []}
        self.plan = PLAN
        self.ramp: Callable[[int], float] = lambda second: 1.0

    def _note(self, name: str, duration_s: float | None = None) -> None:
        self.calls.append(name)
        self.now_s += LONG[name] if duration_s is None else duration_s
        if name in self.failures:
            raise self.failures[name]

    def start(self) -> None:
        self._note("start")

    def wait_ready(self) -> None:
        self._note("ready")

    def verify(self) -> list[Finding]:
        self._note("verify")
        return self.verified

    def warm_up(self, duration_s: int) -> list[int]:
        before = sum(self.warm_ups)
        self.warm_ups.append(duration_s)
        self._note("warm up", duration_s)
        return [int(self.answers_per_s * self.ramp(before + second)) for second in range(duration_s)]

    def measure(self, load: Literal["closed", "open"], duration_s: int, rate_rps: int | None) -> Window:
        self.rates.append(rate_rps)
        self._note(load, duration_s)
        return good_window(
            load, goodput_rps=self.goodput_rps, duration_s=duration_s, findings=self.windows[load]
        )

    def drain(self) -> None:
        self._note("drain")

    def collect(self) -> None:
        self._note("collect")

    def stop(self) -> list[Finding]:
        self._note("stop")
        return self.stopped

    def phase(self, name: str, expected_s: float | None) -> None:
        """The laboratory is the view too."""

    def visit(self, workers: int = 1, retry_of: int | None = None) -> Trial:
        return Visit(self, self.plan, workers, self, clock=lambda: self.now_s).run(4, retry_of)


def test_the_order_of_the_phases() -> None:
    lab = FakeLab()
    trial = lab.visit(retry_of=2)
    assert lab.calls == PHASES
    assert [phase.name for phase in trial.phases] == PHASES
    assert (trial.index, trial.retry_of, trial.verdict, trial.findings) == (4, 2, Verdict.OK, [])
    assert trial.closed is not None
    assert trial.open is not None
    assert (trial.closed.load, trial.closed.duration_s) == ("closed", 20)
    assert (trial.open.load, trial.open.duration_s) == ("open", 25)


@pytest.mark.parametrize(("goodput", "rate"), [(999.9, 599), (1000.0, 600), (3.4, 2)])
def test_the_rate_is_a_share_of_the_goodput(goodput: float, rate: int) -> None:
    lab = FakeLab(goodput_rps=goodput)
    lab.visit()
    assert lab.rates == [None, rate]


def test_without_goodput_there_is_no_open_loop() -> None:
    lab = FakeLab(goodput_rps=1.5)
    trial = lab.visit()
    assert lab.calls == [*PHASES[:5], "collect", "stop"]
    assert [f.code for f in trial.findings] == ["no-goodput"]
    assert trial.verdict is Verdict.INVALID
    assert trial.open is None


@pytest.mark.parametrize("phase", PHASES[:7])
def test_after_a_failure_only_collect_and_stop_run(phase: str) -> None:
    lab = FakeLab()
    lab.failures[phase] = TandemError(f"{phase} went wrong")
    trial = lab.visit()
    reached = PHASES[: PHASES.index(phase) + 1]
    assert lab.calls == [*reached, "collect", "stop"]
    assert [p.name for p in trial.phases] == lab.calls
    assert trial.verdict is Verdict.FAILED
    assert [(f.code, f.severity, f.text) for f in trial.findings] == [
        ("failed", "invalid", f"{phase} went wrong")
    ]
    assert (trial.closed is not None) == (PHASES.index(phase) > PHASES.index("closed"))
    assert (trial.open is not None) == (PHASES.index(phase) > PHASES.index("open"))


def test_a_stop_that_fails_makes_the_trial_fail() -> None:
    lab = FakeLab()
    lab.failures["stop"] = TandemError("stop went wrong")
    trial = lab.visit()
    assert lab.calls == PHASES
    assert trial.verdict is Verdict.FAILED
    assert trial.findings[-1].text == "stop went wrong"


def test_a_collect_that_fails_does_not_keep_the_container() -> None:
    lab = FakeLab()
    lab.failures["collect"] = TandemError("no log")
    trial = lab.visit()
    assert lab.calls == PHASES
    assert (trial.verdict, [f.text for f in trial.findings]) == (Verdict.FAILED, ["no log"])


@pytest.mark.parametrize("phase", PHASES[:7])
def test_the_cause_is_told_before_its_consequences(phase: str) -> None:
    lab = FakeLab()
    for failing, text in ((phase, "the cause"), ("collect", "no log"), ("stop", "the consequence")):
        lab.failures[failing] = TandemError(text)
    trial = lab.visit()
    assert [f.text for f in trial.findings] == ["the cause", "no log", "the consequence"]
    assert trial.verdict is Verdict.FAILED


@pytest.mark.parametrize("phase", PHASES[:7])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_anything_else_goes_upwards_after_the_container_is_gone(
    phase: str, error: type[BaseException]
) -> None:
    lab = FakeLab()
    lab.failures[phase] = error()
    with pytest.raises(error):
        lab.visit()
    assert lab.calls[-2:] == ["collect", "stop"]


@pytest.mark.parametrize("where", ["verified", "stopped", "closed", "open"])
@pytest.mark.parametrize(
    ("severity", "verdict"), [("invalid", Verdict.INVALID), ("void", Verdict.VOID), ("warning", Verdict.OK)]
)
def test_every_finding_counts(
    where: str, severity: Literal["invalid", "void", "warning"], verdict: Verdict
) -> None:
    lab = FakeLab()
    found = [finding(severity)]
    if where in lab.windows:
        lab.windows[where] = found
    else:
        setattr(lab, where, found)
    assert lab.visit().verdict is verdict


# ---- warm-up ----


@pytest.mark.parametrize(
    ("answers_per_s", "workers", "steps"),
    [
        (1000, 1, [10]),  # enough at once
        (100, 1, [10]),  # exactly enough
        (50, 1, [10, 10]),  # half: as long again
        (90, 1, [10, 2]),  # the least step is two seconds
        (10, 1, [10, 20]),  # would need 90 s more: the cap ends it
        (1000, 15, [10, 5]),  # every worker wants its share
        (0, 1, [10]),  # nobody answers: waiting longer does not help
    ],
)
def test_the_warm_up_goes_on_until_time_and_requests_are_reached(
    answers_per_s: float, workers: int, steps: list[int]
) -> None:
    lab = FakeLab(answers_per_s=answers_per_s)
    trial = lab.visit(workers=workers)
    assert lab.warm_ups == steps
    assert trial.warm_up_s == sum(steps)
    assert trial.warm_up_requests == answers_per_s * sum(steps)
    assert sum(steps) <= PLAN.warm_up_cap_s


# ---- time ----


@pytest.mark.parametrize("answers_per_s", [1000, 50])
def test_the_overhead_is_what_is_neither_warm_up_nor_window(answers_per_s: float) -> None:
    trial = FakeLab(answers_per_s=answers_per_s).visit()
    assert trial.overhead_s == pytest.approx(sum(LONG.values()))
    assert {p.name: p.duration_s for p in trial.phases if p.name in LONG} == LONG
    assert [p.duration_s for p in trial.phases if p.name in ("closed", "open")] == [20, 25]


def test_a_failed_trial_has_its_overhead_too() -> None:
    lab = FakeLab()
    lab.failures["ready"] = TandemError("never")
    assert lab.visit().overhead_s == pytest.approx(1 + 2 + 0.125 + 1.125)


STEADY = PLAN.model_copy(update={"steady_buckets": 10, "warm_up_cap_s": 60})


@pytest.mark.parametrize(
    ("ramp", "lasts_s", "codes"),
    [
        (lambda second: 1.0, 12, []),  # steady at once: as soon as ten whole seconds are there
        (lambda second: 1.0 if second > 6 else 0.5, 18, []),
        (lambda second: 1.0 + second / 50, 60, ["no-steady-state"]),  # never: the cap, and it is said
    ],
    ids=["steady", "a late step", "rising"],
)
def test_the_warm_up_goes_on_until_the_rate_is_steady(
    ramp: Callable[[int], float], lasts_s: int, codes: list[str]
) -> None:
    lab = FakeLab()
    lab.ramp, lab.plan = ramp, STEADY
    trial = lab.visit()
    assert [found.code for found in trial.findings] == codes
    assert trial.warm_up_s == pytest.approx(lasts_s, abs=5)


@pytest.mark.parametrize(
    ("warm_up_s", "buckets", "cap_s"),
    [(10, 30, 60), (10, 10, 30), (20, 30, 120), (3, 0, 3), (10, 8, 30), (10, 30, 20), (3, 30, 60)],
)
def test_how_long_a_steady_warm_up_lasts_is_known_before(warm_up_s: int, buckets: int, cap_s: int) -> None:
    lab = FakeLab()
    update = {"warm_up_s": warm_up_s, "steady_buckets": buckets, "warm_up_cap_s": cap_s}
    lab.plan = PLAN.model_copy(update={**update, "warm_up_requests_per_worker": 0})
    assert lab.visit().warm_up_s == lab.plan.steady_after_s

"""tandem.lab.visit: the order of the phases, with a floor that only takes notes."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from harness_engine import LONG, WARM_UP, FakeFloor, trial_spec, window_spec
from harness_samples import finding, there

from tandem.engine.estimate import steady_after_s
from tandem.errors import TandemError
from tandem.record.trial import Slicing, Trial, TrialSpec, WarmUp
from tandem.record.window import Verdict

BEFORE = ["reset", "launch one", "ready one", "verify one", "warm up one"]
CALLS = [*BEFORE, "measure closed", "measure open", "challenge one", "drain", "collect one", "stop one"]
ENDS = CALLS[-4:]
PHASES = ["start", "start", "ready", "verify", "warm up", "windows", "windows", *(call.split()[0] for call in ENDS)]  # fmt: skip
ONE = trial_spec()
TWO = trial_spec("1-pair", "one", "two")
ALL_AT_ONCE = trial_spec("1-pair", "one", "two", windows=[window_spec("both", "one", "two")])
IN_SLICES = window_spec("slices", "one", "two", slices=Slicing(slice_s=1.0, seed=1))


def failing(*calls: str, **changes: Any) -> FakeFloor:
    """A floor on which these calls fail, each with its name."""
    return FakeFloor(failures={call: TandemError(f"{call} failed") for call in calls}, **changes)


def refused(trial: Trial) -> list[str | None]:
    return [record.refused for record in trial.windows]


def test_the_order_of_the_phases() -> None:
    floor = FakeFloor()
    trial = floor.visit(ONE)
    assert floor.calls == CALLS
    assert [phase.name for phase in trial.phases] == PHASES
    assert (trial.spec, trial.verdict, list(trial.all_findings())) == (ONE, Verdict.OK, [])
    made = [there(trial.window(name)) for name in ("closed", "open")]
    assert [(window.load, window.duration_s) for window in made] == [("closed", 20), ("open", 25)]
    assert [record.duration_s for record in trial.windows] == [20, 25]


def test_several_are_all_warm_before_the_first_window_and_ended_after_the_last() -> None:
    floor = FakeFloor()
    trial = floor.visit(TWO)
    other = [call.replace("one", "two") for call in BEFORE[1:]]
    windows = [f"measure {load}-{label}" for label in ("one", "two") for load in ("closed", "open")]
    drawn = next(call for call in floor.calls if call.startswith("challenge"))
    assert drawn in ("challenge one", "challenge two")
    ends = ["drain", "collect one", "collect two", "stop one", "stop two"]
    assert floor.calls == [*BEFORE, *other, *windows, drawn, *ends]
    assert trial.verdict is Verdict.OK
    assert [record.spec.variants for record in trial.windows] == [["one"], ["one"], ["two"], ["two"]]
    assert {label: start.warm_up_s for label, start in trial.starts.items()} == {"one": 10, "two": 10}


@pytest.mark.parametrize(("spec", "windows"), [(TWO, 4), (ALL_AT_ONCE, 1)], ids=["in turn", "at once"])
def test_who_is_not_loaded_is_frozen(spec: TrialSpec, windows: int) -> None:
    class Watching(FakeFloor):
        def measure(self, spec):  # type: ignore[no-untyped-def]
            assert self.frozen == {"one", "two"} - set(spec.variants)
            return super().measure(spec)

    floor = Watching()
    assert floor.visit(spec).verdict is Verdict.OK
    assert len(floor.asked) == windows


@pytest.mark.parametrize(
    ("spec", "looked_at"),
    [
        (trial_spec("1-pair", "one", "two", windows=[IN_SLICES]), ["one", "two"]),
        (trial_spec("1-pair", "one", "two", windows=[]), ["one", "two"]),
        (TWO, []),
        (trial_spec(windows=[]), []),
    ],
    ids=["in slices", "decided later", "in turn", "one alone"],
)
def test_where_slices_follow_an_idle_moment_is_measured_before_any_load(
    spec: TrialSpec, looked_at: list[str]
) -> None:
    floor = FakeFloor()
    trial = floor.visit(spec)
    assert [call.removeprefix("idle ") for call in floor.calls if call.startswith("idle")] == looked_at
    for label, start in trial.starts.items():
        assert start.idle_cpu_cores == (floor.idle_cores if label in looked_at else None)
    for label in looked_at:
        after = floor.calls.index(f"idle {label}")
        assert floor.calls[after - 1 : after + 2] == [f"verify {label}", f"idle {label}", f"warm up {label}"]


def test_a_visit_without_windows_is_a_warm_start_and_its_end() -> None:
    floor = FakeFloor()
    assert floor.visit(trial_spec(windows=[])).verdict is Verdict.OK
    assert floor.calls == [*BEFORE, *ENDS]


def test_a_trial_that_is_not_verified_meets_the_checks_of_its_windows_only() -> None:
    floor = FakeFloor(verified=[finding("invalid")])
    assert floor.visit(trial_spec(verify=False)).verdict is Verdict.OK
    assert not {"verify one", "challenge one"} & set(floor.calls)


def test_a_lie_that_shows_after_the_windows_makes_the_trial_invalid() -> None:
    assert FakeFloor(challenged=[finding("invalid")]).visit(ONE).verdict is Verdict.INVALID
    assert failing("challenge").visit(TWO).verdict is Verdict.OK, "one of several cannot be challenged"


# ---- rates ----

BOTH = [window_spec("closed", "one", "two"), window_spec("open", "one", "two", share=0.5)]


@pytest.mark.parametrize(
    ("spec", "goodput", "rates"),
    [
        (ONE, 999.9, [{}, {"one": 599}]),
        (ONE, 1000.0, [{}, {"one": 600}]),
        (ONE, 3.4, [{}, {"one": 2}]),
        (trial_spec("1-pair", "one", "two", windows=BOTH), 999.9, [{}, {"one": 499, "two": 499}]),
        (trial_spec(windows=[window_spec("open", rates_rps={"one": 7})]), 999.9, [{"one": 7}]),
    ],
)
def test_the_rate_is_given_or_a_share_of_the_own_goodput(
    spec: TrialSpec, goodput: float, rates: list[dict[str, int]]
) -> None:
    floor = FakeFloor(goodput_rps=goodput)
    floor.visit(spec)
    assert [one.rates_rps for one in floor.asked] == rates


def test_without_goodput_there_is_no_open_loop() -> None:
    floor = FakeFloor(goodput_rps=1.5)
    trial = floor.visit(ONE)
    assert floor.calls == [*BEFORE, "measure closed", *ENDS]
    assert [f.code for f in trial.all_findings()] == ["no-goodput"]
    assert (trial.verdict, trial.window("open")) == (Verdict.INVALID, None)
    why = "too few right answers to derive a rate from"
    assert refused(FakeFloor(goodput_rps=1.5).visit(TWO)) == [None, why, None, why]


# ---- what goes wrong ----

WORK = CALLS[:9]


@pytest.mark.parametrize("call", WORK)
def test_after_a_failure_only_collect_and_stop_run(call: str) -> None:
    """And the cause is told before its consequences."""
    ends = [] if call == "reset" else ["collect one", "stop one"]  # nothing was begun that could be ended
    for more in ([], ["collect", "stop"]):
        floor = failing(call, *more)
        trial = floor.visit(ONE)
        assert floor.calls == [*CALLS[: CALLS.index(call) + 1], *ends]
        found = [(f.code, f.severity, f.text) for f in trial.all_findings()]
        assert found == [("failed", "invalid", f"{one} failed") for one in [call, *more[: len(ends)]]]
        assert trial.verdict is Verdict.FAILED
        made = [name for name in ("closed", "open") if trial.window(name) is not None]
        assert made == [
            name for name in ("closed", "open") if CALLS.index(call) > CALLS.index(f"measure {name}")
        ]


@pytest.mark.parametrize("spec", [ONE, TWO], ids=["one", "two"])
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("collect", OSError(28, "No space left")),
        ("collect", TandemError("no log")),
        ("stop", TandemError("no")),
    ],
)
def test_an_end_that_fails_does_not_keep_the_containers(
    spec: TrialSpec, call: str, error: BaseException
) -> None:
    floor = FakeFloor(failures={call: error})
    trial = floor.visit(spec)
    stopped = [one for one in floor.calls if one.startswith("stop")]
    assert stopped == [f"stop {label}" for label in spec.variants]
    assert (trial.verdict, {f.text for f in trial.findings}) == (Verdict.FAILED, {str(error)})


@pytest.mark.parametrize("call", [*WORK, "collect one"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_anything_else_goes_upwards_after_the_container_is_gone(
    call: str, error: type[BaseException]
) -> None:
    floor = FakeFloor(failures={call: error()})
    with pytest.raises(error):
        floor.visit(ONE)
    assert floor.calls[-1] == ("reset" if call == "reset" else "stop one")


def test_an_interrupt_in_the_end_of_one_still_ends_the_others() -> None:
    floor = FakeFloor(failures={"stop one": KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        floor.visit(TWO)
    assert floor.calls[-2:] == ["stop one", "stop two"]


@pytest.mark.parametrize("where", ["verified", "stopped", "closed", "open"])
@pytest.mark.parametrize(
    ("severity", "verdict"), [("invalid", Verdict.INVALID), ("void", Verdict.VOID), ("warning", Verdict.OK)]
)
def test_every_finding_counts(
    where: str, severity: Literal["invalid", "void", "warning"], verdict: Verdict
) -> None:
    found = [finding(severity)]
    told: dict[str, Any] = {where: found}
    floor = FakeFloor(judged=told) if where in ("closed", "open") else FakeFloor(**told)
    trial = floor.visit(ONE)
    assert (trial.verdict, list(trial.all_findings())) == (verdict, found)


def test_wrong_answers_before_the_load_end_the_visit_of_who_gives_them() -> None:
    floor = FakeFloor(verified=[finding("invalid", text="wrong")])
    trial = floor.visit(ONE)
    assert floor.calls == [*BEFORE[:-1], "collect one", "stop one"]
    assert trial.starts["one"].refused == "wrong"


# ---- several side by side ----


@pytest.mark.parametrize("call", ["launch one", "ready one", "verify one", "warm up one"])
def test_one_that_does_not_start_does_not_end_the_others(call: str) -> None:
    floor = failing(call)
    trial = floor.visit(TWO)
    assert [trial.starts[label].refused for label in ("one", "two")] == [f"{call} failed", None]
    assert trial.window("closed-two", "two") is not None
    assert [why is None for why in refused(trial)] == [False, False, True, True]
    assert trial.verdict is Verdict.INVALID, "something of it is wrong, and something was measured"
    assert floor.calls[-4:] == ["collect one", "collect two", "stop one", "stop two"]
    assert "one" in floor.frozen, "who takes no part does not disturb those who do"


def test_a_window_of_all_is_made_by_those_who_are_there() -> None:
    trial = failing("ready two").visit(ALL_AT_ONCE)
    assert [record.spec.variants for record in trial.windows] == [["one"]]
    none = failing("ready").visit(TWO)
    assert (none.verdict, none.windows) == (Verdict.FAILED, [])


def test_a_window_that_breaks_is_told_in_its_record_and_the_others_go_on() -> None:
    floor = failing("measure open-one", "measure open-two")
    trial = floor.visit(TWO)
    assert refused(trial) == [None, "measure open-one failed", None, "measure open-two failed"]
    assert trial.window("closed-two", "two") is not None
    assert "drain" in floor.calls


def test_an_application_that_cannot_be_frozen_is_no_end_of_the_visit() -> None:
    """It died during its window: that is told, and the others go on."""

    class Dying(FakeFloor):
        def rest(self, labels):  # type: ignore[no-untyped-def]
            if "measure closed-one" in self.calls and "one" in labels:
                raise TandemError("there is no such container")
            super().rest(labels)

    floor = Dying()
    trial = floor.visit(TWO)
    assert trial.window("closed-two", "two") is not None
    assert trial.window("closed-one", "one") is not None, "what was measured is kept"
    assert floor.calls[-2:] == ["stop one", "stop two"]


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
    floor = FakeFloor(answers_per_s=answers_per_s, worker_count=workers)
    trial = floor.visit(ONE)
    start = trial.starts["one"]
    assert floor.warm_ups == steps
    assert (start.warm_up_s, start.warm_up_requests) == (sum(steps), answers_per_s * sum(steps))
    assert sum(steps) <= WARM_UP.cap_s
    assert trial.overhead_s == pytest.approx(sum(LONG.values())), "what is neither warm-up nor window"


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
    warm_up = WARM_UP.model_copy(update={"steady_buckets": 10, "cap_s": 60})
    trial = FakeFloor(ramp=ramp).visit(trial_spec(warm_up=warm_up))
    assert ([found.code for found in trial.all_findings()], trial.verdict) == (codes, Verdict.OK)
    assert trial.starts["one"].warm_up_s == pytest.approx(lasts_s, abs=5)


@pytest.mark.parametrize(
    ("least_s", "buckets", "cap_s"),
    [(10, 30, 60), (10, 10, 30), (20, 30, 120), (3, 0, 3), (10, 8, 30), (10, 30, 20), (3, 30, 60)],
)
def test_how_long_a_steady_warm_up_lasts_is_known_before(least_s: int, buckets: int, cap_s: int) -> None:
    spec = trial_spec(warm_up=WarmUp(least_s=least_s, steady_buckets=buckets, cap_s=cap_s))
    assert FakeFloor().visit(spec).starts["one"].warm_up_s == steady_after_s(spec)


# ---- time ----


def test_each_phase_has_what_it_took() -> None:
    trial = FakeFloor().visit(ONE)
    took = {p.name: p.duration_s for p in trial.phases}
    known = LONG.keys() & took.keys()
    assert {name: took[name] for name in known} == {name: LONG[name] for name in known}
    assert [p.duration_s for p in trial.phases if p.name == "windows"] == [20, 25]


def test_a_failed_trial_has_its_overhead_too() -> None:
    """Of a window that broke only the seconds that were spent can be its load."""
    assert failing("ready one").visit(ONE).overhead_s == pytest.approx(1 + 2 + 0.125 + 1.125)
    broke = failing("measure closed").visit(ONE)
    assert broke.overhead_s == pytest.approx(sum(LONG.values()) - LONG["drain"])

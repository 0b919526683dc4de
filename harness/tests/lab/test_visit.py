"""tandem.lab.visit: the order of the phases, with a floor that only takes notes."""

from collections.abc import Callable
from typing import Literal

import pytest
from harness_engine import LONG, WARM_UP, FakeFloor, trial_spec, window_spec
from harness_samples import finding

from tandem.engine.estimate import steady_after_s
from tandem.engine.study import Windows
from tandem.errors import TandemError
from tandem.record.trial import Slicing, TrialSpec, WarmUp
from tandem.record.window import Verdict

BEFORE = ["reset", "launch one", "ready one", "verify one", "warm up one"]
CALLS = [*BEFORE, "measure closed", "measure open", "challenge one", "drain", "collect one", "stop one"]
PHASES = [
    "start",
    "start",
    "ready",
    "verify",
    "warm up",
    "windows",
    "windows",
    "challenge",
    "drain",
    "collect",
    "stop",
]
ONE = trial_spec()
TWO = trial_spec("1-pair", "one", "two")
ALL_AT_ONCE = trial_spec("1-pair", "one", "two", windows=[window_spec("both", "one", "two")])


def test_the_order_of_the_phases() -> None:
    floor = FakeFloor()
    trial = floor.visit(ONE)
    assert floor.calls == CALLS
    assert [phase.name for phase in trial.phases] == PHASES
    assert (trial.spec, trial.verdict, list(trial.all_findings())) == (ONE, Verdict.OK, [])
    closed, opened = trial.window("closed"), trial.window("open")
    assert closed is not None
    assert opened is not None
    assert (closed.load, closed.duration_s) == ("closed", 20)
    assert (opened.load, opened.duration_s) == ("open", 25)
    assert [record.duration_s for record in trial.windows] == [20, 25]


def test_several_are_all_warm_before_the_first_window_and_ended_after_the_last() -> None:
    floor = FakeFloor()
    trial = floor.visit(TWO)
    other = [call.replace("one", "two") for call in BEFORE[1:]]
    windows = [f"measure {load}-{label}" for label in ("one", "two") for load in ("closed", "open")]
    ends = ["drain", "collect one", "collect two", "stop one", "stop two"]
    drawn = next(call for call in floor.calls if call.startswith("challenge"))
    assert drawn in ("challenge one", "challenge two")
    assert floor.calls == [*BEFORE, *other, *windows, drawn, *ends]
    assert trial.verdict is Verdict.OK
    assert [record.spec.variants for record in trial.windows] == [["one"], ["one"], ["two"], ["two"]]
    assert {label: start.warm_up_s for label, start in trial.starts.items()} == {"one": 10, "two": 10}


def test_who_is_not_loaded_is_frozen() -> None:
    class Watching(FakeFloor):
        def measure(self, spec):  # type: ignore[no-untyped-def]
            assert self.frozen == {"one", "two"} - set(spec.variants)
            return super().measure(spec)

    floor = Watching()
    trial = floor.visit(TWO)
    assert trial.verdict is Verdict.OK
    assert Watching().visit(ALL_AT_ONCE).verdict is Verdict.OK
    assert len(floor.asked) == 4


IN_SLICES = window_spec("slices", "one", "two", slices=Slicing(slice_s=1.0, seed=1))


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
    for label in spec.variants:
        measured = trial.starts[label].idle_cpu_cores
        assert measured == (floor.idle_cores if label in looked_at else None)
    for label in looked_at:
        after = floor.calls.index(f"idle {label}")
        assert floor.calls[after - 1 : after + 2] == [f"verify {label}", f"idle {label}", f"warm up {label}"]


def test_a_study_decides_from_window_to_window() -> None:
    seen = []

    def script() -> Windows:
        rate = 100
        while rate < 800:
            record = yield window_spec(f"at-{rate}", load="open", rates_rps={"one": rate})
            seen.append((record.spec.rates_rps["one"], record.only.goodput_rps))
            rate *= 2

    floor = FakeFloor()
    trial = floor.visit(ONE, script())
    assert seen == [(100, 999.9), (200, 999.9), (400, 999.9)]
    assert [record.spec.name for record in trial.windows] == ["at-100", "at-200", "at-400"]
    assert floor.calls[-4:] == CALLS[-4:]


def test_a_visit_without_windows_is_a_warm_start_and_its_end() -> None:
    floor = FakeFloor()
    assert floor.visit(trial_spec(windows=[])).verdict is Verdict.OK
    assert floor.calls == [*BEFORE, *CALLS[-4:]]


def test_a_trial_that_is_not_verified_meets_the_checks_of_its_windows_only() -> None:
    floor = FakeFloor(verified=[finding("invalid")])
    assert floor.visit(trial_spec(verify=False)).verdict is Verdict.OK
    assert not {"verify one", "challenge one"} & set(floor.calls)


def test_a_lie_that_shows_after_the_windows_makes_the_trial_invalid() -> None:
    floor = FakeFloor(challenged=[finding("invalid")])
    assert floor.visit(ONE).verdict is Verdict.INVALID


def test_one_of_several_that_cannot_be_challenged_does_not_fail_the_others() -> None:
    floor = FakeFloor(failures={"challenge": TandemError("it is gone")})
    assert floor.visit(TWO).verdict is Verdict.OK


# ---- rates ----


@pytest.mark.parametrize(("goodput", "rate"), [(999.9, 599), (1000.0, 600), (3.4, 2)])
def test_the_rate_is_a_share_of_the_goodput(goodput: float, rate: int) -> None:
    floor = FakeFloor(goodput_rps=goodput)
    floor.visit(ONE)
    assert [spec.rates_rps for spec in floor.asked] == [{}, {"one": rate}]


def test_each_variant_has_the_share_of_its_own_goodput() -> None:
    windows = [
        window_spec("closed", "one", "two"),
        window_spec("open", "one", "two", share=0.5),
    ]
    floor = FakeFloor()
    floor.visit(trial_spec("1-pair", "one", "two", windows=windows))
    assert floor.asked[-1].rates_rps == {"one": 499, "two": 499}


def test_a_rate_that_was_given_stays() -> None:
    floor = FakeFloor()
    floor.visit(trial_spec(windows=[window_spec("open", rates_rps={"one": 7})]))
    assert floor.asked[0].rates_rps == {"one": 7}


def test_without_goodput_there_is_no_open_loop() -> None:
    floor = FakeFloor(goodput_rps=1.5)
    trial = floor.visit(ONE)
    assert floor.calls == [*BEFORE, "measure closed", *CALLS[-4:]]
    assert [f.code for f in trial.all_findings()] == ["no-goodput"]
    assert trial.verdict is Verdict.INVALID
    assert trial.window("open") is None
    assert trial.windows[-1].refused == "too few right answers to derive a rate from"


# ---- what goes wrong ----

WORK = CALLS[:9]


@pytest.mark.parametrize("call", WORK)
def test_after_a_failure_only_collect_and_stop_run(call: str) -> None:
    floor = FakeFloor()
    floor.failures[call] = TandemError(f"{call} went wrong")
    trial = floor.visit(ONE)
    reached = CALLS[: CALLS.index(call) + 1]
    ends = [] if call == "reset" else ["collect one", "stop one"]  # nothing was begun that could be ended
    assert floor.calls == [*reached, *ends]
    assert trial.verdict is Verdict.FAILED
    found = [(f.code, f.severity, f.text) for f in trial.all_findings()]
    assert found == [("failed", "invalid", f"{call} went wrong")]
    assert (trial.window("closed") is not None) == (CALLS.index(call) > CALLS.index("measure closed"))
    assert (trial.window("open") is not None) == (CALLS.index(call) > CALLS.index("measure open"))


def test_a_full_disk_fails_the_trial_and_nothing_else() -> None:
    floor = FakeFloor()
    floor.failures["collect one"] = OSError(28, "No space left on device")
    trial = floor.visit(ONE)
    assert floor.calls == CALLS
    assert trial.verdict is Verdict.FAILED
    assert "No space left" in next(trial.all_findings()).text


def test_a_stop_that_fails_makes_the_trial_fail() -> None:
    floor = FakeFloor()
    floor.failures["stop one"] = TandemError("stop went wrong")
    trial = floor.visit(ONE)
    assert floor.calls == CALLS
    assert trial.verdict is Verdict.FAILED
    assert trial.findings[-1].text == "stop went wrong"


@pytest.mark.parametrize("spec", [ONE, TWO], ids=["one", "two"])
def test_a_collect_that_fails_does_not_keep_the_containers(spec: TrialSpec) -> None:
    floor = FakeFloor()
    floor.failures["collect"] = TandemError("no log")
    trial = floor.visit(spec)
    stopped = [call for call in floor.calls if call.startswith("stop")]
    assert stopped == [f"stop {label}" for label in spec.variants]
    assert (trial.verdict, {f.text for f in trial.findings}) == (Verdict.FAILED, {"no log"})


@pytest.mark.parametrize("call", WORK)
def test_the_cause_is_told_before_its_consequences(call: str) -> None:
    floor = FakeFloor()
    for failing, text in ((call, "the cause"), ("collect", "no log"), ("stop", "the consequence")):
        floor.failures[failing] = TandemError(text)
    trial = floor.visit(ONE)
    rest = [] if call == "reset" else ["no log", "the consequence"]
    assert [f.text for f in trial.all_findings()] == ["the cause", *rest]
    assert trial.verdict is Verdict.FAILED


@pytest.mark.parametrize("call", [*WORK, "collect one"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_anything_else_goes_upwards_after_the_container_is_gone(
    call: str, error: type[BaseException]
) -> None:
    floor = FakeFloor()
    floor.failures[call] = error()
    with pytest.raises(error):
        floor.visit(ONE)
    assert floor.calls[-1] == ("reset" if call == "reset" else "stop one")


def test_an_interrupt_in_the_end_of_one_still_ends_the_others() -> None:
    floor = FakeFloor()
    floor.failures["stop one"] = KeyboardInterrupt()
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
    floor, found = FakeFloor(), [finding(severity)]
    if where in ("closed", "open"):
        floor.judged[where] = found
    else:
        setattr(floor, where, found)
    trial = floor.visit(ONE)
    assert trial.verdict is verdict
    assert list(trial.all_findings()) == found


def test_wrong_answers_before_the_load_end_the_visit_of_who_gives_them() -> None:
    floor = FakeFloor(verified=[finding("invalid", text="wrong")])
    trial = floor.visit(ONE)
    assert floor.calls == [*BEFORE[:-1], "collect one", "stop one"]
    assert trial.starts["one"].refused == "wrong"


# ---- several side by side ----


@pytest.mark.parametrize("call", ["launch one", "ready one", "verify one", "warm up one"])
def test_one_that_does_not_start_does_not_end_the_others(call: str) -> None:
    floor = FakeFloor()
    floor.failures[call] = TandemError("no")
    trial = floor.visit(TWO)
    assert trial.starts["one"].refused == "no"
    assert trial.starts["two"].refused is None
    assert trial.window("closed-two", "two") is not None
    assert [record.refused is None for record in trial.windows] == [False, False, True, True]
    assert trial.verdict is Verdict.INVALID, "something of it is wrong, and something was measured"
    assert floor.calls[-4:] == ["collect one", "collect two", "stop one", "stop two"]
    assert "one" in floor.frozen, "who takes no part does not disturb those who do"


def test_a_window_of_all_is_made_by_those_who_are_there() -> None:
    floor = FakeFloor()
    floor.failures["ready two"] = TandemError("no")
    trial = floor.visit(ALL_AT_ONCE)
    assert [record.spec.variants for record in trial.windows] == [["one"]]


def test_where_none_starts_the_trial_failed() -> None:
    floor = FakeFloor()
    floor.failures["ready"] = TandemError("no")
    trial = floor.visit(TWO)
    assert trial.verdict is Verdict.FAILED
    assert trial.windows == []


def test_a_window_that_breaks_is_told_in_its_record_and_the_others_go_on() -> None:
    floor = FakeFloor()
    for label in ("one", "two"):
        floor.failures[f"measure open-{label}"] = TandemError("it broke")
    trial = floor.visit(TWO)
    assert [record.refused for record in trial.windows] == [None, "it broke", None, "it broke"]
    assert trial.window("closed-two", "two") is not None
    assert "drain" in floor.calls


def test_a_share_of_nothing_is_told_in_the_record_of_the_window() -> None:
    floor = FakeFloor(goodput_rps=1.5)
    trial = floor.visit(TWO)
    assert [record.refused is None for record in trial.windows] == [True, False, True, False]


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
    start = floor.visit(ONE).starts["one"]
    assert floor.warm_ups == steps
    assert start.warm_up_s == sum(steps)
    assert start.warm_up_requests == answers_per_s * sum(steps)
    assert sum(steps) <= WARM_UP.cap_s


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
    floor = FakeFloor(ramp=ramp)
    warm_up = WARM_UP.model_copy(update={"steady_buckets": 10, "cap_s": 60})
    trial = floor.visit(trial_spec(warm_up=warm_up))
    assert [found.code for found in trial.all_findings()] == codes
    assert trial.verdict is Verdict.OK
    assert trial.starts["one"].warm_up_s == pytest.approx(lasts_s, abs=5)


@pytest.mark.parametrize(
    ("least_s", "buckets", "cap_s"),
    [(10, 30, 60), (10, 10, 30), (20, 30, 120), (3, 0, 3), (10, 8, 30), (10, 30, 20), (3, 30, 60)],
)
def test_how_long_a_steady_warm_up_lasts_is_known_before(least_s: int, buckets: int, cap_s: int) -> None:
    spec = trial_spec(warm_up=WarmUp(least_s=least_s, steady_buckets=buckets, cap_s=cap_s))
    assert FakeFloor().visit(spec).starts["one"].warm_up_s == steady_after_s(spec)


# ---- time ----


@pytest.mark.parametrize("answers_per_s", [1000, 50])
def test_the_overhead_is_what_is_neither_warm_up_nor_window(answers_per_s: float) -> None:
    trial = FakeFloor(answers_per_s=answers_per_s).visit(ONE)
    assert trial.overhead_s == pytest.approx(sum(LONG.values()))
    took = {p.name: p.duration_s for p in trial.phases}
    assert {name: took[name] for name in LONG if name in took} == {
        name: seconds for name, seconds in LONG.items() if name in took
    }
    assert [p.duration_s for p in trial.phases if p.name == "windows"] == [20, 25]


def test_a_failed_trial_has_its_overhead_too() -> None:
    floor = FakeFloor()
    floor.failures["ready one"] = TandemError("never")
    assert floor.visit(ONE).overhead_s == pytest.approx(1 + 2 + 0.125 + 1.125)


def test_a_window_that_broke_is_counted_with_what_it_took() -> None:
    """Of its seconds only those that were spent can be its load."""
    floor = FakeFloor()
    floor.failures["measure closed"] = TandemError("at once")
    trial = floor.visit(ONE)
    assert trial.overhead_s == pytest.approx(sum(LONG.values()) - LONG["drain"])

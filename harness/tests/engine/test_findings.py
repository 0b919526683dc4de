"""tandem.engine.findings, tandem.report.parts: what of each variant was compared, and how often it was started again."""

from typing import Any

from harness_engine import FakeFloor, request, result_of, trial_spec, window_spec
from harness_samples import good_window, host, tap

from tandem.engine.findings import compared, host_seen, made_again
from tandem.record.host import Hiccup, HostSeen
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.report.parts import checked, host_told


def made(*labels: str, again: bool = False) -> Trial:
    spec = trial_spec("1-x", *labels)
    floor = FakeFloor(lambda spec, window: good_window(window.load, tap=tap(100), requests=1000))
    return floor.visit(spec.again() if again else spec)


def test_each_variant_has_its_own_count() -> None:
    trials = [made("one"), made("one", again=True), made("one", "two")]
    assert made_again(trials) == {"one": 1}
    # Two windows in a visit alone, two of each in the other.
    assert compared(trials) == {
        "one": "600 of 6,000 answers compared for 0.60 s of CPU",
        "two": "200 of 2,000 answers compared for 0.20 s of CPU",
    }
    plain = [FakeFloor(lambda spec, window: good_window(window.load, tap=None)).visit(trial_spec())]
    assert (compared(plain), made_again(plain)) == ({}, {}), "the control"


def test_both_are_told_below_the_tables() -> None:
    found = Concluded(verdict=Verdict.OK, conclusions=Conclusions())
    told = {"one": "600 of 6,000 answers compared"}
    lines = [
        text.plain for text in checked(result_of(request(), found, compared=told, made_again={"one": 2}))
    ]
    assert lines == [
        "read on the wire: one 600 of 6,000 answers compared",
        "starts repeated because the host disturbed their block: one 2",
    ]
    assert checked(result_of(request(), found)) == []


# ---- what watched the host ----


def on(**changes: Any) -> Trial:
    """A visit on a host that tells this."""
    floor = FakeFloor(lambda spec, window: good_window(window.load, host=host(**changes)))
    return floor.visit(trial_spec("1-x", "one"))


def test_what_the_windows_say_of_the_host() -> None:
    meter = Hiccup(realtime=False, cpu_cores=0.01, samples=10, p999_ms=None, max_ms=1.0)
    seen = host_seen([on(softirq_share=0.03, hiccup=meter), on(softirq_share=0.05, hiccup=meter)])
    assert seen is not None
    assert seen.softirq_share == {"one": (0.03, 0.05)}
    assert list(seen.cannot_judge) == ["hiccups"]
    quiet = host_seen([on()])
    assert quiet is not None
    assert quiet.cannot_judge == {}, "the control"
    assert host_seen([]) is None


def test_seconds_that_variants_share_are_nobodys_interrupts() -> None:
    floor = FakeFloor(lambda spec, window: good_window(window.load))
    windows = [window_spec("duet", "one", "two", load="open")]
    seen = host_seen([floor.visit(trial_spec("1-pair", "one", "two", windows=windows))])
    assert seen is not None
    assert seen.softirq_share == {}


def test_gates_that_cannot_judge_are_told_on_every_report() -> None:
    found = Concluded(verdict=Verdict.OK, conclusions=Conclusions())
    why = {"hiccups": "the meter is not real-time", "steal": "the host does not tell"}
    seen = HostSeen(gates=6, cannot_judge=why, softirq_share={"one": (0.03, 0.0512), "two": (0.04, 0.04)})
    lines = [
        "softirq time, of all CPUs, by window: one 3.0 to 5.1 %; two 4.0 %",
        "2 of 6 host gates cannot judge here: hiccups (the meter is not real-time), steal (the host does not tell)",
    ]
    made = result_of(request(), found, host=seen)
    assert host_told(made) == lines
    assert [text.plain for text in checked(made)] == lines
    assert host_told(result_of(request(), found)) == [], "a result of before they were kept"
    many = {f"v{number}": (0.01 * number, 0.02 * number) for number in range(1, 8)}
    told = result_of(request(), found, host=HostSeen(gates=6, cannot_judge={}, softirq_share=many))
    assert host_told(told) == ["softirq time, of all CPUs, by window: all variants 1.0 to 14.0 %"]

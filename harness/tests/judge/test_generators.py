"""tandem.judge.generators: each of several generators is judged by itself, and what one did not make voids the window."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from harness_samples import (
    EXPECTED,
    REQUESTS,
    counted,
    good_window,
    make_rows,
    proxy,
    quiet_roles,
    role,
    tap,
)
from harness_windows import CORES, CPUSETS, conditions, measured, sample, series

from tandem.hosts.host import Usage
from tandem.judge import generators
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.judge.judge import gates, verdict
from tandem.judge.measure import window
from tandem.judge.on_wire import on_wire
from tandem.load.generator import Load, Report
from tandem.load.shares import Share
from tandem.probes.sampler import Counted, Series
from tandem.record.window import Finding, GeneratorShare, Times, Verdict, Window

LATENESS = Times(samples=6000, mean=0.4, p50=0.4, p90=0.8, p99=1.2, max=9.0)


def one(number: int, load: str = "closed", **changes: Any) -> GeneratorShare:
    """Half of a good window's load."""
    opened = load == "open"
    fields: dict[str, Any] = {
        "role": "loadgen" if number == 1 else f"loadgen-{number}",
        "connections": 25,
        "offered_rps": REQUESTS / 60 if opened else None,
        "begins_ms": 0.0,
        "late_ms": 3.0,
        "requests": REQUESTS // 2,
        "scheduled": REQUESTS // 2 if opened else None,
        "lateness_ms": LATENESS if opened else None,
        "cpu_cores": 0.3,
        "cpuset": "3",
        "cores_available": 1,
    }
    return GeneratorShare(**{**fields, **changes})


def shared(load: Literal["closed", "open"] = "closed", window: Any = None, **second: Any) -> Window:
    """A good window of two generators, with changes of the second."""
    return good_window(load, **(window or {}), generators=[one(1, load), one(2, load, **second)])


def found(of: Window) -> dict[str, Finding]:
    return {finding.code: finding for finding in gates(of, EXPECTED)}


@pytest.mark.parametrize("load", ["closed", "open"])
def test_two_good_generators_have_no_finding(load: Literal["closed", "open"]) -> None:
    assert found(shared(load)) == {}


BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    ("closed", {"problem": "killed", "requests": 0}, "generator-lost", "void"),
    ("open", {"problem": "killed", "requests": 0, "lateness_ms": None}, "generator-lost", "void"),
    ("closed", {"late_ms": 101.0}, "generators-apart", "void"),
    ("open", {"late_ms": -101.0}, "generators-apart", "void"),
    ("open", {"lateness_ms": LATENESS.model_copy(update={"max": 101.0})}, "generator-stalled", "void"),
    ("open", {"lateness_ms": LATENESS.model_copy(update={"p99": 3.1})}, "generator-late", "warning"),
    ("closed", {"requests": round(REQUESTS / 2 * 0.7)}, "generator-short", "void"),
    ("open", {"requests": round(REQUESTS / 2 * 0.99)}, "generator-short", "void"),
    ("closed", {"cpu_cores": 0.71}, "generator-busy", "warning"),
]


@pytest.mark.parametrize(("load", "second", "code", "severity"), BROKEN)
def test_what_is_wrong_with_one_is_told_of_that_one(
    load: Literal["closed", "open"], second: dict[str, Any], code: str, severity: str
) -> None:
    told = found(shared(load, **second))
    assert told.keys() == {code}
    assert told[code].severity == severity
    assert told[code].text.startswith("generator 2 of 2 (loadgen-2) ")


@pytest.mark.parametrize(("load", "second", "code", "severity"), BROKEN)
def test_of_one_generator_alone_none_of_these_is_asked(
    load: Literal["closed", "open"], second: dict[str, Any], code: str, severity: str
) -> None:
    """The control: its checks are those of the whole window."""
    assert found(good_window(load)) == {}


LOST = {"problem": "killed", "requests": 0}
HALF = REQUESTS // 2
OF_HALF: dict[str, Any] = {
    "requests": HALF,
    "good": HALF,
    "goodput_rps": HALF / 30,
    "rows_2xx": HALF,
    "reported_2xx": HALF,
}


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_generator_that_died_makes_the_window_void_and_not_smaller(load: Literal["closed", "open"]) -> None:
    """HAProxy and the database have counted what it sent until then; that is no lie of the application's."""
    little = {"little": 0.5} if load == "closed" else {}
    died = gates(shared(load, {**OF_HALF, **little}, **LOST), EXPECTED)
    assert verdict(died) is Verdict.VOID
    assert {finding.code for finding in died if finding.severity == "void"} >= {
        "generator-lost",
        "proxy-mismatch",
        "sql-mismatch",
        "littles-law" if load == "closed" else "incomplete",
    }
    alive = gates(shared(load, {**OF_HALF, **little}, requests=HALF), EXPECTED)
    assert verdict(alive) is Verdict.INVALID, "the control: with both there it would be one"


def test_a_window_that_is_smaller_in_every_count_is_void_too() -> None:
    """A dead generator before its first request leaves a window in which all counts agree."""
    answered = HALF + 50
    smaller = {
        **OF_HALF,
        "statements": counted(answered),
        "implied_rows": {},
        "proxy": proxy(responses_2xx=answered),
    }
    assert verdict(gates(good_window(**smaller), EXPECTED)) is Verdict.OK, "the control"
    assert verdict(gates(shared("closed", smaller, **LOST), EXPECTED)) is Verdict.VOID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"failed": {"wrong length": 3}}, "wrong-length"),
        ({"probe_failures": ["/: not golden"]}, "wrong-body"),
        ({"db_connections_max": 21}, "too-many-connections"),
    ],
)
def test_what_no_generator_can_cause_stays_invalid(changes: dict[str, Any], code: str) -> None:
    told = found(shared("closed", changes, **LOST))
    assert told[code].severity == "invalid"


def test_what_cannot_be_served_is_missing_from_all_and_no_generators_fault() -> None:
    late = [one(number, "open", requests=round(HALF * share)) for number, share in ((1, 0.70), (2, 0.66))]
    overloaded = good_window("open", generators=late, good=round(REQUESTS * 0.68))
    told = found(overloaded)
    assert "generator-short" not in told
    assert told["incomplete"].severity == "invalid"


def test_few_answers_scatter_more() -> None:
    few = [one(1, requests=100), one(2, requests=60)]
    assert "generator-short" not in found(good_window(generators=few))
    many = [one(1, requests=10_000), one(2, requests=6_000)]
    assert "generator-short" in found(good_window(generators=many))


def test_unequal_shares_are_judged_by_their_connections() -> None:
    unequal = [one(1, connections=40, requests=8_000), one(2, connections=10, requests=2_000)]
    assert found(good_window(generators=unequal)) == {}


def test_a_busy_generator_is_the_bottleneck_though_all_together_are_not() -> None:
    """Each on CPUs of its own: 0.95 and 0.05 of a core are half of both."""
    both = [one(1, cpu_cores=0.95, cpuset="3"), one(2, cpu_cores=0.05, cpuset="5")]
    roles = quiet_roles(loadgen=role(1.0, "3,5", available=2))
    limited, _ = bottleneck(good_window(roles=roles, generators=both), Concurrency(20))
    assert limited == "generator"
    alone, _ = bottleneck(good_window(roles=roles), Concurrency(20))
    assert alone != "generator", "the control"


def test_of_several_each_burst_reads_one_so_fewer_answers_are_enough() -> None:
    seen: dict[str, Any] = {"good": 1_500, "tap": tap(compared=500)}
    assert [one.code for one in on_wire(good_window(**seen))] == ["few-compared"]
    assert on_wire(shared("closed", seen)) == []


# ---- the figures ----


def share_of(load: Literal["closed", "open"]) -> Share:
    whole = Load(
        url="http://proxy:8080/",
        duration_s=10,
        connections=5,
        threads=1,
        headers={},
        rate_rps=100 if load == "open" else None,
    )
    return Share("loadgen-2", whole, after_s=0.005)


def test_what_a_generators_rows_say() -> None:
    due = np.arange(1000) / 100
    rows = make_rows(due, due + 0.01, paced_s=due + 0.002)
    report = Report(statusCodeDistribution={"200": 1000}, errorDistribution={"refused": 2})
    told = generators.share(share_of("open"), 0.003, (rows, report), 2.0, 1.0)
    assert (told.role, told.connections, told.offered_rps) == ("loadgen-2", 5, 100)
    assert [told.begins_ms, told.late_ms] == pytest.approx([5.0, 3.0])
    assert (told.requests, told.errors, told.scheduled) == (1000, 2, 1000)
    assert told.lateness_ms is not None
    assert told.lateness_ms.samples == pytest.approx(700, abs=1)
    assert told.lateness_ms.max == pytest.approx(2.0)
    closed = generators.share(share_of("closed"), None, (rows, report), 2.0, 1.0)
    assert (closed.offered_rps, closed.scheduled, closed.lateness_ms, closed.late_ms) == (None,) * 4


def test_what_left_nothing_is_told_with_its_reason() -> None:
    told = generators.share(share_of("open"), None, "it was killed", 2.0, 1.0)
    assert (told.requests, told.problem, told.scheduled) == (0, "it was killed", 1000)


def test_cpu_of_each_and_of_all_together() -> None:
    samples = [
        replace(each, usage={**each.usage, "loadgen-2": Usage(7 + 0.5 * after_s, 0.0, 3000)})
        for each in series().samples
        for after_s in [each.at_s - sample(0.0).at_s]
    ]
    both = [one(1), one(2)]
    cpusets = {**CPUSETS, "loadgen-2": "1"}
    told = window(measured(Counted(Series(samples), 6.0), generators=both), conditions(cpusets=cpusets))
    assert [each.cpu_cores for each in told.generators] == pytest.approx([CORES["loadgen"], 0.5])
    assert [(each.cpuset, each.cores_available) for each in told.generators] == [("", 4), ("1", 1)]
    assert told.roles.keys() == CPUSETS.keys(), "several generators are one role"
    assert told.roles["loadgen"].cpu_cores == pytest.approx(CORES["loadgen"] + 0.5)
    assert told.roles["loadgen"].memory_peak_bytes == 4000
    apart = {**CPUSETS, "loadgen": "3", "loadgen-2": "5"}
    on_two = window(
        measured(Counted(Series(samples), 6.0), generators=both), conditions(cpusets=apart)
    ).roles["loadgen"]
    assert (on_two.cpuset, on_two.cores_available) == ("3,5", 2)
    alone = window(measured(), conditions())
    assert alone.generators == []
    assert alone.host.foreign_cpu_share is not None
    assert told.host.foreign_cpu_share == pytest.approx(max(0.0, alone.host.foreign_cpu_share - 0.5 / 4))

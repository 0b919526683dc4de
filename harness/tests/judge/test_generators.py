"""tandem.judge.generators: each of several generators is judged by itself, and what one did not make voids the window."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from harness_samples import (
    EXPECTED,
    REQUESTS,
    codes,
    counted,
    good_window,
    make_rows,
    proxy,
    quiet_roles,
    role,
    tap,
    there,
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
from tandem.record.window import GeneratorShare, Times, Verdict, Window

LATENESS = Times(samples=6000, mean=0.4, p50=0.4, p90=0.8, p99=1.2, max=9.0)
HALF = REQUESTS // 2
Kind = Literal["closed", "open"]


def one(number: int, load: str = "closed", **changes: Any) -> GeneratorShare:
    """Half of a good window's load."""
    opened = load == "open"
    fields: dict[str, Any] = {
        "role": "loadgen" if number == 1 else f"loadgen-{number}",
        "connections": 25,
        "offered_rps": REQUESTS / 60 if opened else None,
        "begins_ms": 0.0,
        "late_ms": 3.0,
        "requests": HALF,
        "scheduled": HALF if opened else None,
        "lateness_ms": LATENESS if opened else None,
        "cpu_cores": 0.3,
        "cpuset": "3",
        "cores_available": 1,
    }
    return GeneratorShare(**{**fields, **changes})


def shared(load: Kind = "closed", window: Any = None, **second: Any) -> Window:
    """A good window of two generators, with changes of the second."""
    return good_window(load, **(window or {}), generators=[one(1, load), one(2, load, **second)])


LOST = {"problem": "killed", "requests": 0}


@pytest.mark.parametrize(
    ("load", "second", "told"),
    [
        ("closed", {}, []),
        ("open", {}, []),
        ("closed", LOST, [("generator-lost", "void")]),
        ("open", {**LOST, "lateness_ms": None}, [("generator-lost", "void")]),
        ("closed", {"late_ms": 101.0}, [("generators-apart", "void")]),
        ("open", {"late_ms": -101.0}, [("generators-apart", "void")]),
        ("open", {"lateness_ms": LATENESS.model_copy(update={"max": 101.0})}, [("generator-stalled", "void")]),
        ("open", {"lateness_ms": LATENESS.model_copy(update={"p99": 3.1})}, [("generator-late", "warning")]),
        ("closed", {"requests": round(HALF * 0.7)}, [("generator-short", "void")]),
        ("open", {"requests": round(HALF * 0.99)}, [("generator-short", "void")]),
        ("closed", {"cpu_cores": 0.71}, [("generator-busy", "warning")]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_is_told_of_that_one(
    load: Kind, second: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    found = gates(shared(load, **second), EXPECTED)
    assert [(finding.code, finding.severity) for finding in found] == told
    assert all(finding.text.startswith("generator 2 of 2 (loadgen-2) ") for finding in found)


@pytest.mark.parametrize(
    ("shares", "short"),
    [
        # Few answers scatter more; unequal shares are judged by their connections.
        ([one(1, requests=100), one(2, requests=60)], False),
        ([one(1, requests=10_000), one(2, requests=6_000)], True),
        ([one(1, connections=40, requests=8_000), one(2, connections=10, requests=2_000)], False),
    ],
)
def test_how_much_one_may_be_short(shares: list[GeneratorShare], short: bool) -> None:
    assert ("generator-short" in dict(codes(good_window(generators=shares)))) is short


OF_HALF: dict[str, Any] = dict.fromkeys(("requests", "good", "rows_2xx", "reported_2xx"), HALF)
OF_HALF["goodput_rps"] = HALF / 30


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_generator_that_died_makes_the_window_void_and_not_smaller(load: Kind) -> None:
    """HAProxy and the database have counted what it sent until then; that is no lie of the application's."""
    half = {**OF_HALF, **({"little": 0.5} if load == "closed" else {})}
    died = gates(shared(load, half, **LOST), EXPECTED)
    assert verdict(died) is Verdict.VOID
    law = "littles-law" if load == "closed" else "incomplete"
    void = {finding.code for finding in died if finding.severity == "void"}
    assert void >= {"generator-lost", "proxy-mismatch", "sql-mismatch", law}
    alive = gates(shared(load, half, requests=HALF), EXPECTED)
    assert verdict(alive) is Verdict.INVALID, "the control: with both there it would be one"


def test_a_window_that_is_smaller_in_every_count_is_void_too() -> None:
    """A dead generator before its first request leaves a window in which all counts agree."""
    counts: dict[str, Any] = {"statements": counted(HALF + 50), "implied_rows": {}}
    counts["proxy"] = proxy(responses_2xx=HALF + 50)
    assert codes(good_window(**OF_HALF, **counts)) == [], "the control"
    assert verdict(gates(shared("closed", OF_HALF | counts, **LOST), EXPECTED)) is Verdict.VOID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"failed": {"wrong length": 3}}, "wrong-length"),
        ({"probe_failures": ["/: not golden"]}, "wrong-body"),
        ({"db_connections_max": 21}, "too-many-connections"),
    ],
)
def test_what_no_generator_can_cause_stays_invalid(changes: dict[str, Any], code: str) -> None:
    assert (code, "invalid") in codes(shared("closed", changes, **LOST))


def test_what_cannot_be_served_is_missing_from_all_and_no_generators_fault() -> None:
    late = [one(number, "open", requests=round(HALF * share)) for number, share in ((1, 0.70), (2, 0.66))]
    told = dict(codes(good_window("open", generators=late, good=round(REQUESTS * 0.68))))
    assert (told.get("generator-short"), told["incomplete"]) == (None, "invalid")


def test_a_busy_generator_is_the_bottleneck_though_all_together_are_not() -> None:
    """Each on CPUs of its own: 0.95 and 0.05 of a core are half of both."""
    both = [one(1, cpu_cores=0.95, cpuset="3"), one(2, cpu_cores=0.05, cpuset="5")]
    roles = quiet_roles(loadgen=role(1.0, "3,5", available=2))
    assert bottleneck(good_window(roles=roles, generators=both), Concurrency(20))[0] == "generator"
    assert bottleneck(good_window(roles=roles), Concurrency(20))[0] != "generator", "the control"


def test_of_several_each_burst_reads_one_so_fewer_answers_are_enough() -> None:
    seen: dict[str, Any] = {"good": 1_500, "tap": tap(compared=500)}
    assert [one.code for one in on_wire(good_window(**seen))] == ["few-compared"]
    assert on_wire(shared("closed", seen)) == []


# ---- the figures ----


def told_of(rate_rps: int | None, late_s: float | None, left: Any) -> GeneratorShare:
    whole = Load("http://proxy:8080/", 10, 5, 1, {}, rate_rps=rate_rps)
    return generators.share(Share("loadgen-2", whole, after_s=0.005), late_s, left, 2.0, 1.0)


def test_what_a_generators_rows_say() -> None:
    due = np.arange(1000) / 100
    rows = make_rows(due, due + 0.01, paced_s=due + 0.002)
    report = Report(statusCodeDistribution={"200": 1000}, errorDistribution={"refused": 2})
    told = told_of(100, 0.003, (rows, report))
    assert (told.role, told.connections, told.offered_rps) == ("loadgen-2", 5, 100)
    assert [told.begins_ms, told.late_ms] == pytest.approx([5.0, 3.0])
    assert (told.requests, told.errors, told.scheduled) == (1000, 2, 1000)
    late = there(told.lateness_ms)
    assert late.samples == pytest.approx(700, abs=1)
    assert late.max == pytest.approx(2.0)
    closed = told_of(None, None, (rows, report))
    assert (closed.offered_rps, closed.scheduled, closed.lateness_ms, closed.late_ms) == (None,) * 4
    lost = told_of(100, None, "it was killed")
    assert (lost.requests, lost.problem, lost.scheduled) == (0, "it was killed", 1000)


def test_cpu_of_each_and_of_all_together() -> None:
    samples = [
        replace(each, usage={**each.usage, "loadgen-2": Usage(7 + 0.5 * after_s, 0.0, 3000)})
        for each in series().samples
        for after_s in [each.at_s - sample(0.0).at_s]
    ]

    def of_two(**cpusets: str) -> Window:
        seen = measured(Counted(Series(samples), 6.0), generators=[one(1), one(2)])
        return window(seen, conditions(cpusets={**CPUSETS, **cpusets}))

    told, alone = of_two(**{"loadgen-2": "1"}), window(measured(), conditions())
    assert [each.cpu_cores for each in told.generators] == pytest.approx([CORES["loadgen"], 0.5])
    assert [(each.cpuset, each.cores_available) for each in told.generators] == [("", 4), ("1", 1)]
    assert told.roles.keys() == CPUSETS.keys(), "several generators are one role"
    together = told.roles["loadgen"]
    assert (together.cpu_cores, together.memory_peak_bytes) == pytest.approx((CORES["loadgen"] + 0.5, 4000))
    apart = of_two(**{"loadgen": "3", "loadgen-2": "5"}).roles["loadgen"]
    assert (apart.cpuset, apart.cores_available) == ("3,5", 2)
    foreign = max(0.0, there(alone.host.foreign_cpu_share) - 0.5 / 4)
    assert told.host.foreign_cpu_share == pytest.approx(foreign)

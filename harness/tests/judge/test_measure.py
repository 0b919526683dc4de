"""tandem.judge.measure: a window from synthetic counters that grow at known rates."""

from array import array
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from harness_samples import make_rows, there
from harness_windows import (
    BEGAN_S,
    CORES,
    CPUS,
    CPUSETS,
    DURATION_S,
    FOREIGN_CORES,
    RATE,
    SOFTIRQ_CORES,
    STEAL_CORES,
    conditions,
    measured,
    rows,
    sample,
    series,
)

from tandem.analysis.histogram import curve, recorded
from tandem.hosts.host import Clocks, HostCpu, Oversleep, Usage
from tandem.judge.measure import ClassConditions, window
from tandem.load.generator import Report
from tandem.load.rows import Rows
from tandem.probes.disturbances import Disturbances
from tandem.probes.haproxy import ProxyCounters
from tandem.probes.sampler import Counted, Probed, Sample, Series
from tandem.probes.threads import ContextSwitches
from tandem.record.window import Verdict, Window


def counted(samples: list[Sample]) -> Window:
    """A closed window with these samples."""
    return window(measured(Counted(Series(samples), 6.0)), conditions())


def each(**changes: Any) -> list[Sample]:
    """A sample every second. changes: what of it is otherwise, or a function of the second that says so."""
    return [
        sample(float(t), **{name: value(t) if callable(value) else value for name, value in changes.items()})
        for t in range(-1, 12)
    ]


@pytest.fixture
def closed() -> Window:
    return window(measured(), conditions())


# ---- the generator's figures ----


def test_a_closed_loop(closed: Window) -> None:
    assert (closed.load, closed.connections, closed.offered_rps) == ("closed", 1, None)
    assert (closed.measured_s, closed.requests, closed.good, closed.failed) == (7.0, 1000, 1000, {})
    assert closed.goodput_rps == pytest.approx(100, rel=0.002)
    assert closed.little == pytest.approx(0.5, abs=0.001)  # 5 ms of every 10 ms
    assert closed.service_time_ms.mean == pytest.approx(5.0)
    assert closed.service_time_ms.samples == pytest.approx(700, abs=1)
    assert (closed.response_time_ms, closed.response_time_hdr, closed.lateness_ms) == (None, None, None)
    assert (closed.scheduled, closed.unsent) == (None, None)
    assert (closed.verdict, closed.findings, closed.generators) == (Verdict.OK, [], [])


def test_an_open_loop() -> None:
    opened = window(measured(), conditions("open"))
    assert (opened.offered_rps, opened.scheduled, opened.unsent, opened.little) == (RATE, 1000, 0, None)
    response, late = there(opened.response_time_ms), there(opened.lateness_ms)
    assert (response.samples, late.samples) == (700, 700)
    assert (response.max, late.max) == pytest.approx((5.0, 0.0), abs=1e-6)
    assert opened.in_flight_mean == pytest.approx(0.5, abs=0.001)
    both = (opened.service_time_hdr, opened.service_time_ms), (opened.response_time_hdr, response)
    for encoded, times in both:
        assert recorded(there(encoded))[1].sum() == times.samples
        assert curve([there(encoded)], [0.5])[0][1] == pytest.approx(times.p50, rel=0.001)


def test_every_failure_is_counted_by_its_reason() -> None:
    some = rows()
    some.status[:7] = 503
    some.length_bytes[7:10] = 12
    report = Report(statusCodeDistribution={"200": 993}, errorDistribution={"deadline": 4, "refused": 2})
    seen = measured(Probed(20, ["a", "b"], ["c"]), rows=some, report=report)
    found = window(seen, conditions("open"))
    answers, none = {"status 503": 7, "wrong length": 3}, {"error: deadline": 4, "error: refused": 2}
    assert found.failed == {**answers, **none, "probe not answered": 2}
    assert (found.requests, found.good, found.probe_failures) == (1000, 990, ["c"])


def test_errors_and_wrong_answers_are_no_goodput_and_in_the_response_times() -> None:
    some = rows()
    some.status[500:510] = 503  # due inside the measured part
    some.status[:5] = 503  # due before it
    report = Report(statusCodeDistribution={"200": 985, "503": 15}, errorDistribution={"deadline": 20})
    found = window(measured(rows=some, report=report), conditions("open"))
    times = there(found.response_time_ms)
    assert (times.samples, times.censored, times.mean, times.max) == (720, 30, None, 10_000)
    durations_s, counts = recorded(there(found.response_time_hdr))
    assert (counts.sum(), durations_s.max()) == (times.samples, pytest.approx(10, rel=0.001))
    assert found.service_time_ms.censored == 0
    assert found.goodput_rps == pytest.approx(690 / 7, rel=0.01)


def test_errors_are_not_unsent() -> None:
    start = np.arange(0, DURATION_S / 2, 1 / RATE)
    half = make_rows(start, start + 0.005, paced_s=start)
    report = Report(statusCodeDistribution={"200": 500}, errorDistribution={"deadline": 300})
    found = window(measured(rows=half, report=report), conditions("open"))
    assert (found.scheduled, found.unsent) == (1000, 200)


def test_the_quickest_answer_is_of_the_whole_window_and_the_generator_has_two_counts() -> None:
    some = rows()
    some.end_s[3] = some.start_s[3] + 0.001  # before the measured part
    some.end_s[5], some.status[5] = some.start_s[5], 503  # no answer
    lost = Report(statusCodeDistribution={"200": 990, "204": 5, "503": 9})
    found = window(measured(rows=some, report=lost), conditions())
    assert found.answer_ms_min == pytest.approx(1.0)
    assert (found.rows_2xx, found.reported_2xx) == (999, 995)


# ---- CPU and memory ----


def test_cores_are_seconds_per_second_of_the_steady_part(closed: Window) -> None:
    """By 100/s at 0.4 of the database's single core 250/s are possible."""
    cores = {name: one.cpu_cores for name, one in closed.roles.items()}
    assert cores == pytest.approx({name: CORES[name] for name in CPUSETS}), "the harness is none"
    available = {name: one.cores_available for name, one in closed.roles.items()}
    assert available == {**dict.fromkeys(CPUSETS, 1), "app": 2, "loadgen": CPUS}
    assert closed.utilisation_bound_rps == pytest.approx(250, rel=0.01)
    assert closed.utilisation_bound_by in ("app", "db")


def test_start_and_end_are_cut_off() -> None:
    """All of the application's work is done in the first two seconds and the last one."""

    def usage(t: float) -> dict[str, Usage]:
        return {**sample(t).usage, "app": Usage(min(max(t, 0.0), 2.0) + max(t - 9.0, 0.0), 0.0, 1000)}

    assert counted(each(usage=usage)).roles["app"].cpu_cores == pytest.approx(0.0, abs=1e-9)


def test_the_cost_of_a_request_counts_the_probes_too(closed: Window) -> None:
    """0.8 cores over the 12 s between the first and the last sample, for 1000 requests and 20 probes."""
    cost_us = 0.8 * 12 / 1020 * 1e6
    assert closed.app_cpu_us_per_request == pytest.approx(cost_us)
    assert (closed.app_system_cpu_us_per_request, closed.app_context_switches_per_request) == (None, None)
    split = counted(
        [
            replace(one, usage={**one.usage, "app": replace(app, system_s=app.cpu_s / 4)})
            for one in series().samples
            for app in [one.usage["app"]]
        ]
    )
    assert split.app_system_cpu_us_per_request == pytest.approx(cost_us / 4)
    switched = window(measured(ContextSwitches(2040)), conditions())
    assert switched.app_context_switches_per_request == pytest.approx(2.0)


def test_without_answers_a_request_has_no_cost() -> None:
    found = window(measured(Probed(0, [], []), ContextSwitches(3), rows=make_rows([], [])), conditions())
    assert (found.app_cpu_us_per_request, found.app_context_switches_per_request) == (None, None)
    assert (found.requests, found.good, found.goodput_rps, found.little) == (0, 0, 0.0, None)


def test_memory_is_the_largest_sample() -> None:
    usage = {role: Usage(99.0, 0.75 if role == "db" else 0.5, 1000) for role in CORES}
    usage["app"] = Usage(99.0, 0.5, 77_777)
    found = window(measured(Counted(series(usage=usage), None)), conditions())
    assert found.roles["app"].busiest_thread_cores is None, "it is not known"
    assert found.app_memory_peak_bytes == found.roles["app"].memory_peak_bytes == 77_777
    assert found.roles["proxy"].memory_peak_bytes == 1000
    assert (found.roles["db"].throttled_s, found.roles["app"].throttled_s) == (0.25, 0.0)


# ---- the host ----


def test_the_shares_of_the_host(closed: Window) -> None:
    host, steal_softirq_foreign = closed.host, (STEAL_CORES, SOFTIRQ_CORES, FOREIGN_CORES)
    shares = host.steal_share, host.softirq_share, host.foreign_cpu_share
    assert shares == pytest.approx(tuple(cores / CPUS for cores in steal_softirq_foreign))
    assert host.harness_cpu_cores == pytest.approx(CORES["harness"])
    assert host.steal_told is True


def test_foreign_cpu_is_never_negative() -> None:
    """Counters of containers and of the host are not read in the same instant."""
    found = counted(each(host=lambda t: HostCpu(0.1 * t, softirq_s=0, steal_s=0, total_s=CPUS * t))).host
    assert found.foreign_cpu_share == 0.0
    assert (found.steal_share, found.steal_told) == (0.0, False), "a kernel that never counted any"


@pytest.mark.parametrize("thief_cores", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("processes", [True, False])
def test_foreign_cpu_is_found_where_groups_contain_interrupts(thief_cores: float, processes: bool) -> None:
    """Where interrupts are charged to the process that they came upon, the groups together have more than user and system
    time, and a tenth of a core of somebody else's was hidden behind them. Without the groups' sum only an interval is
    known, and it holds the truth."""
    used, softirq = sum(CORES.values()) + thief_cores, 0.3

    def host(t: int) -> HostCpu:
        return HostCpu(
            (used - softirq) * t, softirq * t, 0.0, CPUS * t, processes_s=used * t if processes else None
        )

    found = counted(each(host=host)).host
    least, most = there(found.foreign_cpu_interval)
    assert found.foreign_cpu_share == pytest.approx(thief_cores / CPUS if processes else 0.0, abs=1e-9)
    assert least - 1e-9 <= thief_cores / CPUS <= most + 1e-9
    if not processes:
        assert (least, most) == pytest.approx((0.0, thief_cores / CPUS))


@pytest.mark.parametrize(
    ("after", "drift_ms", "changed"),
    [
        (Clocks(1012.0, 62.0, "tsc"), 0.0, False),
        (Clocks(1012.5, 62.0, "tsc"), 500.0, False),
        (Clocks(1011.9, 62.0, "tsc"), -100.0, False),
        (Clocks(1012.0, 62.0, "hpet"), 0.0, True),
        (Clocks(1012.0, 62.0, None), 0.0, None),
    ],
)
def test_the_clocks(after: Clocks, drift_ms: float, changed: bool | None) -> None:
    both = (Clocks(1000.0, 50.0, "tsc"), after)
    seen = measured(Disturbances(None, both, swapped_pages=3, listen_overflows=None))
    host = window(seen, conditions()).host
    assert host.clock_drift_ms == pytest.approx(drift_ms)
    assert host.clock_changed is changed
    assert (host.hiccup, host.swapped_pages, host.listen_overflows) == (None, 3, None)


def test_the_hiccups_are_those_of_the_measured_part() -> None:
    at_s = BEGAN_S + np.arange(0, DURATION_S, 0.005)
    longer = np.where(at_s < BEGAN_S + 2, 0.5, 0.0001)  # half a second, but all of it while warming
    slept = Oversleep(True, 0.01, array("d", at_s), array("d", longer))
    watched = Disturbances(slept, (Clocks(0, 0, "tsc"), Clocks(1, 1, "tsc")), 0, 0)
    found = there(window(measured(watched), conditions()).host.hiccup)
    assert (found.max_ms, found.p999_ms) == pytest.approx((0.1, 0.1))
    assert found.samples == pytest.approx(1400, abs=2)


# ---- services ----


def test_the_proxys_gauges_are_of_the_steady_part() -> None:
    last = ProxyCounters(999_999, 13, 11, 12, queue_now=1000, in_flight_now=1000)
    found = there(window(measured(Counted(series(proxy=last), 6.0)), conditions()).proxy)
    assert (found.queue_max, found.queue_mean, found.in_flight_mean) == (5, 5.0, 8.0)
    assert (found.responses_other, found.connection_errors, found.response_errors) == (10, 10, 10)


def test_without_proxy_and_pooler_or_counters_from_before() -> None:
    for samples in (each(proxy=None, pooler=None), [sample(-1.0, proxy=None, pooler=None), *each()[1:]]):
        found = counted(samples)
        assert (found.proxy, found.pooler) == (None, None)


def test_waits_for_locks_are_the_mean_of_the_samples_inside_the_measured_part() -> None:
    before, after = (sample(at_s, lock_waits=50) for at_s in (-0.5, DURATION_S + 0.5))
    for waits, mean in (([0, 4, 8, 4], 4.0), ([None] * 4, None)):
        inside = [sample(3 + at, lock_waits=n) for at, n in enumerate(waits)]
        assert counted([before, *inside, after]).lock_waits_mean == mean


# ---- second by second ----


def test_a_disturbed_second_is_that_second() -> None:
    """From 5 s to 6 s the hypervisor takes two of four CPUs, the application stands still and answers nothing."""

    def until(t: float) -> float:
        return min(max(t - 5, 0.0), 1.0)

    samples = each(
        usage=lambda t: {**sample(t).usage, "app": Usage(0.8 * (t - until(t)), 0.0, 1000)},
        host=lambda t: HostCpu(busy_s=1.5 * t, softirq_s=0, steal_s=2 * until(t), total_s=CPUS * t),
    )
    start = np.arange(0, DURATION_S, 0.01)
    kept = start[(start < 5) | (start >= 6)]
    found = window(measured(Counted(Series(samples), 6.0), rows=make_rows(kept, kept + 0.005)), conditions())
    table = there(found.per_second)
    assert (table.second, table.good) == ([2, 3, 4, 5, 6, 7, 8], [100, 100, 100, 0, 100, 100, 100])
    used = {role: sum(seconds) / 7 for role, seconds in table.role_cpu_s.items()}
    assert used == {role: pytest.approx(its.cpu_cores) for role, its in found.roles.items()}
    assert table.app_memory_bytes == [1000] * 7
    assert table.app_cpu_s == pytest.approx([0.8, 0.8, 0.8, 0.0, 0.8, 0.8, 0.8], abs=1e-9)
    assert table.steal_share == pytest.approx([0, 0, 0, 0.5, 0, 0, 0], abs=1e-9)


@pytest.mark.parametrize(("start", "end", "seconds"), [(1.5, 1.5, [2, 3, 4, 5, 6, 7]), (5.2, 4.2, [])])
def test_only_whole_seconds_are_in_the_table(start: float, end: float, seconds: list[int]) -> None:
    table = there(window(measured(), conditions(trim_start_s=start, trim_end_s=end)).per_second)
    assert table.second == seconds
    assert len(table.good) == len(table.app_cpu_s) == len(table.steal_share) == len(seconds)


# ---- a mix ----

LIGHT, HEAVY = ClassConditions("light", 3, 200, {1000}), ClassConditions("heavy", 1, 201, {10})


def mixed_rows(heavy_status: int = 201) -> Rows:
    """Each fourth request is a heavy one of 50 ms."""
    plain, heavy = rows(), np.arange(1000) % 4 == 3
    return replace(
        plain,
        end_s=np.where(heavy, plain.start_s + 0.05, plain.end_s),
        status=np.where(heavy, heavy_status, 200),
        length_bytes=np.where(heavy, 10, 1000),
        due_s=plain.start_s,
        classes=heavy.astype(np.int64),
    )


def mix(load: Literal["closed", "open"], **changes: Any) -> Window:
    asked = conditions(load, classes=[LIGHT, HEAVY])
    return window(measured(**{"rows": mixed_rows(), **changes}), asked)


def test_the_classes_of_a_mix_have_figures_of_their_own() -> None:
    found = mix("open")
    assert (found.good, found.failed) == (1000, {})
    assert found.goodput_rps == pytest.approx(100, rel=0.01)
    light, heavy = found.classes
    assert (light.name, light.weight, light.good, light.failed) == ("light", 3, 750, 0)
    assert (heavy.name, heavy.weight, heavy.good, heavy.failed) == ("heavy", 1, 250, 0)
    assert [one.goodput_rps for one in found.classes] == pytest.approx([75, 25], rel=0.02)
    assert there(light.response_time_ms).max == pytest.approx(5.0)
    assert there(heavy.response_time_ms).mean == pytest.approx(50.0)
    assert there(heavy.response_time_ms).p50 is None, "175 samples are too few"
    assert found.response_time_ms == light.response_time_ms, "of a mix they are those of its own class"
    assert found.response_time_hdr == light.response_time_hdr
    assert found.app_cpu_us_per_request == pytest.approx(
        there(window(measured(), conditions("open"))).app_cpu_us_per_request
    )


def test_in_a_closed_loop_classes_have_service_times_alone() -> None:
    light, heavy = mix("closed").classes
    assert (light.response_time_ms, heavy.response_time_hdr) == (None, None)
    assert (light.service_time_ms.mean, heavy.service_time_ms.mean) == pytest.approx((5.0, 50.0))
    assert (light.answer_ms_min, heavy.answer_ms_min) == pytest.approx((5.0, 50.0))


def test_an_answer_that_is_right_for_another_class_is_wrong() -> None:
    found = mix("open", rows=mixed_rows(heavy_status=200))
    assert (found.good, found.failed) == (750, {"status 200": 250})
    assert [one.failed for one in found.classes] == [0, 250]


def test_errors_are_of_the_class_that_met_them() -> None:
    report = Report(statusCodeDistribution={"200": 1000}, errorDistribution={"timeout": 7}, errors_of={1: 7})
    light, heavy = mix("open", report=report).classes
    assert (light.failed, heavy.failed) == (0, 7)
    assert (there(light.response_time_ms).censored, there(heavy.response_time_ms).censored) == (0, 7)

"""tandem.judge.measure: a window from synthetic counters that grow at known rates."""

from dataclasses import replace

import numpy as np
import pytest
from harness_samples import make_rows
from harness_windows import (
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

from tandem.hosts.host import HostCpu, Usage
from tandem.judge.measure import window
from tandem.load.generator import Report
from tandem.load.rows import Rows
from tandem.probes.haproxy import ProxyCounters
from tandem.probes.sampler import Counted, Probed, Series
from tandem.probes.switches import ContextSwitches
from tandem.record.window import DbRtt, Distance, Verdict, Window


@pytest.fixture
def closed() -> Window:
    return window(measured(), conditions())


def test_the_generators_figures_of_a_closed_loop(closed: Window) -> None:
    assert (closed.load, closed.connections, closed.offered_rps) == ("closed", 1, None)
    assert (closed.measured_s, closed.requests, closed.good, closed.failed) == (7.0, 1000, 1000, {})
    assert closed.goodput_rps == pytest.approx(100, rel=0.002)
    assert closed.little == pytest.approx(0.5, abs=0.001)  # 5 ms of every 10 ms
    assert closed.service_time_ms.mean == pytest.approx(5.0)
    assert closed.service_time_ms.samples == pytest.approx(700, abs=1)
    assert (closed.response_time_ms, closed.lateness_ms, closed.scheduled, closed.unsent) == (None,) * 4
    assert closed.verdict is Verdict.OK
    assert closed.findings == []


def test_the_round_trip_to_the_database_is_handed_on(closed: Window) -> None:
    trip = DbRtt(setting=15, before_p50=15.5, during_p50=16.0, during_p90=17.0, samples=12)
    assert window(measured(Distance(db_rtt_ms=trip)), conditions()).db_rtt_ms == trip
    assert closed.db_rtt_ms is None


def test_the_generators_figures_of_an_open_loop() -> None:
    opened = window(measured(), conditions("open"))
    assert (opened.offered_rps, opened.scheduled, opened.unsent, opened.little) == (RATE, 1000, 0, None)
    assert opened.response_time_ms is not None
    assert opened.lateness_ms is not None
    assert (opened.response_time_ms.samples, opened.lateness_ms.samples) == (700, 700)
    assert opened.response_time_ms.max == pytest.approx(5.0)
    assert opened.lateness_ms.max == pytest.approx(0.0, abs=1e-6)


def test_cores_are_seconds_per_second_of_the_steady_part(closed: Window) -> None:
    for role in CPUSETS:
        assert closed.roles[role].cpu_cores == pytest.approx(CORES[role])
    assert closed.roles.keys() == CPUSETS.keys()  # the harness is told with the host


def test_start_and_end_are_cut_off() -> None:
    """All of the application's work is done in the first two seconds and the last one."""
    early = {f"{t}": min(max(t, 0.0), 2.0) + max(t - 9.0, 0.0) for t in np.arange(-1, 11.5, 0.5).tolist()}
    samples = [
        sample(float(t), usage={**sample(float(t)).usage, "app": Usage(cpu_s, 0.0, 1000)})
        for t, cpu_s in early.items()
    ]
    found = window(measured(Counted(Series(samples), 6.0)), conditions())
    assert found.roles["app"].cpu_cores == pytest.approx(0.0, abs=1e-9)


def test_cpu_sets_tell_how_many_cores_there_are(closed: Window) -> None:
    assert {name: role.cores_available for name, role in closed.roles.items()} == {
        "app": 2,
        "proxy": 1,
        "pgbouncer": 1,
        "db": 1,
        "loadgen": CPUS,
    }


def test_the_cost_of_a_request_counts_the_probes_too(closed: Window) -> None:
    """0.8 cores over the 12 s between the first and the last sample, for 1000 requests and 20 probes."""
    assert closed.app_cpu_us_per_request == pytest.approx(0.8 * 12 / 1020 * 1e6)


def test_what_of_it_the_kernel_used() -> None:
    """A quarter of the CPU time, by the kernel's own split; where it tells none nobody knows."""
    assert window(measured(), conditions()).app_system_cpu_us_per_request is None
    samples = [
        replace(one, usage={**one.usage, "app": replace(app, system_s=app.cpu_s / 4)})
        for one in series().samples
        for app in [one.usage["app"]]
    ]
    split = window(measured(Counted(Series(samples), 6.0)), conditions())
    assert split.app_system_cpu_us_per_request == pytest.approx(0.8 * 12 / 1020 * 1e6 / 4)


def test_context_switches_are_told_for_each_request() -> None:
    assert window(measured(), conditions()).app_context_switches_per_request is None
    found = window(measured(ContextSwitches(2040)), conditions())
    assert found.app_context_switches_per_request == pytest.approx(2.0)


def test_without_answers_a_request_has_no_cost() -> None:
    found = window(measured(Probed(0, [], []), ContextSwitches(3), rows=make_rows([], [])), conditions())
    assert found.app_cpu_us_per_request is None
    assert found.app_context_switches_per_request is None
    assert (found.requests, found.good, found.goodput_rps, found.little) == (0, 0, 0.0, None)


def test_the_busiest_thread_is_told_in_cores(closed: Window) -> None:
    assert closed.roles["app"].busiest_thread_cores == pytest.approx(0.6)
    assert closed.roles["db"].busiest_thread_cores is None
    unknown = window(measured(Counted(series(), None)), conditions())
    assert unknown.roles["app"].busiest_thread_cores is None


def test_memory_is_the_largest_sample() -> None:
    usage = {role: Usage(99.0, 0.75 if role == "db" else 0.5, 1000) for role in CORES}
    usage["app"] = Usage(99.0, 0.5, 77_777)
    found = window(measured(Counted(series(usage=usage), 6.0)), conditions())
    assert found.app_memory_peak_bytes == found.roles["app"].memory_peak_bytes == 77_777
    assert found.roles["proxy"].memory_peak_bytes == 1000
    assert (found.roles["db"].throttled_s, found.roles["app"].throttled_s) == (0.25, 0.0)


def test_the_shares_of_the_host(closed: Window) -> None:
    assert closed.host.steal_share == pytest.approx(STEAL_CORES / CPUS)
    assert closed.host.steal_told is True
    assert closed.host.softirq_share == pytest.approx(SOFTIRQ_CORES / CPUS)
    assert closed.host.foreign_cpu_share == pytest.approx(FOREIGN_CORES / CPUS)
    assert closed.host.harness_cpu_cores == pytest.approx(CORES["harness"])


def test_foreign_cpu_is_never_negative() -> None:
    """Counters of containers and of the host are not read in the same instant."""
    samples = [
        sample(float(t), host=HostCpu(busy_s=0.1 * t, softirq_s=0, steal_s=0, total_s=CPUS * t))
        for t in range(-1, 12)
    ]
    found = window(measured(Counted(Series(samples), 6.0)), conditions()).host
    assert found.foreign_cpu_share == 0.0
    assert (found.steal_share, found.steal_told) == (0.0, False), "a kernel that never counted any"


def test_foreign_cpu_is_found_where_groups_contain_interrupts() -> None:
    """Where interrupts are charged to the process that they came upon, the groups together have more than user and system
    time, and a tenth of a core of somebody else's was hidden behind them."""

    def foreign(thief_cores: float, processes: bool = True) -> tuple[float, tuple[float, float]]:
        ours, softirq = sum(CORES.values()), 0.3
        samples = [
            sample(
                float(t),
                host=HostCpu(
                    busy_s=(ours + thief_cores - softirq) * t,
                    softirq_s=softirq * t,
                    steal_s=0.0,
                    total_s=CPUS * t,
                    processes_s=(ours + thief_cores) * t if processes else None,
                ),
            )
            for t in range(-1, 12)
        ]
        found = window(measured(Counted(Series(samples), 6.0)), conditions()).host
        assert found.foreign_cpu_share is not None
        assert found.foreign_cpu_interval is not None
        return found.foreign_cpu_share, found.foreign_cpu_interval

    for thief in (0.05, 0.1, 0.2):
        assert foreign(thief)[0] == pytest.approx(thief / CPUS)
    assert foreign(0.0)[0] == pytest.approx(0.0, abs=1e-9)
    # Without the groups' sum only an interval is known, and it holds the truth.
    share, (least, most) = foreign(0.2, processes=False)
    assert (share, least) == (0.0, 0.0)
    assert most == pytest.approx(0.2 / CPUS)


def test_the_proxys_count_is_of_the_whole_window(closed: Window) -> None:
    assert closed.proxy is not None
    assert closed.proxy.responses_2xx == 1200  # 100/s in the 12 s between the samples
    assert (closed.proxy.responses_other, closed.proxy.connection_errors, closed.proxy.response_errors) == (
        0,
        0,
        0,
    )
    assert (closed.proxy.queue_max, closed.proxy.in_flight_mean) == (5, 8.0)
    assert closed.proxy.queue_mean == 5.0
    assert closed.proxy.connections_opened == 20 * (DURATION_S + 2)


def test_the_proxys_gauges_are_of_the_steady_part() -> None:
    proxy = ProxyCounters(999_999, 13, 11, 12, queue_now=1000, in_flight_now=1000)
    found = window(measured(Counted(series(proxy=proxy), 6.0)), conditions())
    assert found.proxy is not None
    assert (found.proxy.queue_max, found.proxy.in_flight_mean) == (5, 8.0)
    assert (found.proxy.responses_other, found.proxy.connection_errors, found.proxy.response_errors) == (
        10,
        10,
        10,
    )


def test_the_poolers_count(closed: Window) -> None:
    assert closed.pooler is not None
    assert closed.pooler.queries == 9600
    assert closed.pooler.wait_us_per_query == pytest.approx(2.0)
    assert (closed.pooler.clients_waiting_max, closed.pooler.servers_active_max) == (4, 6)
    assert closed.pooler.servers_active_mean == pytest.approx(6.0)


def test_a_topology_without_proxy_and_pooler() -> None:
    samples = [sample(float(t), proxy=None, pooler=None) for t in range(-1, 12)]
    found = window(measured(Counted(Series(samples), 6.0)), conditions())
    assert (found.proxy, found.pooler) == (None, None)


def test_counters_that_began_too_late_are_not_guessed() -> None:
    samples = [sample(-1.0, proxy=None, pooler=None), *(sample(float(t)) for t in range(12))]
    found = window(measured(Counted(Series(samples), 6.0)), conditions())
    assert (found.proxy, found.pooler) == (None, None)


def test_every_failure_is_counted_by_its_reason() -> None:
    some = rows()
    some.status[:7] = 503
    some.length_bytes[7:10] = 12
    report = Report(
        statusCodeDistribution={"200": 993, "503": 7}, errorDistribution={"deadline": 4, "refused": 2}
    )
    found = window(
        measured(Probed(20, ["a", "b"], ["c"]), rows=some, report=report),
        conditions("open"),
    )
    assert found.failed == {
        "status 503": 7,
        "wrong length": 3,
        "error: deadline": 4,
        "error: refused": 2,
        "probe not answered": 2,
    }
    assert (found.requests, found.good) == (1000, 990)
    assert found.probe_failures == ["c"]


def test_wrong_answers_are_no_goodput_and_have_no_times() -> None:
    some = rows()
    some.status[500:] = 503
    found = window(measured(rows=some), conditions("open"))
    assert found.goodput_rps == pytest.approx(300 / 7, rel=0.01)
    assert found.service_time_ms.samples == pytest.approx(300, abs=1)
    assert found.response_time_ms is not None
    assert found.response_time_ms.samples - found.response_time_ms.censored == 300


def test_errors_are_not_unsent() -> None:
    report = Report(statusCodeDistribution={"200": 500}, errorDistribution={"deadline": 300})
    half = rows()
    half = Rows(
        half.start_s[:500], half.paced_s[:500], half.end_s[:500], half.status[:500], half.length_bytes[:500]
    )
    found = window(measured(rows=half, report=report), conditions("open"))
    assert (found.scheduled, found.unsent) == (1000, 200)

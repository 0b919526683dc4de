"""tandem.judge.measure: seconds, histograms, censored samples, what is read before and after, accounts."""

from array import array

import numpy as np
import pytest
from harness_samples import make_rows
from harness_windows import BEGAN_S, CPUS, DURATION_S, STEAL_CORES, conditions, measured, rows, sample

from tandem.analysis.histogram import curve, recorded
from tandem.hosts.host import Clocks, HostCpu, Oversleep, Usage
from tandem.judge.measure import window
from tandem.load.generator import Report
from tandem.probes.disturbances import Disturbances
from tandem.probes.sampler import Counted, Series
from tandem.record.window import Window


@pytest.fixture
def closed() -> Window:
    return window(measured(), conditions())


# ---- second by second ----


def test_the_measured_part_second_by_second(closed: Window) -> None:
    table = closed.per_second
    assert table is not None
    assert table.second == [2, 3, 4, 5, 6, 7, 8]
    assert table.good == [100] * 7
    assert table.app_cpu_s == pytest.approx([0.8] * 7)
    assert table.steal_share == pytest.approx([STEAL_CORES / CPUS] * 7)
    assert table.role_cpu_s.keys() == closed.roles.keys()
    assert table.role_cpu_s["app"] == table.app_cpu_s
    for role, used in closed.roles.items():
        assert sum(table.role_cpu_s[role]) == pytest.approx(7 * used.cpu_cores)
    assert table.app_memory_bytes == [1000] * 7


def test_a_disturbed_second_is_that_second() -> None:
    """From 5 s to 6 s the hypervisor takes two of four CPUs, the application stands still and answers nothing."""

    def until(t: float) -> float:
        return min(max(t - 5, 0.0), 1.0)

    samples = [
        sample(
            t,
            usage={**sample(t).usage, "app": Usage(0.8 * (t - until(t)), 0.0, 1000)},
            host=HostCpu(busy_s=1.5 * t, softirq_s=0, steal_s=2 * until(t), total_s=CPUS * t),
        )
        for t in np.arange(-1, 11.5, 0.5).tolist()
    ]
    start = np.arange(0, DURATION_S, 0.01)
    kept = start[(start < 5) | (start >= 6)]
    found = window(measured(Counted(Series(samples), 6.0), rows=make_rows(kept, kept + 0.005)), conditions())
    assert found.per_second is not None
    assert found.per_second.good == [100, 100, 100, 0, 100, 100, 100]
    assert found.per_second.app_cpu_s == pytest.approx([0.8, 0.8, 0.8, 0.0, 0.8, 0.8, 0.8], abs=1e-9)
    assert found.per_second.steal_share == pytest.approx([0, 0, 0, 0.5, 0, 0, 0], abs=1e-9)


def test_only_whole_seconds_are_in_the_table() -> None:
    found = window(measured(), conditions(trim_start_s=1.5, trim_end_s=1.5)).per_second
    assert found is not None
    assert found.second == [2, 3, 4, 5, 6, 7]
    short = window(measured(), conditions(trim_start_s=5.2, trim_end_s=4.2)).per_second
    assert short is not None
    assert short.second == short.good == short.app_cpu_s == short.steal_share == []


# ---- what never came ----


def test_errors_and_wrong_answers_are_in_the_response_times() -> None:
    some = rows()
    some.status[500:510] = 503  # due inside the measured part
    some.status[:5] = 503  # due before it
    report = Report(statusCodeDistribution={"200": 985, "503": 15}, errorDistribution={"deadline": 20})
    found = window(measured(rows=some, report=report), conditions("open"))
    times = found.response_time_ms
    assert times is not None
    assert (times.samples, times.censored, times.mean, times.max) == (720, 30, None, 10_000)
    durations_s, counts = recorded(found.response_time_hdr or "")
    assert counts.sum() == times.samples
    assert durations_s.max() == pytest.approx(10, rel=0.001)
    assert found.service_time_ms.censored == 0


def test_the_histograms_agree_with_the_times() -> None:
    found = window(measured(), conditions("open"))
    for encoded, times in (
        (found.service_time_hdr, found.service_time_ms),
        (found.response_time_hdr, found.response_time_ms),
    ):
        assert times is not None
        _, counts = recorded(encoded or "")
        assert counts.sum() == times.samples
        [(_, p50)] = curve([encoded or ""], [0.5])
        assert p50 == pytest.approx(times.p50, rel=0.001)
    assert window(measured(), conditions()).response_time_hdr is None


@pytest.mark.parametrize(("waits", "mean"), [([0, 4, 8, 4], 4.0), ([None] * 4, None)])
def test_waits_for_locks_are_the_mean_of_the_samples(waits: list[int | None], mean: float | None) -> None:
    """Of those inside the measured part."""
    samples = [sample(-0.5, lock_waits=50), *(sample(3 + at, lock_waits=n) for at, n in enumerate(waits))]
    series = Series([*samples, sample(DURATION_S + 0.5, lock_waits=50)])
    assert window(measured(Counted(series, 6.0)), conditions()).lock_waits_mean == mean


# ---- time that must pass ----


def test_the_quickest_answer_is_of_the_whole_window() -> None:
    some = rows()
    some.end_s[3] = some.start_s[3] + 0.001  # before the measured part
    some.end_s[5], some.status[5] = some.start_s[5], 503  # no answer
    assert window(measured(rows=some), conditions()).answer_ms_min == pytest.approx(1.0)


# ---- before and after ----


def clocks(wall_s: float, monotonic_s: float, source: str | None = "tsc") -> Clocks:
    return Clocks(wall_s, monotonic_s, source)


@pytest.mark.parametrize(
    ("after", "drift_ms", "changed"),
    [
        (clocks(1012.0, 62.0), 0.0, False),
        (clocks(1012.5, 62.0), 500.0, False),
        (clocks(1011.9, 62.0), -100.0, False),
        (clocks(1012.0, 62.0, "hpet"), 0.0, True),
        (clocks(1012.0, 62.0, None), 0.0, None),
    ],
)
def test_the_clocks(after: Clocks, drift_ms: float, changed: bool | None) -> None:
    watched = Disturbances(None, (clocks(1000.0, 50.0), after), swapped_pages=3, listen_overflows=None)
    host = window(measured(watched), conditions()).host
    assert host.clock_drift_ms == pytest.approx(drift_ms)
    assert host.clock_changed is changed
    assert (host.hiccup, host.swapped_pages, host.listen_overflows) == (None, 3, None)


def test_the_hiccups_are_those_of_the_measured_part() -> None:
    at_s = BEGAN_S + np.arange(0, DURATION_S, 0.005)
    longer = np.where(at_s < BEGAN_S + 2, 0.5, 0.0001)  # half a second, but all of it while warming
    oversleep = Oversleep(True, 0.01, array("d", at_s), array("d", longer))
    watched = Disturbances(oversleep, (clocks(0, 0), clocks(1, 1)), 0, 0)
    hiccup = window(measured(watched), conditions()).host.hiccup
    assert hiccup is not None
    assert hiccup.realtime
    assert hiccup.max_ms == pytest.approx(0.1)
    assert hiccup.p999_ms == pytest.approx(0.1)
    assert hiccup.samples == pytest.approx(1400, abs=2)


# ---- accounts ----


def test_the_generators_two_counts(closed: Window) -> None:
    assert (closed.rows_2xx, closed.reported_2xx) == (1000, 1000)
    lost = Report(statusCodeDistribution={"200": 990, "204": 5, "503": 9})
    assert window(measured(report=lost), conditions()).reported_2xx == 995


def test_what_is_in_flight_by_the_rows() -> None:
    assert window(measured(), conditions("open")).in_flight_mean == pytest.approx(0.5, abs=0.001)


def test_the_utilisation_law(closed: Window) -> None:
    """100/s at 0.4 of the database's single core: 250/s; the application has two cores and uses 0.8: also 250/s."""
    assert closed.utilisation_bound_rps == pytest.approx(250, rel=0.01)
    assert closed.utilisation_bound_by in ("app", "db")

"""tandem.judge.disturbance and tandem.judge.accounting: every gate passes a good window and is seen to fail on a bad one."""

from array import array
from typing import Any, Literal

import numpy as np
import pytest
from harness_samples import EXPECTED, REQUESTS, good_window, host, role

from tandem.hosts.host import Oversleep
from tandem.judge.accounting import utilisation_bound
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.judge.disturbance import GATES, cannot_judge, hiccup
from tandem.judge.judge import gates, verdict
from tandem.record.host import Hiccup
from tandem.record.window import Verdict, Window

Load = Literal["closed", "open"]


def found(window: Window) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in gates(window, EXPECTED)]


def meter(**changes: Any) -> Hiccup:
    quiet = good_window().host.hiccup
    assert quiet is not None
    return quiet.model_copy(update=changes)


@pytest.mark.parametrize("load", ["closed", "open"])
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"hiccup": meter(p999_ms=4.9, max_ms=99.0)}, []),
        ({"hiccup": meter(p999_ms=5.1)}, [("hiccup", "warning")]),
        ({"hiccup": meter(p999_ms=5.1, max_ms=101.0)}, [("hiccup", "void")]),
        ({"hiccup": meter(p999_ms=None, max_ms=101.0)}, [("hiccup", "void")]),
        ({"hiccup": meter(realtime=False, p999_ms=50.0, max_ms=900.0)}, []),
        ({"hiccup": None}, []),
        ({"clock_drift_ms": 19.0}, []),
        ({"clock_drift_ms": 21.0}, [("clock", "void")]),
        ({"clock_drift_ms": -21.0}, [("clock", "void")]),
        ({"clock_drift_ms": None}, []),
        ({"clock_changed": True}, [("clock", "void")]),
        ({"clock_changed": None}, []),
        ({"swapped_pages": 1}, [("swap", "warning")]),
        ({"swapped_pages": 1001}, [("swap", "void")]),
        ({"swapped_pages": None}, []),
        ({"listen_overflows": 1}, [("listen-overflow", "warning")]),
        ({"listen_overflows": None}, []),
    ],
)
def test_what_the_host_did(load: Load, changes: dict[str, Any], told: list[tuple[str, str]]) -> None:
    assert found(good_window(load, host=host(**changes))) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rows_2xx": REQUESTS - 12}, []),
        ({"rows_2xx": REQUESTS - 13}, [("rows-mismatch", "invalid")]),
        ({"rows_2xx": REQUESTS + 13}, [("rows-mismatch", "invalid")]),
        ({"reported_2xx": 0}, [("rows-mismatch", "invalid")]),
        ({"reported_2xx": None}, []),
        ({"utilisation_bound_rps": REQUESTS / 30 / 1.023}, []),
        ({"utilisation_bound_rps": REQUESTS / 30 / 1.025}, [("utilisation-law", "invalid")]),
        ({"utilisation_bound_rps": REQUESTS / 30 / 1.05, "measured_s": 3.0}, []),
        (
            {"utilisation_bound_rps": REQUESTS / 30 / 1.06, "measured_s": 3.0},
            [("utilisation-law", "invalid")],
        ),
        ({"utilisation_bound_rps": None}, []),
    ],
)
@pytest.mark.parametrize("load", ["closed", "open"])
def test_two_counts_of_the_same_thing(
    load: Load, changes: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    assert found(good_window(load, **changes)) == told


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (0.9, []),
        (4.4, []),
        (0.7, [("littles-law", "warning")]),
        (5.5, [("littles-law", "warning")]),
        (None, []),
    ],
)
def test_in_flight_by_the_rows_and_by_the_proxy(rows: float | None, told: list[tuple[str, str]]) -> None:
    """HAProxy's mean is 2.9; one more than the rows is the harness's own probe."""
    assert found(good_window("open", in_flight_mean=rows)) == told


@pytest.mark.parametrize(("sampled", "ok"), [(89.0, True), (111.0, True), (85.0, False), (115.0, False)])
def test_of_many_in_flight_a_tenth_is_forgiven(sampled: float, ok: bool) -> None:
    window = good_window("open", in_flight_mean=100.0)
    assert window.proxy is not None
    window.proxy.in_flight_mean = sampled
    assert (found(window) == []) is ok


@pytest.mark.parametrize(("error", "ok"), [(0.0, False), (0.9, False), (1.1, True), (None, True)])
def test_few_samples_of_bursts_are_forgiven(error: float | None, ok: bool) -> None:
    window = good_window("open", in_flight_mean=10.0)
    assert window.proxy is not None
    window.proxy.in_flight_mean, window.proxy.in_flight_error = 16.0, error
    assert (found(window) == []) is ok


def test_a_closed_loop_is_not_asked_for_the_proxys_in_flight() -> None:
    assert found(good_window("closed", in_flight_mean=10.0)) == []


def test_a_clock_step_excuses_load_but_no_wrong_body() -> None:
    changed = host(clock_drift_ms=500.0)
    late = good_window("open", host=changed, scheduled=2 * REQUESTS)
    assert found(late) == [("incomplete", "void"), ("clock", "void")]
    liar = good_window("open", host=changed, probe_failures=["/: differs"])
    assert verdict(gates(liar, EXPECTED)) is Verdict.INVALID


# ---- the meter's figures ----


def slept(longer_ms: Any, realtime: bool = True) -> Oversleep:
    longer = np.asarray(longer_ms, dtype=np.float64) / 1e3
    at_s = 100 + np.arange(len(longer)) * 0.005
    return Oversleep(realtime, 0.01, array("d", at_s), array("d", longer))


def test_a_hiccup_is_found_where_it_was() -> None:
    longer = np.full(4000, 0.1)
    longer[1000] = 250.0  # at 105 s
    inside, outside = hiccup(slept(longer), 102, 110), hiccup(slept(longer), 106, 120)
    assert inside is not None
    assert outside is not None
    assert inside.max_ms == pytest.approx(250)
    assert outside.max_ms == pytest.approx(0.1)
    assert inside.p999_ms == pytest.approx(0.1)
    assert inside.samples == 1601


def test_what_the_meter_cannot_say_is_null() -> None:
    assert hiccup(None, 0, 1) is None
    assert hiccup(slept([0.1] * 10), 0, 1) is None
    few = hiccup(slept([0.1] * 10), 100, 101)
    assert few is not None
    assert few.p999_ms is None


# ---- the utilisation law ----


def test_the_bound_is_that_of_the_first_set_to_be_exhausted() -> None:
    roles = {
        "app": role(0.5, "2-3", 2),
        "db": role(0.4, "1"),
        "loadgen": role(0.3, "0"),
        "proxy": role(0.3, "0"),
    }
    found_rps, by = utilisation_bound(300, roles) or (0.0, "")
    assert found_rps == pytest.approx(500)  # 0.6 of CPU 0 at 300/s
    assert by == "loadgen+proxy"
    roles["app"] = role(1.6, "2-3", 2)
    found_rps, by = utilisation_bound(300, roles) or (0.0, "")
    assert found_rps == pytest.approx(375)
    assert by == "app"


def test_without_use_or_answers_there_is_no_bound() -> None:
    assert utilisation_bound(300, {"app": role(0.0)}) is None
    assert utilisation_bound(0, {"app": role(0.5)}) is None


def test_the_bound_is_told_with_the_bottleneck() -> None:
    _, evidence = bottleneck(good_window(), Concurrency(50))
    assert "at this cost per request the CPUs of app would be exhausted at 800/s" in evidence


# ---- gates that cannot judge ----

SILENT: dict[str, Any] = {
    "steal_share": 0.0,
    "steal_told": False,
    "foreign_cpu_share": None,
    "hiccup": None,
    "clock_drift_ms": None,
    "swapped_pages": None,
    "listen_overflows": None,
}
"""A host that tells nothing."""


def test_gates_with_nothing_to_go_by_are_named() -> None:
    assert list(cannot_judge([host(**SILENT)] * 3)) == list(GATES)
    assert cannot_judge([host()]) == {}, "the control: a host that tells all"
    assert cannot_judge([host(**SILENT), host()]) == {}, "one window in which it could is enough"


@pytest.mark.parametrize(
    ("changes", "gate"),
    [
        ({"steal_share": 0.0, "steal_told": False}, "steal"),
        ({"foreign_cpu_share": None}, "foreign CPU"),
        ({"foreign_cpu_share": 0.0}, "foreign CPU"),
        ({"hiccup": None}, "hiccups"),
        ({"hiccup": meter(realtime=False)}, "hiccups"),
        ({"clock_drift_ms": None}, "clock"),
        ({"swapped_pages": None}, "swap"),
        ({"listen_overflows": None}, "listen queue"),
    ],
)
def test_each_gate_that_cannot_judge_is_named_by_itself(changes: dict[str, Any], gate: str) -> None:
    assert list(cannot_judge([host(**changes)] * 2)) == [gate]


@pytest.mark.parametrize(
    "changes",
    [
        {"steal_share": 0.0, "steal_told": True},  # a quiet hypervisor that has been busy
        {"steal_share": 0.0, "steal_told": None},  # an older record: nobody knows
        {"swapped_pages": 0, "listen_overflows": 0, "clock_drift_ms": 0.0},  # quiet, and told
    ],
)
def test_what_is_quiet_is_not_silent(changes: dict[str, Any]) -> None:
    assert cannot_judge([host(**changes)] * 2) == {}

"""tandem.judge.disturbance: gates on what the host did."""

from array import array
from typing import Any, Literal

import numpy as np
import pytest
from harness_samples import EXPECTED, REQUESTS, codes, good_window, host, proxy, role, there

from tandem.hosts.host import Oversleep
from tandem.judge.disturbance import GATES, cannot_judge, cost_us_per_request, hiccup, host_speed
from tandem.judge.judge import gates, utilisation_bound, verdict
from tandem.judge.windows import since_closed
from tandem.record.host import Hiccup, PerSecond
from tandem.record.window import Finding, Verdict, Window

Load = Literal["closed", "open"]
Codes = list[tuple[str, str]]
RATE = REQUESTS / 30


def meter(**changes: Any) -> Hiccup:
    return there(good_window().host.hiccup).model_copy(update=changes)


@pytest.mark.parametrize("load", ["closed", "open"])
@pytest.mark.parametrize(
    ("field", "code", "fine", "warned", "void"),
    [
        ("steal_share", "steal", [0.019], [0.021], [0.101]),
        ("foreign_cpu_share", "foreign-cpu", [0.049, None], [0.051], [0.151]),
        ("harness_cpu_cores", "harness-cpu", [0.049, None], [0.051], []),
        ("clock_drift_ms", "clock", [19.0, None], [], [21.0, -21.0]),
        ("clock_changed", "clock", [None], [], [True]),
        ("swapped_pages", "swap", [None], [1, 1000], [1001]),
        ("listen_overflows", "listen-overflow", [None], [1], []),
        (
            "hiccup",
            "hiccup",
            [meter(p999_ms=4.9, max_ms=99.0), meter(realtime=False, p999_ms=50.0, max_ms=900.0), None],
            [meter(p999_ms=5.1)],
            [meter(p999_ms=5.1, max_ms=101.0), meter(p999_ms=None, max_ms=101.0)],
        ),
    ],
)
def test_what_the_host_did(
    load: Load, field: str, code: str, fine: list[Any], warned: list[Any], void: list[Any]
) -> None:
    """fine, warned, void: values without a finding, with a warning, and with one that voids the window."""
    for severity, values in ((None, fine), ("warning", warned), ("void", void)):
        for value in values:
            window = good_window(load, host=host(**{field: value}))
            assert codes(window) == ([(code, severity)] if severity else []), value


@pytest.mark.parametrize("load", ["closed", "open"])
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        *((seen, []) for seen in ({"rows_2xx": REQUESTS - 12}, {"reported_2xx": None})),
        *(({"rows_2xx": REQUESTS + n}, [("rows-mismatch", "invalid")]) for n in (-13, 13)),
        ({"reported_2xx": 0}, [("rows-mismatch", "invalid")]),
        ({"utilisation_bound_rps": RATE / 1.023}, []),
        ({"utilisation_bound_rps": RATE / 1.025}, [("utilisation-law", "invalid")]),
        ({"utilisation_bound_rps": RATE / 1.05, "measured_s": 3.0}, []),
        ({"utilisation_bound_rps": RATE / 1.06, "measured_s": 3.0}, [("utilisation-law", "invalid")]),
        ({"utilisation_bound_rps": None}, []),
    ],
)
def test_two_counts_of_the_same_thing(load: Load, changes: dict[str, Any], told: Codes) -> None:
    assert codes(good_window(load, **changes)) == told


@pytest.mark.parametrize(
    ("load", "rows", "sampled", "error", "ok"),
    [
        # One more than the rows is the harness's own probe.
        *(("open", rows, 2.9, 0.0, True) for rows in (0.9, 4.4, None)),
        *(("open", rows, 2.9, 0.0, False) for rows in (0.7, 5.5)),
        # Of many in flight a tenth is forgiven, and few samples of bursts are.
        *(("open", 100.0, sampled, 0.0, True) for sampled in (89.0, 111.0)),
        *(("open", 100.0, sampled, 0.0, False) for sampled in (85.0, 115.0)),
        *(("open", 10.0, 16.0, error, False) for error in (0.0, 0.9)),
        *(("open", 10.0, 16.0, error, True) for error in (1.1, None)),
        ("closed", 10.0, 49.0, 0.0, True),
    ],
)
def test_in_flight_by_the_rows_and_by_the_proxy(
    load: Load, rows: float | None, sampled: float, error: float | None, ok: bool
) -> None:
    seen = proxy(in_flight_mean=sampled, in_flight_error=error)
    window = good_window(load, in_flight_mean=rows, proxy=seen)
    assert codes(window) == [("littles-law", "warning")] * (not ok)


def test_a_clock_step_excuses_load_but_no_wrong_body() -> None:
    changed = host(clock_drift_ms=500.0)
    late = good_window("open", host=changed, scheduled=2 * REQUESTS)
    assert codes(late) == [("incomplete", "void"), ("clock", "void")]
    liar = good_window("open", host=changed, probe_failures=["/: differs"])
    assert verdict(gates(liar, EXPECTED)) is Verdict.INVALID


# ---- the figures ----


def slept(longer_ms: Any) -> Oversleep:
    longer = np.asarray(longer_ms, dtype=np.float64) / 1e3
    at_s = 100 + np.arange(len(longer)) * 0.005
    return Oversleep(True, 0.01, array("d", at_s), array("d", longer))


def test_a_hiccup_is_found_where_it_was() -> None:
    longer = np.full(4000, 0.1)
    longer[1000] = 250.0  # at 105 s
    inside = there(hiccup(slept(longer), 102, 110))
    assert (inside.max_ms, inside.p999_ms, inside.samples) == pytest.approx((250, 0.1, 1601))
    assert there(hiccup(slept(longer), 106, 120)).max_ms == pytest.approx(0.1)


def test_what_the_meter_cannot_say_is_null() -> None:
    assert hiccup(None, 0, 1) is hiccup(slept([0.1] * 10), 0, 1) is None
    assert there(hiccup(slept([0.1] * 10), 100, 101)).p999_ms is None


def test_the_bound_is_that_of_the_first_set_to_be_exhausted() -> None:
    """At 300/s 0.6 of CPU 0 are used."""
    shared = {"db": role(0.4, "1"), "loadgen": role(0.3, "0"), "proxy": role(0.3, "0")}
    for app_cores, bound in ((0.5, (500, "loadgen+proxy")), (1.6, (375, "app"))):
        rps, by = there(utilisation_bound(300, {"app": role(app_cores, "2-3", 2), **shared}))
        assert (round(rps, 6), by) == bound
    assert utilisation_bound(300, {"app": role(0.0)}) is utilisation_bound(0, {"app": role(0.5)}) is None


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


def test_one_window_in_which_a_gate_could_judge_is_enough() -> None:
    assert tuple(cannot_judge([host(**SILENT)] * 3)) == GATES
    assert cannot_judge([host(**SILENT), host()]) == {}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, []),
        ({"steal_share": 0.0, "steal_told": False}, ["steal"]),
        *(({"foreign_cpu_share": share}, ["foreign CPU"]) for share in (None, 0.0)),
        *(({"hiccup": found}, ["hiccups"]) for found in (None, meter(realtime=False))),
        ({"clock_drift_ms": None}, ["clock"]),
        ({"swapped_pages": None}, ["swap"]),
        ({"listen_overflows": None}, ["listen queue"]),
        # What is quiet, and told, is not silent.
        *(({"steal_share": 0.0, "steal_told": told}, []) for told in (True, None)),
        ({"swapped_pages": 0, "listen_overflows": 0, "clock_drift_ms": 0.0}, []),
    ],
)
def test_a_gate_that_cannot_judge_is_named(changes: dict[str, Any], named: list[str]) -> None:
    assert list(cannot_judge([host(**changes)] * 2)) == named


def window(
    us: float,
    goodput_rps: float = 1000.0,
    app_us: float = 300.0,
    roles: str = "proxy pgbouncer loadgen",
    wake_ups: float | None = None,
    broken: bool = False,
) -> Window:
    """The laboratory's programs use `us` for a request, in equal parts. wake_ups: cores of the harness's meter; follows.
    broken: it has none."""
    names = roles.split()
    costs = {"app": app_us, **{name: us / len(names) for name in names}}
    used = {name: role(cost * goodput_rps / 1e6) for name, cost in costs.items()}
    metered = None if broken else meter(cpu_cores=us * 1e-5 if wake_ups is None else wake_ups)
    return good_window(goodput_rps=goodput_rps, roles=used, host=host(hiccup=metered))


def test_the_cost_of_a_request() -> None:
    assert cost_us_per_request(window(550)) == pytest.approx(550, rel=1e-5)
    assert cost_us_per_request(window(80, roles="loadgen")) == pytest.approx(80)
    assert cost_us_per_request(window(550, goodput_rps=0.0)) is None


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        ([window(555, 869), window(637, 735), window(586, 828)], "555 to 637 µs of CPU (goodput 869 and"),
        ([window(100), window(109)], None),
        # An application that gets dearer is no host that gets slower.
        ([window(555, 869, app_us=300), window(560, 500, app_us=900)], None),
        ([window(555)], None),
        ([], None),
        # Nor does one say anything of a host in which another program was not measured.
        ([window(100), window(50, roles="proxy loadgen")], None),
        # The harness itself has to have met the slower host, as far as its meter says anything.
        ([window(100, wake_ups=0.005), window(130, wake_ups=0.0052)], None),
        ([window(100, wake_ups=0.005), window(130, wake_ups=0.0054)], "cost 100 to 130 µs of CPU"),
        ([window(100), window(130, broken=True)], "cost 100 to 130 µs of CPU"),
        ([window(100, roles="loadgen"), window(130, roles="loadgen")], "loadgen did the same work"),
    ],
)
def test_a_host_that_changes_is_told(closed: list[Window], told: str | None) -> None:
    found = host_speed(closed)
    assert (found is None) == (told is None)
    if found and told:
        assert found.code == "host-speed"
        assert told in found.text


@pytest.mark.parametrize(
    ("us", "wake_ups", "told"),
    [
        (1_477, 0.008577, "void"),  # two windows of one start: a host that got a third slower
        (1_234, 0.007120, "invalid"),  # another of it: more was asked for than it could do
        (900, 0.008577, "invalid"),
    ],
)
def test_what_came_late_on_a_host_that_got_slower_is_void(us: float, wake_ups: float, told: str) -> None:
    late = window(us, 263.9, wake_ups=wake_ups)
    late.findings = [Finding.of("incomplete", "invalid", "92.1%")]
    found = {one.code: one.severity for one in since_closed(late, window(860, 461.0, wake_ups=0.006897))}
    assert found == {"incomplete": told, **({"host-speed": "void"} if told == "void" else {})}
    late.findings = []
    assert since_closed(late, window(860, 461.0, wake_ups=0.006897)) == [], "nothing to excuse"


def seconds(first: float, last: float, **of: float) -> PerSecond:
    """Thirty seconds of 500 answers; the CPU time of each role in each second of the first half and of the last. of: a role
    that uses another one in the last."""
    roles = ("app", "db", "proxy", "pgbouncer", "loadgen")
    each = {role: [first] * 15 + [of.get(role, last)] * 15 for role in roles}
    columns = {"second": [*range(30)], "good": [500] * 30, "steal_share": [0.0] * 30}
    return PerSecond.model_validate({**columns, "app_cpu_s": each["app"], "role_cpu_s": each})


LATE = {"scheduled": REQUESTS + 600, "unsent": 600}


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (seconds(0.1, 0.2), Verdict.VOID),
        (seconds(0.1, 0.15001), Verdict.VOID),
        (seconds(0.1, 0.149), Verdict.INVALID),
        (seconds(0.1, 0.2, proxy=0.12), Verdict.INVALID),
        (None, Verdict.INVALID),
    ],
)
def test_a_window_in_which_the_host_got_slower_says_nothing_of_what_it_missed(
    seen: PerSecond | None, wanted: Verdict
) -> None:
    window = good_window("open", per_second=seen, **LATE)
    found = gates(window, EXPECTED)
    assert verdict(found) is wanted
    assert ("host-speed" in {one.code for one in found}) == (wanted is Verdict.VOID)


def test_who_missed_nothing_was_not_slowed() -> None:
    assert codes(good_window("open", per_second=seconds(0.1, 0.2))) == []

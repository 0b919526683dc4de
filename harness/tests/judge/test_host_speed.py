"""tandem.judge.host_speed: what the laboratory's own programs cost per request, from start to start."""

import pytest
from harness_samples import good_window

from tandem.judge.host_speed import cost_us_per_request, host_speed
from tandem.record.window import Role, Window


def window(
    us: float,
    goodput_rps: float = 1000.0,
    app_us: float = 300.0,
    roles: str = "proxy pgbouncer loadgen",
    wake_ups: float | None = None,
) -> Window:
    """The laboratory's programs use `us` for a request, in equal parts. wake_ups: cores of the harness's meter; follows."""
    names = roles.split()
    costs = {"app": app_us, **{name: us / len(names) for name in names}}
    used = {
        name: Role(
            cpu_cores=cost * goodput_rps / 1e6,
            cpuset="0",
            cores_available=1,
            memory_peak_bytes=1,
            throttled_s=0.0,
            busiest_thread_cores=None,
        )
        for name, cost in costs.items()
    }
    found = good_window(goodput_rps=goodput_rps, roles=used)
    assert found.host.hiccup
    found.host.hiccup.cpu_cores = us * 1e-5 if wake_ups is None else wake_ups
    return found


def test_the_cost_of_a_request() -> None:
    assert cost_us_per_request(window(550)) == pytest.approx(550, rel=1e-5)
    assert cost_us_per_request(window(80, roles="loadgen")) == pytest.approx(80)
    assert cost_us_per_request(window(550, goodput_rps=0.0)) is None


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        (
            [window(555, 869), window(637, 735), window(586, 828)],
            "cost 555 to 637 µs of CPU (goodput 869 and 735/s)",
        ),
        ([window(100), window(109)], None),
        # An application that gets dearer is no host that gets slower.
        ([window(555, 869, app_us=300), window(560, 500, app_us=900)], None),
        ([window(555)], None),
        ([], None),
        (
            [window(100, roles="loadgen"), window(130, roles="loadgen")],
            "loadgen did the same work per request",
        ),
    ],
)
def test_a_host_that_changes_is_told(closed: list[Window], told: str | None) -> None:
    found = host_speed(closed)
    assert (found is None) == (told is None)
    if found and told:
        assert found.code == "host-speed"
        assert told in found.text


def test_a_program_that_was_not_measured_in_one_start_ends_the_comparison() -> None:
    assert host_speed([window(100), window(50, roles="proxy loadgen")]) is None


def test_the_harness_itself_has_to_have_met_the_slower_host() -> None:
    """Else it was the application that made the others' work dearer."""
    assert host_speed([window(100, wake_ups=0.005), window(130, wake_ups=0.0052)]) is None
    assert host_speed([window(100, wake_ups=0.005), window(130, wake_ups=0.0054)]) is not None
    broken = window(130)
    broken.host.hiccup = None
    assert host_speed([window(100), broken]) is not None, "a meter that broke says nothing"

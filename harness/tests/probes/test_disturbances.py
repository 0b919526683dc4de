"""tandem.probes.disturbances, on the real kernel."""

import os
import time

import pytest

from tandem.hosts import HERE
from tandem.probes.disturbances import DisturbanceProbe, meter_cpus


@pytest.mark.parametrize(
    ("cpusets", "cpus"), [(("1", "0"), [0, 1]), (("2-3", "2,5"), [2]), (("", "0"), None), (("4",), [4])]
)
def test_a_meter_for_each_set(cpusets: tuple[str, ...], cpus: list[int] | None) -> None:
    assert meter_cpus(*cpusets) == cpus


def test_a_watch_of_this_very_process() -> None:
    watch = DisturbanceProbe(HERE, os.getpid(), "0")
    watch.start()
    time.sleep(0.3)
    watch.stop()
    found = watch.part("any")
    assert found is not None
    before, after = found.clocks
    assert after.monotonic_s - before.monotonic_s >= 0.3
    assert found.listen_overflows == 0
    assert found.oversleep is not None

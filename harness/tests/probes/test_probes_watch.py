"""tandem.probes.hiccup, .watch and the clocks: the real kernel, and captures of what it writes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness_places import ROOT

from tandem.probes.hiccup import HiccupMeter
from tandem.probes.host import (
    kernel_parameters,
    mitigations,
    parse_listen_overflows,
    parse_swapped,
    read_clocks,
    read_listen_overflows,
    read_swapped,
)
from tandem.probes.watch import Watch, meter_cpus

NETSTAT = """TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits
TcpExt: 0 7 9 12345
IpExt: InNoRoutes ListenOverflows
IpExt: 3 4
"""


def test_swapped_pages() -> None:
    assert parse_swapped("nr_free_pages 1\npswpin 3\npswpout 40\npgfault 5\n") == 43
    assert parse_swapped("nr_free_pages 1\n") is None
    assert (read_swapped() or 0) >= 0


def test_listen_overflows() -> None:
    assert parse_listen_overflows(NETSTAT) == 7
    assert parse_listen_overflows("") is None
    assert parse_listen_overflows("TcpExt: A\nTcpExt: 1\n") is None
    assert (read_listen_overflows(os.getpid()) or 0) >= 0


def test_both_clocks_are_read_together() -> None:
    before, after = read_clocks(), read_clocks()
    apart = (after.wall_s - before.wall_s) - (after.monotonic_s - before.monotonic_s)
    assert abs(apart) < 0.005


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("quiet mitigations=off isolcpus=1", "quiet mitigations=off isolcpus=1"),
        ("quiet init=/sbin/x psi=1 -- --secret y", "quiet psi=1"),
        (None, None),
    ],
)
def test_the_kernels_own_parameters(line: str | None, told: str | None) -> None:
    assert kernel_parameters(line) == told


def test_mitigations_are_lines() -> None:
    assert all(": " in line for line in mitigations().splitlines())


@pytest.mark.parametrize(
    ("cpusets", "cpus"), [(("1", "0"), [0, 1]), (("2-3", "2,5"), [2]), (("", "0"), None), (("4",), [4])]
)
def test_a_meter_for_each_set(cpusets: tuple[str, ...], cpus: list[int] | None) -> None:
    assert meter_cpus(*cpusets) == cpus


def test_the_meter_measures_and_ends() -> None:
    meter = HiccupMeter([0])
    began = time.time()
    meter.start()
    time.sleep(0.8)
    found = meter.stop()
    assert found is not None
    assert len(found.at_s) == len(found.longer_s) > 10
    assert min(found.longer_s) > -0.001
    assert began - 0.1 < found.at_s[0] < found.at_s[-1] < time.time() + 0.1
    assert 0 < found.cpu_cores < 0.2


def test_a_meter_that_is_stopped_for_a_while_says_so() -> None:
    """The negative control: its process is stopped for 150 ms, as a machine that stands still would stop it."""
    meter = HiccupMeter(None)
    meter.start()
    time.sleep(0.5)
    [process] = meter._running
    process.send_signal(19)
    time.sleep(0.15)
    process.send_signal(18)
    time.sleep(0.1)
    found = meter.stop()
    assert found is not None
    assert max(found.longer_s) > 0.1


def test_a_meter_that_dies_is_no_quiet_machine() -> None:
    meter = HiccupMeter([0])
    meter.start()
    [process] = meter._running
    process.kill()
    assert meter.stop() is None


def test_a_meter_ends_with_its_parent() -> None:
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from tandem.probes.hiccup import HiccupMeter;"
        "m = HiccupMeter(None); m.start(); print(m._running[0].pid, flush=True); os._exit(0)"
    )

    folder = str(ROOT / "harness")
    pid = int(subprocess.run([sys.executable, "-c", program, folder], capture_output=True, check=True).stdout)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
            break  # ended, and nobody waits for it in a container without an init process
        time.sleep(0.1)
    else:
        assert not Path(f"/proc/{pid}").exists()


def test_a_watch_of_this_very_process() -> None:
    watch = Watch(os.getpid(), "0")
    watch.start()
    time.sleep(0.3)
    found = watch.stop()
    before, after = found.clocks
    assert after.monotonic_s - before.monotonic_s >= 0.3
    assert found.listen_overflows == 0
    assert found.oversleep is not None

"""tandem.hosts.hiccup and its meter on the real kernel."""

import subprocess
import sys
import time
from pathlib import Path

from harness_places import ROOT

from tandem.hosts.beside import LocalMeter, can_be_realtime


def test_the_meter_measures_and_ends() -> None:
    meter = LocalMeter([0])
    began = time.time()
    meter.start()
    time.sleep(0.8)
    found = meter.stop()
    assert found is not None
    assert len(found.at_s) == len(found.longer_s) > 10
    assert min(found.longer_s) > -0.001
    assert began - 0.1 < found.at_s[0] < found.at_s[-1] < time.time() + 0.1
    assert 0 < found.cpu_cores < 0.2
    assert found.realtime == can_be_realtime()


def test_a_meter_that_is_stopped_for_a_while_says_so() -> None:
    """The negative control: its process is stopped for 150 ms, as a machine that stands still would stop it."""
    meter = LocalMeter(None)
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
    meter = LocalMeter([0])
    meter.start()
    [process] = meter._running
    process.kill()
    assert meter.stop() is None


def test_a_meter_ends_with_its_parent() -> None:
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from tandem.hosts.beside import LocalMeter;"
        "m = LocalMeter(None); m.start(); print(m._running[0].pid, flush=True); os._exit(0)"
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

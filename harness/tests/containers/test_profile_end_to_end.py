"""`just profile` with real containers: perf finds the program's functions and the kernel's, strace its system calls."""

import re
from pathlib import Path

import pytest
from harness_commands import bench_containers, run

pytestmark = [pytest.mark.docker, pytest.mark.weekly]


def test_a_profile_says_where_the_time_goes(kept: Path) -> None:
    done = run(
        *("python3", "-m", "checks", "profile", "rust-async", "--scenario", "index", "--seconds", "3"),
        TANDEM_RESULTS=str(kept),
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert re.search(r"CPU per request [0-9.]+ µs, [0-9.]+ of it in the kernel", said), said
    assert re.search(r"[0-9.]+ context switches per request", said), said
    told = re.findall(r"^ +([0-9.]+) % +([0-9.]+) µs  (.+)$", said, re.MULTILINE)
    assert {"kernel", "tokio", "hyper"} <= {owner for _, _, owner in told}, said
    assert 90 < sum(float(share) for share, _, _ in told) <= 100.5, said
    assert re.search(r"\[k\] __x64_sys_\w+", said), said
    sent = re.findall(r"^ +([0-9.]+)  (?:write|writev|sendto|sendmsg)$", said, re.MULTILINE)
    assert sum(map(float, sent)) == pytest.approx(1.0, abs=0.3), f"an answer is sent by one call: {said}"
    assert not bench_containers()

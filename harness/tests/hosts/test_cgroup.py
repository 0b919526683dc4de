"""tandem.hosts.cgroup: the counters of containers, from captures of real ones."""

from pathlib import Path

import pytest
from harness_machines import kernel_files

from tandem.hosts.host import Cgroup, Usage

PID, WORKER = 32065, 32327
CONTAINER = "/docker/b02b9f688dd4ca81a549260c604566bd277a36fb949386504f5639376627ee0b"
SCOPE = "fs/cgroup/system.slice/docker-b02b9f.scope"
PRIVATE, SHARED, CLEAN, UNWRITTEN, KERNEL = 50712576, 314572800, 57106432, 4096, 1048576
"""Bytes: anonymous memory, memory that processes share, file cache that was written and that was not, the kernel's for them."""
HELD = PRIVATE + SHARED + UNWRITTEN + KERNEL
V1_MEMORY_STAT = (
    f"cache 28672\nrss {PRIVATE}\nshmem {SHARED}\ninactive_file 7\nhierarchical_memory_limit 9223372036854771712\n"
    f"total_cache {SHARED + CLEAN + UNWRITTEN}\ntotal_rss {PRIVATE}\ntotal_shmem {SHARED}\ntotal_dirty {UNWRITTEN}\n"
    f"total_writeback 0\ntotal_inactive_file {CLEAN}\ntotal_active_file {UNWRITTEN}"
)
V2_MEMORY_STAT = (
    f"anon {PRIVATE}\nfile {SHARED + CLEAN + UNWRITTEN}\nkernel {KERNEL}\nshmem {SHARED}\nfile_mapped 8\nfile_dirty 0\n"
    f"file_writeback {UNWRITTEN}\ninactive_file {CLEAN}\nactive_file {UNWRITTEN}\nslab_reclaimable 12"
)
THREAD = (
    "{tid} ({name}) S 32025 32065 32065 0 -1 4194560 9431 0 0 0 {user} {system} 0 0 20 0 1 0 385135 57364480 11661"
    " 18446744073709551615 4325376 7599353 140736195803072 0 0 0 0 16781312 137447943 1 0 0 17 1 0 0 0 0 0"
)
STATUS = (
    "Name:\tgunicorn\nVmRSS:\t  112 kB\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t7"
)
PROCESSES: dict[str, str] = {}
"""Two processes; the first has two threads, the name of one of which is meant to confuse."""
for pid, tid, name, user, system in (
    (PID, PID, "gunicorn", 23, 5),
    (PID, PID + 1, "a) b (c", 100, 20),
    (WORKER, WORKER, "worker", 7, 1),
):
    PROCESSES[f"{pid}/task/{tid}/stat"] = THREAD.format(tid=tid, name=name, user=user, system=system)
    PROCESSES[f"{pid}/task/{tid}/status"] = STATUS.format(switches=10 * (tid - PID))


def v1(cpu: str, cpuacct: str, lines: str) -> dict[str, str]:
    """A group of version 1, by the folders of two controllers and the lines of /proc/PID/cgroup."""
    return {
        f"fs/cgroup/{cpuacct}{CONTAINER}/cpuacct.usage": "925346707",
        f"fs/cgroup/{cpuacct}{CONTAINER}/cpuacct.stat": "user 80\nsystem 12",
        f"fs/cgroup/{cpuacct}{CONTAINER}/cgroup.procs": f"{PID}\n{WORKER}",
        f"fs/cgroup/{cpu}{CONTAINER}/cpu.stat": "nr_periods 0\nthrottled_time 1500000000\nnr_bursts 0",
        f"fs/cgroup/memory{CONTAINER}/memory.stat": V1_MEMORY_STAT,
        f"fs/cgroup/memory{CONTAINER}/memory.usage_in_bytes": f"{HELD + CLEAN}",
        f"{PID}/cgroup": lines,
    }


V2 = {
    f"{SCOPE}/cpu.stat": "usage_usec 925346\nuser_usec 800000\nsystem_usec 125346\nnr_periods 9\nthrottled_usec 1500000",
    f"{SCOPE}/memory.stat": V2_MEMORY_STAT,
    f"{SCOPE}/memory.current": f"{HELD + CLEAN}",
    f"{SCOPE}/cgroup.procs": f"{PID}\n{WORKER}",
    f"{PID}/cgroup": f"0::{SCOPE.removeprefix('fs/cgroup')}",
}
GROUPS = {
    # Debian without a service manager: each controller by itself, and an empty unified tree.
    "v1": v1(
        "cpu",
        "cpuacct",
        f"9:name=systemd:{CONTAINER}\n4:memory:{CONTAINER}\n2:cpuacct:{CONTAINER}\n1:cpu:{CONTAINER}\n0::{CONTAINER}",
    ),
    # A distribution with systemd in legacy mode.
    "v1 with joined controllers": v1(
        "cpu,cpuacct",
        "cpu,cpuacct",
        f"5:memory:{CONTAINER}\n4:cpu,cpuacct:{CONTAINER}\n0::/system.slice/docker.service",
    ),
    "v2": V2,
}


@pytest.fixture(params=GROUPS)
def group(request: pytest.FixtureRequest, tmp_path: Path) -> Cgroup:
    return kernel_files(tmp_path, PROCESSES | GROUPS[request.param]).cgroup(PID)


def test_the_usage_of_a_container(group: Cgroup) -> None:
    found = group.usage()
    assert found.cpu_s == pytest.approx(0.925346, abs=1e-6)
    assert found.throttled_s == pytest.approx(1.5)
    assert found.system_s == pytest.approx(0.12, abs=0.006)
    assert found.memory_bytes == HELD, "what is shared counts, clean file cache does not"


def test_without_a_quota_nothing_is_throttled(tmp_path: Path) -> None:
    """The root's cpu.stat and some kernels leave the throttling out."""
    stat = "usage_usec 5000000\nuser_usec 1\nsystem_usec 2"
    group = kernel_files(tmp_path, V2 | {f"{SCOPE}/cpu.stat": stat}).cgroup(PID)
    assert group.usage() == Usage(5.0, throttled_s=0.0, memory_bytes=HELD, system_s=2e-6)


def test_cpu_time_and_context_switches_of_every_thread(group: Cgroup, tmp_path: Path) -> None:
    """Of the switches those that it asked for, and not those that the scheduler forced on it."""
    assert group.thread_cpu_s() == {PID: 0.28, PID + 1: 1.20, WORKER: 0.08}
    assert group.thread_switches() == {PID: 0, PID + 1: 10, WORKER: 2620}
    for name in ("stat", "status"):
        file = tmp_path / f"{PID}/task/{PID + 1}/{name}"
        file.unlink()
        file.symlink_to("/nonexistent")
    assert group.thread_cpu_s() == {PID: 0.28, WORKER: 0.08}, "one that ended is left out"
    assert group.thread_switches() == {PID: 0, WORKER: 2620}


def test_the_processes_of_a_container_by_their_name(group: Cgroup, tmp_path: Path) -> None:
    """One that has ended meanwhile has none."""
    kernel_files(tmp_path, {f"{PID}/comm": "oha"})
    assert group.processes() == [PID, WORKER]
    assert group.processes("oha") == [PID]
    assert group.processes("oh") == []
    kernel_files(tmp_path, {f"{WORKER}/comm": "oha", "1/comm": "oha"})
    assert group.processes("oha") == [PID, WORKER], "those of other groups are left alone"


def test_of_version_2_the_groups_below_the_root_are_summed(tmp_path: Path) -> None:
    """Its root tells what /proc/stat does; that of version 1 has every process."""
    host = kernel_files(tmp_path, {"fs/cgroup/cpu.stat": "usage_usec 999000000"})
    assert host.read_cpu().processes_s is None, "without groups nobody knows"
    for slice_, used_us in (("system", 2_000_000), ("user", 500_000)):
        kernel_files(tmp_path, {f"fs/cgroup/{slice_}.slice/cpu.stat": f"usage_usec {used_us}\nuser_usec 1"})
    assert host.read_cpu().processes_s == pytest.approx(2.5)
    kernel_files(tmp_path, {"fs/cgroup/cpuacct/cpuacct.usage": "32292462304009"})
    assert host.read_cpu().processes_s == pytest.approx(32292.462304)

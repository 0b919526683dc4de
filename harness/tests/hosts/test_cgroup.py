"""tandem.hosts.cgroup: the counters of containers, from captures of real ones."""

from pathlib import Path

import pytest

from tandem.hosts.cgroup import LocalCgroup, processes_cpu_s
from tandem.hosts.host import Usage

PID = 32065
CONTAINER = "/docker/b02b9f688dd4ca81a549260c604566bd277a36fb949386504f5639376627ee0b"

V1_SPLIT = f"""9:name=systemd:{CONTAINER}
4:memory:{CONTAINER}
2:cpuacct:{CONTAINER}
1:cpu:{CONTAINER}
0::{CONTAINER}
"""
"""Debian without a service manager: each controller by itself, and an empty unified tree."""
V1_JOINED = f"""5:memory:{CONTAINER}
4:cpu,cpuacct:{CONTAINER}
0::/system.slice/docker.service
"""
"""A distribution with systemd in legacy mode."""
V2_PATH = "/system.slice/docker-b02b9f.scope"

V1_CPU_STAT = "nr_periods 0\nnr_throttled 0\nthrottled_time 1500000000\nnr_bursts 0\nburst_time 0\n"
PRIVATE, SHARED, CLEAN, UNWRITTEN, KERNEL = 50712576, 314572800, 57106432, 4096, 1048576
"""Bytes: anonymous memory, memory that processes share, file cache that was written and that was not, the kernel's for them."""
HELD = PRIVATE + SHARED + UNWRITTEN + KERNEL
V1_MEMORY_STAT = (
    f"cache 28672\nrss {PRIVATE}\nshmem {SHARED}\ninactive_file 7\nhierarchical_memory_limit 9223372036854771712\n"
    f"total_cache {SHARED + CLEAN + UNWRITTEN}\ntotal_rss {PRIVATE}\ntotal_shmem {SHARED}\ntotal_dirty {UNWRITTEN}\n"
    f"total_writeback 0\ntotal_inactive_file {CLEAN}\ntotal_active_file {UNWRITTEN}\n"
)
V2_CPU_STAT = "usage_usec 925346\nuser_usec 800000\nsystem_usec 125346\nnr_periods 9\nnr_throttled 2\nthrottled_usec 1500000\n"
V2_MEMORY_STAT = (
    f"anon {PRIVATE}\nfile {SHARED + CLEAN + UNWRITTEN}\nkernel {KERNEL}\nshmem {SHARED}\nfile_mapped 8\nfile_dirty 0\n"
    f"file_writeback {UNWRITTEN}\ninactive_file {CLEAN}\nactive_file {UNWRITTEN}\nslab_reclaimable 12\n"
)

THREAD = (
    "{tid} ({name}) S 32025 32065 32065 0 -1 4194560 9431 0 0 0 {user} {system} 0 0 20 0 1 0 385135 57364480 11661"
    " 18446744073709551615 4325376 7599353 140736195803072 0 0 0 0 16781312 137447943 1 0 0 17 1 0 0 0 0 0\n"
)
STATUS = "Name:\tgunicorn\nVmRSS:\t  112 kB\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t7\n"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Two processes; the first has two threads, the name of one of which is meant to confuse."""
    folder = tmp_path / "proc"
    threads = (
        (PID, PID, "gunicorn", 23, 5),
        (PID, PID + 1, "a) b (c", 100, 20),
        (32327, 32327, "worker", 7, 1),
    )
    for pid, tid, name, user, system in threads:
        text = THREAD.format(tid=tid, name=name, user=user, system=system)
        write(folder / str(pid) / "task" / str(tid) / "stat", text)
        write(folder / str(pid) / "task" / str(tid) / "status", STATUS.format(switches=10 * (tid - PID)))
    return folder


def v1(tmp_path: Path, proc: Path, lines: str, cpu: str, cpuacct: str) -> LocalCgroup:
    groups = tmp_path / "cgroup"
    write(groups / cpuacct / CONTAINER[1:] / "cpuacct.usage", "925346707\n")
    write(groups / cpuacct / CONTAINER[1:] / "cpuacct.stat", "user 80\nsystem 12\n")
    write(groups / cpuacct / CONTAINER[1:] / "cgroup.procs", f"{PID}\n32327\n")
    write(groups / cpu / CONTAINER[1:] / "cpu.stat", V1_CPU_STAT)
    write(groups / "memory" / CONTAINER[1:] / "memory.stat", V1_MEMORY_STAT)
    write(groups / "memory" / CONTAINER[1:] / "memory.usage_in_bytes", f"{HELD + CLEAN}\n")
    write(proc / str(PID) / "cgroup", lines)
    return LocalCgroup(PID, groups, proc, ticks_per_s=100)


def v2(tmp_path: Path, proc: Path, cpu_stat: str = V2_CPU_STAT) -> LocalCgroup:
    groups = tmp_path / "cgroup"
    write(groups / V2_PATH[1:] / "cpu.stat", cpu_stat)
    write(groups / V2_PATH[1:] / "memory.stat", V2_MEMORY_STAT)
    write(groups / V2_PATH[1:] / "memory.current", f"{HELD + CLEAN}\n")
    write(groups / V2_PATH[1:] / "cgroup.procs", f"{PID}\n32327\n")
    write(proc / str(PID) / "cgroup", f"0::{V2_PATH}\n")
    return LocalCgroup(PID, groups, proc, ticks_per_s=100)


@pytest.fixture(params=["v1", "v1 with joined controllers", "v2"])
def group(request: pytest.FixtureRequest, tmp_path: Path, proc: Path) -> LocalCgroup:
    if request.param == "v1":
        return v1(tmp_path, proc, V1_SPLIT, "cpu", "cpuacct")
    if request.param == "v2":
        return v2(tmp_path, proc)
    return v1(tmp_path, proc, V1_JOINED, "cpu,cpuacct", "cpu,cpuacct")


# ---- control groups ----


def test_the_usage_of_a_container(group: LocalCgroup) -> None:
    found = group.usage()
    assert found.cpu_s == pytest.approx(0.925346, abs=1e-6)
    assert found.throttled_s == pytest.approx(1.5)
    assert found.system_s == pytest.approx(0.12 if group.version == 1 else 0.125346)
    assert found.memory_bytes == HELD, "what is shared counts, clean file cache does not"


def test_without_a_quota_nothing_is_throttled(tmp_path: Path, proc: Path) -> None:
    """The root's cpu.stat and some kernels leave the throttling out."""
    group = v2(tmp_path, proc, "usage_usec 5000000\nuser_usec 1\nsystem_usec 2\n")
    assert group.usage() == Usage(5.0, throttled_s=0.0, memory_bytes=HELD, system_s=2e-6)


def test_cpu_time_and_context_switches_of_every_thread(group: LocalCgroup, proc: Path) -> None:
    """Of the switches those that it asked for, and not those that the scheduler forced on it."""
    assert group.thread_cpu_s() == {PID: 0.28, PID + 1: 1.20, 32327: 0.08}
    assert group.thread_switches() == {PID: 0, PID + 1: 10, 32327: 2620}
    for name in ("stat", "status"):
        file = proc / str(PID) / "task" / str(PID + 1) / name
        file.unlink()
        file.symlink_to("/nonexistent")
    assert group.thread_cpu_s() == {PID: 0.28, 32327: 0.08}, "one that ended is left out"
    assert group.thread_switches() == {PID: 0, 32327: 2620}


def test_a_container_that_is_gone(tmp_path: Path, proc: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LocalCgroup(1, tmp_path, proc)


def test_the_processes_of_a_container_by_their_name(group: LocalCgroup, proc: Path) -> None:
    """One that has ended meanwhile has none."""
    write(proc / str(PID) / "comm", "oha\n")
    assert group.processes() == [PID, 32327]
    assert group.processes("oha") == [PID]
    assert group.processes("oh") == []
    write(proc / "32327" / "comm", "oha\n")
    write(proc / "1" / "comm", "oha\n")
    assert group.processes("oha") == [PID, 32327], "those of other groups are left alone"


# ---- all processes together ----


def test_of_version_2_the_groups_below_the_root_are_summed(tmp_path: Path) -> None:
    """Its root tells what /proc/stat does; that of version 1 has every process."""
    assert processes_cpu_s(tmp_path) is None, "without groups nobody knows"
    write(tmp_path / "cpu.stat", "usage_usec 999000000\n")
    for group, used_us in (("system.slice", 2_000_000), ("user.slice", 500_000)):
        write(tmp_path / group / "cpu.stat", f"usage_usec {used_us}\nuser_usec 1\n")
    assert processes_cpu_s(tmp_path) == pytest.approx(2.5)
    write(tmp_path / "cpuacct/cpuacct.usage", "32292462304009\n")
    assert processes_cpu_s(tmp_path) == pytest.approx(32292.462304)

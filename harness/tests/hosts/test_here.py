"""tandem.hosts.here and its meter: the real machine, files in place of its kernel's, and captures of what the kernel writes."""

import os
import random
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import psutil
import pytest
from harness_machines import kernel_files, until
from harness_places import ROOT
from harness_samples import there

from tandem.hosts import HERE, Here, Host
from tandem.hosts.beside import LocalMeter, can_be_realtime
from tandem.hosts.cgroup import TICKS_PER_S
from tandem.hosts.host import HostCpu, Machines
from tandem.lab.readiness import settle


def parse_stat(text: str) -> HostCpu:
    """The first line of /proc/stat, read by hand: what psutil has to come to, bit by bit.

    https://docs.kernel.org/filesystems/proc.html
    """
    user, nice, system, idle, iowait, irq, softirq, steal = (
        int(value) / TICKS_PER_S for value in text.split()[1:9]
    )
    busy = user + nice + system
    return HostCpu(busy, irq + softirq, steal, busy + idle + iowait + irq + softirq + steal)


# ---- CPU time ----


def test_psutil_tells_the_same_cpu_time_as_the_kernels_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))
    chance = random.Random(1)
    for _ in range(200):
        line = "cpu  " + " ".join(str(chance.randrange(10**12)) for _ in range(10))
        (tmp_path / "stat").write_text(f"{line}\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 1\n")
        assert replace(HERE.read_cpu(), processes_s=None) == parse_stat(line)


# ---- what it is ----


def test_this_host_can_be_read() -> None:
    described = HERE.describe()
    assert described["cpus"] == HERE.cpus == os.cpu_count()
    assert described["cgroup_version"] in (1, 2)
    assert HERE.free_bytes() > 0
    assert all(": " in line for line in HERE.mitigations().splitlines())
    assert min(HERE.swapped() or 0, HERE.tcp_counter(os.getpid(), "ListenOverflows") or 0) >= 0


def test_what_a_kernel_does_not_tell_is_null(tmp_path: Path) -> None:
    described = Here(proc=tmp_path, sys=tmp_path).describe()
    told = {"cpus", "memory_bytes", "kernel", "machine", "open_files_limit", "swap_bytes"}
    assert {name for name, value in described.items() if value is not None} == told
    assert {"cpu_model", "governor", "smt", "hypervisor", "cpu_cache_l3_bytes"} <= described.keys()
    assert kernel_files(tmp_path, {"vmstat": "nr_free_pages 1"}).swapped() is None
    (tmp_path / "fs/cgroup/cpuacct").mkdir(parents=True)
    assert (described["cgroup_version"], Here(sys=tmp_path).describe()["cgroup_version"]) == (None, 1)


def test_a_described_machine(tmp_path: Path) -> None:
    host = kernel_files(
        tmp_path,
        {
            "cpuinfo": "processor\t: 0\nmodel\t: 7\nmodel name\t: A: fast one",
            "cmdline": "quiet isolcpus=1 init=/sbin/x psi=1 -- --secret y",
            "devices/system/cpu/intel_pstate/no_turbo": "1",
            "devices/system/cpu/vulnerabilities/b": "Vulnerable",
            "devices/system/cpu/vulnerabilities/a": "Not affected",
            "devices/system/clocksource/clocksource0/current_clocksource": "tsc",
            "fs/cgroup/cgroup.controllers": "cpu memory",
            VENDOR: "Maker",
            PRODUCT: b"Board \xff\n",  # a firmware may write any bytes
        },
    )
    told = host.describe()
    assert told["product"] == "Maker Board \ufffd"
    names = ("cpu_model", "kernel_command_line", "turbo", "cgroup_version")
    assert [told[name] for name in names] == ["A: fast one", "quiet isolcpus=1 psi=1", "off", 2]
    assert host.mitigations() == "a: Not affected\nb: Vulnerable"
    assert host.clocks().source == told["clock_source"] == "tsc"


INTEL = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R) Xeon(R) Processor
stepping\t: 2
microcode\t: 0x1
cache size\t: 307200 KB
flags\t\t: fpu vme hypervisor

processor\t: 1
stepping\t: 3"""
AMD = """vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC 7R13 Processor
stepping\t: 1
microcode\t: 0xa0011d5
cache size\t: 512 KB
flags\t\t: fpu vme"""
ARM = """processor\t: 0
Features\t: fp asimd
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1"""
CLOCKS = "devices/system/clocksource/clocksource0/available_clocksource"
VENDOR, PRODUCT = "class/dmi/id/sys_vendor", "class/dmi/id/product_name"


@pytest.mark.parametrize(
    ("cpuinfo", "identity"),
    [
        (INTEL, ["Intel(R) Xeon(R) Processor", "GenuineIntel", 6, 207, 2, "0x1", 307_200 << 10]),
        (AMD, ["AMD EPYC 7R13 Processor", "AuthenticAMD", 25, 1, 1, "0xa0011d5", 512 << 10]),
        (ARM, ["Arm part 0xd0c", "Arm", 8, "0xd0c", "r3p1", None, None]),
        # A maker that is not known.
        (ARM.replace("0x41", "0x99"), ["0x99 part 0xd0c", "0x99", 8, "0xd0c", "r3p1", None, None]),
    ],
)
def test_generations_of_cpus_are_told_apart(
    tmp_path: Path, cpuinfo: str, identity: list[str | int | None]
) -> None:
    told = kernel_files(tmp_path, {"cpuinfo": cpuinfo}).describe()
    names = ("model", "vendor", "family", "model_number", "stepping", "microcode", "cache_bytes")
    assert [told[f"cpu_{name}"] for name in names] == identity


@pytest.mark.parametrize(
    ("caches", "l2_l3"),
    [
        (
            ["1 Data 48K 1", "1 Instruction 32K 1", "2 Unified 2048K 1", "3 Unified 300M ffffffff,00000003"],
            [2048 << 10, 1, 300 << 20, 34],
        ),
        (["2 Unified 512K 0001,00000001"], [512 << 10, 2, None, None]),
        ([], [None] * 4),
    ],
)
def test_caches_and_how_many_cpus_share_each(
    tmp_path: Path, caches: list[str], l2_l3: list[int | None]
) -> None:
    for number, cache in enumerate(caches):
        folder = f"devices/system/cpu/cpu0/cache/index{number}"
        files = zip(("level", "type", "size", "shared_cpu_map"), cache.split(), strict=True)
        kernel_files(tmp_path, {f"{folder}/{name}": text for name, text in files})
    told = Here(sys=tmp_path).describe()
    assert [told[f"cpu_cache_{name}_{of}"] for name in ("l2", "l3") for of in ("bytes", "cpus")] == l2_l3


@pytest.mark.parametrize(
    ("files", "hypervisor", "product"),
    [
        ({"cpuinfo": INTEL, CLOCKS: "tsc kvm-clock"}, "kvm", None),
        ({"cpuinfo": AMD, CLOCKS: "tsc hpet", VENDOR: "Supermicro", PRODUCT: "AS"}, "none", "Supermicro AS"),
        ({"cpuinfo": ARM, VENDOR: "QEMU", PRODUCT: "KVM Virtual Machine"}, "kvm", "QEMU KVM Virtual Machine"),
        ({"cpuinfo": ARM, VENDOR: "Maker", PRODUCT: "Board"}, None, "Maker Board"),  # Arm has no flags
        ({"cpuinfo": INTEL}, "yes", None),  # a container without sysfs, in a guest
        ({"cpuinfo": AMD, "hypervisor/type": "xen"}, "xen", None),  # Xen's first domain
    ],
)
def test_what_a_machine_is_a_guest_of(
    tmp_path: Path, files: dict[str, str], hypervisor: str | None, product: str | None
) -> None:
    told = kernel_files(tmp_path, files).describe()
    assert (told["hypervisor"], told["product"]) == (hypervisor, product)


def test_both_clocks_are_read_together() -> None:
    before, after = HERE.clocks(), HERE.clocks()
    apart = (after.wall_s - before.wall_s) - (after.monotonic_s - before.monotonic_s)
    assert abs(apart) < 0.005


# ---- processes ----


def test_a_process_and_what_is_left_of_it() -> None:
    assert HERE.alive(os.getpid())
    before = HERE.threads(os.getpid())
    with ThreadPoolExecutor(4) as threads:
        together = Barrier(5)
        for _ in range(4):
            threads.submit(together.wait)
        assert HERE.threads(os.getpid()) == before + 4
        together.wait()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    pid = process.pid
    assert not HERE.alive(pid)
    with pytest.raises(OSError, match=str(pid)):
        HERE.threads(pid)
    with pytest.raises(OSError, match="No such process"):
        HERE.signal(pid, 0)
    with pytest.raises(OSError, match=str(pid)):
        HERE.tcp_counter(pid, "PassiveOpens")
    with pytest.raises(FileNotFoundError):
        HERE.cgroup(pid)
    assert HERE.established(pid, local_port=8080) == 0


def test_the_harness_knows_its_own_container(tmp_path: Path) -> None:
    host = kernel_files(tmp_path, {"self/cgroup": "4:memory:/docker/b02b9f688dd4\n0::/docker/b02b9f688dd4"})
    assert host.is_harness("b02b9f688dd4")
    assert not host.is_harness("b02b9f688dd5")


# ---- who asks, asks the host that is given (test_seam.py: nothing else reads a machine) ----


@pytest.mark.parametrize(("busy_cores", "readings"), [(0.0, range(2, 3)), (2.0, range(4, 100))])
def test_what_has_to_be_quiet_is_the_host_that_is_given(
    monkeypatch: pytest.MonkeyPatch, busy_cores: float, readings: range
) -> None:
    monkeypatch.setattr("tandem.lab.readiness.SETTLE_S", 0.02)
    monkeypatch.setattr("tandem.lab.readiness.SETTLE_CAP_S", 0.2)
    read_cpu = Mock(
        side_effect=lambda: HostCpu(busy_cores * time.monotonic(), 0.0, 0.0, 8 * time.monotonic())
    )
    settle(Mock(read_cpu=read_cpu))
    assert read_cpu.call_count in readings


def test_here_is_a_host() -> None:
    """mypy compares the signatures; this is what a reader may forget to add."""
    members = {name for kind in (Host, Machines) for name in vars(kind) if not name.startswith("_")}
    assert members <= {*dir(Here)}
    assert {name for name in dir(Here) if not name.startswith("_")} == members


NETSTAT = """TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits
TcpExt: 0 7 9 12345
IpExt: InNoRoutes ListenOverflows
IpExt: 3 4"""
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00007F:B2F7 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1
   1: 030012AC:8F2E 040012AC:1F90 01 00000000:00000000 00:00000000 00000000     0        0 42 1
   2: 030012AC:8F30 040012AC:1F90 01 00000000:00000000 02:00000000 00000000     0        0 43 2
   3: 030012AC:8F32 040012AC:1F90 08 00000000:00000001 00:00000000 00000000     0        0 44 1
   4: 030012AC:8F34 050012AC:1920 01 00000000:00000000 00:00000000 00000000     0        0 45 1
"""


def test_a_difference_of_cpu_times() -> None:
    assert HostCpu(5, 4, 3, 20).since(HostCpu(1, 2, 3, 10)) == HostCpu(4, 2, 0, 10)


def test_what_the_kernel_counts_and_what_it_does_not(tmp_path: Path) -> None:
    swaps = "nr_free_pages 1\npswpin 3\npswpout 40\npgfault 5"
    host = kernel_files(tmp_path, {"vmstat": swaps, "7/net/netstat": NETSTAT, "7/net/snmp": "Tcp: A\nTcp: 1"})
    assert (host.swapped(), host.tcp_counter(7, "ListenOverflows"), host.tcp_counter(7, "A")) == (43, 7, 1)
    assert host.tcp_counter(7, "B") is None


def test_a_connection_that_another_opens_is_counted_once() -> None:
    """Whether it was accepted or not."""
    before = there(HERE.tcp_counter(os.getpid(), "PassiveOpens"))
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        assert there(HERE.tcp_counter(os.getpid(), "PassiveOpens")) > before


@pytest.mark.parametrize(
    ("local", "remote", "number"),
    [(None, 8080, 2), (None, 6432, 1), (None, None, 3), (0x8F2E, 8080, 1), (0x8F34, 8080, 0)],
)
def test_established_connections_are_counted(
    tmp_path: Path, local: int | None, remote: int | None, number: int
) -> None:
    """One more to 8080 was closed by the other side; the one to 6432 is PgBouncer's. A kernel without IPv6 has one table."""
    for name, tables in (("tcp", 1), ("tcp6", 2)):
        host = kernel_files(tmp_path, {f"7/net/{name}": TABLE})
        assert host.established(7, local_port=local, remote_port=remote) == tables * number


def test_established_connections_are_counted_where_they_are_served(fixtures: Path, tmp_path: Path) -> None:
    """A real table: a resolver's listener, the server's listener, one connection to it."""
    table = (fixtures / "proc-net-tcp.txt").read_bytes()
    line = table.splitlines(keepends=True)[-1]
    for text, port, number in (
        (table, 8080, 1),
        (table, 8081, 0),
        (table, 0xC0F4, 0),  # the other end's port
        (table + line * 9_999, 8080, 10_000),
        (line.replace(b" 01 ", b" 06 "), 8080, 0),  # TIME_WAIT
        (line.replace(b"020014AC", b"0000000000000000FFFF0000020014AC"), 8080, 1),  # version 6
    ):
        assert kernel_files(tmp_path, {"7/net/tcp": text}).established(7, local_port=port) == number


def test_the_meter_measures_and_ends() -> None:
    meter = LocalMeter([0])
    began = time.time()
    meter.start()
    time.sleep(0.8)
    found = there(meter.stop())
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
    assert max(there(meter.stop()).longer_s) > 0.1


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
    # A zombie has ended; nobody waits for it in a container without an init process.
    ended = (None, psutil.STATUS_ZOMBIE)
    until(lambda: {one.pid: one.info["status"] for one in psutil.process_iter(["status"])}.get(pid) in ended)

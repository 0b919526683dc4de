"""tandem.hosts.cgroup on real containers: the same figures as in the kernel's files, found by the container's id and read by hand."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from python_on_whales import Container, DockerClient

from tandem.hosts.cgroup import CGROUPS, LocalCgroup

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]
BUSY = "import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, args=(9999,)).start()\nwhile True: pass"
QUOTA = 0.2
THROTTLED_S, PATIENCE_S = 1.0, 300.0


@pytest.fixture
def container() -> Iterator[Container]:
    """One that may have a fifth of a core, wants a whole one, has been throttled, and is frozen: its counters stand still."""
    docker = DockerClient()
    command = ["-c", BUSY]
    made = docker.run("tandem/harness", command, entrypoint="python3", cpus=QUOTA, detach=True, init=True)
    try:
        assert made.state.pid is not None
        group, until = LocalCgroup(made.state.pid), time.monotonic() + PATIENCE_S
        while group.usage().throttled_s < THROTTLED_S:
            assert time.monotonic() < until
            time.sleep(0.2)
        made.pause()
        yield made
    finally:
        made.remove(force=True)


def folder(container: Container, controller: str) -> Path:
    """Its control group, wherever Docker's driver (cgroupfs or systemd) put it."""
    (found,) = (CGROUPS / controller).glob(f"**/*{container.id}*/cgroup.procs")
    return found.parent


def fields(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}


def test_usage_and_processes_are_those_of_the_kernels_files(container: Container) -> None:
    assert container.state.pid is not None
    group = LocalCgroup(container.state.pid)
    if group.version == 2:  # https://docs.kernel.org/admin-guide/cgroup-v2.html
        unified = folder(container, "")
        cpu, memory, pids = fields(unified / "cpu.stat"), fields(unified / "memory.stat"), unified
        cpu_s, throttled_s = cpu["usage_usec"] / 1e6, cpu["throttled_usec"] / 1e6
        charged = int((unified / "memory.current").read_text())
        cache = memory["active_file"] + memory["inactive_file"]
        cache -= memory["file_dirty"] + memory["file_writeback"]
    else:
        pids, of_memory = folder(container, "pids"), folder(container, "memory")
        cpu_s = int((folder(container, "cpuacct") / "cpuacct.usage").read_text()) / 1e9
        throttled_s = fields(folder(container, "cpu") / "cpu.stat")["throttled_time"] / 1e9
        memory = fields(of_memory / "memory.stat")
        charged = int((of_memory / "memory.usage_in_bytes").read_text())
        cache = sum(memory[f"total_{name}_file"] for name in ("active", "inactive"))
        cache -= memory["total_dirty"] + memory["total_writeback"]
    found = group.usage()
    held = charged - max(0, cache)
    print(f"cgroup v{group.version}: {found}; by hand: {cpu_s=} {throttled_s=} {held=}")
    assert found.cpu_s == pytest.approx(cpu_s, abs=0.001)
    assert found.throttled_s == pytest.approx(throttled_s, abs=0.001)
    assert found.memory_bytes == pytest.approx(held, abs=1_000_000)
    by_hand = [int(pid) for pid in (pids / "cgroup.procs").read_text().split()]
    assert sorted(group.processes()) == sorted(by_hand)
    assert len(by_hand) == 2, "the init process and its child"
    assert container.state.pid in by_hand
    assert len(group.thread_cpu_s()) == int((pids / "pids.current").read_text()), "tasks"
    # Those of Docker's runtime, which started it, have ended: in an emulated machine they took 0.6 s.
    assert 0.5 * cpu_s < sum(group.thread_cpu_s().values()) < cpu_s + 0.1

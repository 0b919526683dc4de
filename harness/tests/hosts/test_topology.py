"""tandem.hosts.topology: the physical cores of machines that others recorded, and of this one."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
from harness_machines import RECORDED, kernel_files, machine, rows_of

from tandem.hosts import HERE, Here
from tandem.hosts.topology import read_topology, topology_of

SHAPES = {
    "hybrid-laptop": (14, 20, {0: 6, 1: 8}),
    "old-laptop": (2, 4, {0: 2}),
    "two-sockets": (16, 32, {0: 16}),
    "nosmt": (16, 16, {0: 16}),
    "four-core-arm": (4, 4, {0: 4}),
    "arm-of-two-kinds": (20, 20, {0: 10, 1: 10}),
    "arm-of-four-kinds": (8, 8, {0: 1, 1: 4, 2: 3}),
    "vm-of-two": (2, 2, {0: 2}),
    "one-core-with-smt": (1, 2, {0: 1}),
    "one-cpu": (1, 1, {0: 1}),
    "sixty-four": (64, 64, {0: 64}),
    "dealt-out": (32, 64, {0: 32}),
    "epyc": (48, 96, {0: 48}),
    "set-of-3-to-6": (4, 4, {0: 4}),
    "offline": (17, 17, {0: 17}),
    "gaps": (6, 6, {0: 6}),
}
"""Physical cores, CPUs, and the cores of each kind."""


def test_each_recorded_machine_says_where_it_is_from() -> None:
    assert RECORDED.keys() == SHAPES.keys()
    assert all(one["source"] and one["licence"] for one in RECORDED.values())


@pytest.mark.parametrize("name", SHAPES)
def test_the_cores_of_recorded_machines(name: str) -> None:
    found = machine(name)
    kinds = [core.kind for core in found.cores]
    cpus = [cpu for core in found.cores for cpu in core.cpus]
    assert (len(found.cores), len(cpus), {kind: kinds.count(kind) for kind in sorted(kinds)}) == SHAPES[name]
    assert sorted(cpus) == list(found.allowed)


def test_what_the_engine_may_not_use_is_beside() -> None:
    found = machine("set-of-3-to-6")
    beside = sorted((core.cpus, core.others) for core in found.cores)
    assert beside == [((3,), (7,)), ((4,), (0,)), ((5,), (1,)), ((6,), (2,))]
    assert (found.allowed, found.barred, found.offline) == ((3, 4, 5, 6), (0, 1, 2, 7), ())
    assert machine("offline").offline == (0, 1, 2, 3, 21, 22, 23)
    assert machine("nosmt").offline == tuple(range(16, 32))


def test_isolated_cpus_are_allowed_and_not_taken() -> None:
    found = topology_of(rows_of("four-core-arm"), {0, 1}, {0, 1, 2, 3})
    assert [core.cpus for core in found.cores] == [(0,), (1,)]
    assert (found.allowed, found.barred) == ((0, 1, 2, 3), ())


@pytest.mark.parametrize(
    "said", [FileNotFoundError(), subprocess.CalledProcessError(1, "lscpu"), "no JSON", "{}"]
)
def test_without_lscpu_each_cpu_is_a_core(monkeypatch: pytest.MonkeyPatch, said: str | Exception) -> None:
    raised = said if isinstance(said, Exception) else None
    monkeypatch.setattr(subprocess, "run", Mock(side_effect=raised, return_value=Mock(stdout=said)))
    found = read_topology.__wrapped__()
    assert [core.cpus for core in found.cores] == [(cpu,) for cpu in sorted(os.sched_getaffinity(0))]
    assert {core.kind for core in found.cores} == {0}


def test_this_machine() -> None:
    before = os.sched_getaffinity(0)
    found = HERE.topology()
    assert {cpu for core in found.cores for cpu in core.cpus} == before <= {*found.allowed}
    assert os.sched_getaffinity(0) == before
    assert HERE.topology() is found


def test_what_may_change_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None)
    assert set(Here(sys=tmp_path).power().values()) == {None}
    files = {"cpufreq/boost": "1"}
    for number, (governor, count) in {4: ("powersave", 2), 5: ("performance", 3)}.items():
        files[f"cpu{number}/cpufreq/scaling_governor"] = governor
        files[f"cpu{number}/thermal_throttle/core_throttle_count"] = str(count)
    host = kernel_files(tmp_path, {f"devices/system/cpu/{name}": text for name, text in files.items()})
    told = {"governor": "performance, powersave", "turbo": "on", "throttled": 5}
    for plugged, battery in ((True, "charging"), (False, "discharging")):
        monkeypatch.setattr(psutil, "sensors_battery", lambda now=plugged: SimpleNamespace(power_plugged=now))
        assert host.power() == {**told, "battery": battery}

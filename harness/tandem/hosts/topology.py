"""The physical cores of this machine: what makes two CPUs unequal."""

import json
import os
import subprocess
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

from tandem.hosts.host import Core, Topology

LSCPU: Final = ("lscpu", "--json", "--extended=CPU,CORE,SOCKET,NODE,ONLINE,MAXMHZ,MODELNAME")
"""The kinds of CPU of one machine number their cores each from 0, so a core is known by its model and its number."""
UNTOLD: Final = "-"
ALIKE: Final = 0.9
"""Cores whose highest clocks differ by less than a tenth are of one kind, as hwloc has it:
https://hwloc.readthedocs.io/en/stable/envvar.html (HWLOC_CPUKINDS_MAXFREQ)."""


@cache
def read_topology() -> Topology:
    """See tandem.hosts.host.Host.topology. Where lscpu tells nothing, each CPU is a core of its own."""
    try:
        told = subprocess.run(LSCPU, check=True, capture_output=True, text=True).stdout
        rows = json.loads(told)["cpus"]
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError):
        rows = []
    usable = os.sched_getaffinity(0)
    every = usable | {row["cpu"] for row in rows if row["cpu"] != UNTOLD}

    def allowed() -> set[int]:
        # Asked for all, a thread gets those of its control group: also what the kernel isolates, which is in no affinity.
        os.sched_setaffinity(0, every)
        return os.sched_getaffinity(0)

    with ThreadPoolExecutor(1) as thread:
        return topology_of(rows, usable, thread.submit(allowed).result())


def topology_of(
    rows: Iterable[Mapping[str, Any]], usable: Collection[int], allowed: Collection[int]
) -> Topology:
    """The topology from lscpu's rows. usable: CPUs that a container without a CPU set runs on; allowed: those that it may name."""
    told = {int(row["cpu"]): row for row in rows if row["cpu"] != UNTOLD}
    online = sorted({*usable, *(cpu for cpu, row in told.items() if row["online"] is True)})

    def number(cpu: int, column: str) -> float | None:
        value = told.get(cpu, {}).get(column)
        return None if value in (None, UNTOLD) else float(value)

    members: dict[object, list[int]] = {}
    for cpu in online:
        core = number(cpu, "core")
        key = ("alone", cpu) if core is None else (told[cpu]["modelname"], core)
        members.setdefault(key, []).append(cpu)
    clocks = {clock for cpu in online if (clock := number(cpu, "maxmhz")) is not None}
    kinds: list[float] = []  # the highest clock of each kind, the fastest first
    for clock in sorted(clocks, reverse=True):
        if not kinds or clock < ALIKE * kinds[-1]:
            kinds.append(clock)
    cores = [
        Core(
            cpus=mine,
            others=tuple(cpu for cpu in siblings if cpu not in usable),
            socket=int(number(mine[0], "socket") or 0),
            node=int(number(mine[0], "node") or 0),
            kind=sum((number(mine[0], "maxmhz") or top) < ALIKE * top for top in kinds),
        )
        for siblings in members.values()
        if (mine := tuple(cpu for cpu in siblings if cpu in usable))
    ]
    apart = {*online} - {*allowed}, told.keys() - {*online}
    return Topology(tuple(cores), tuple(sorted(allowed)), *(tuple(sorted(cpus)) for cpus in apart))

"""Reads what doctor says of this machine."""

import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from python_on_whales import DockerClient, DockerException

from tandem.catalog.placement import EnvFile, fitted
from tandem.catalog.ranges import expand, folded
from tandem.hosts.docker import complaint
from tandem.hosts.host import Core, Host, Topology
from tandem.judge.disturbance import HICCUP_MAX_VOID_MS
from tandem.judge.fitness import Check, State, disk, files
from tandem.judge.judge import FOREIGN_WARN, STEAL_VOID, STEAL_WARN
from tandem.lab import images
from tandem.lab.stack import engine_versions
from tandem.wording import counted

WATCHED_S = 3.0
CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
ROLES: Final = {
    "APP": "application",
    "DB": "database",
    "LOADGEN": "generator",
    "PROXY": "proxy",
    "PGBOUNCER": "pooler",
    "FAULTS": "latency proxy",
}
"""Role in the variables of a placement -> its name for people."""
CPUS_COLUMNS = 16
"""A longer list of CPUs is their number on the map."""
POWER: Final = {
    "governor": ("performance", "the clock follows the load: `cpupower frequency-set -g performance`"),
    "turbo": ("off", "the clock depends on heat and on how many cores work: off for small differences"),
    "battery": ("charging", "a laptop on its battery is slower: plug it in"),
    "throttled": (0, "times too hot since it started, and slower then: cool it, or load it less"),
}
"""Key of Host.power -> what keeps the clock steady, and what anything else means."""


def _either(
    name: str, good: bool, yes: tuple[str, str], no: tuple[str, str], otherwise: State = "limited"
) -> Check:
    """The check of something that is good or not. yes, no: what was found then, and what it means."""
    return Check(name, "good", *yes) if good else Check(name, otherwise, *no)


def cpus(topology: Topology) -> list[Check]:
    """What the physical cores are enough for, and whether two programs may share one."""
    cores, threads = len(topology.cores), sum(len(core.cpus) for core in topology.cores)
    found = str(threads) if threads == cores else f"{threads} on {counted(cores, 'cores')}"
    enough: tuple[State, str] = ("good", "every role has CPUs of its own")
    if topology.places < 2:
        enough = "bad", "everything shares one core: no result can be compared"
    elif cores < 2:
        enough = "limited", "application and all others are threads of one core: each slows the other down"
    elif cores < 4:
        means = "the application has a core of its own; generator, proxy and database share the other and limit fast implementations"
        enough = "limited", means
    elif cores < 8:
        enough = "good", "application, database and generator have a core each"
    out = [Check("cpus", enough[0], found, enough[1])]
    if beside := {cpu for core in topology.cores for cpu in core.others}:
        means = "siblings that are not for containers: what runs there slows a core of ours down"
        out.append(Check("SMT", "limited", _written(beside), means))
    elif threads > cores:
        on = "on", "whole cores are given; another program may still take a sibling"
        out.append(_either("SMT", cores > 1, on, on))
    return out


def _written(numbers: Collection[int]) -> str:
    text = folded(numbers)
    return text if len(text) <= CPUS_COLUMNS else f"{len(numbers)} CPUs"


def seats(placement: EnvFile, topology: Topology) -> list[tuple[str, str, str]]:
    """The map of a placement of this repository: CPUs, who has them, and why these; a row for each group of roles that share.

    placement: with the places of its file. Raises UsageError where it does not fit.
    """
    home = {cpu: core for core in topology.cores for cpu in core.cpus}
    roles: dict[str, list[str]] = {}
    for role, name in ROLES.items():
        roles.setdefault(fitted(placement, topology).variables[f"{role}_CPUSET"], []).append(name)
    used = {cpu for cpuset in roles for cpu in expand(cpuset)} or {*home}
    out = []
    for cpuset, names in roles.items():
        own = expand(cpuset) or [*home]
        who = ", ".join(names) if len(names) < 4 else "all" if len(names) == len(ROLES) else "all others"
        out.append((_written(own), who, _why({home[cpu] for cpu in own}, {*own}, used, topology)))
    free = [core for core in topology.cores if not used & {*core.cpus}]
    spare = [cpu for core in free for cpu in core.cpus]
    for left, who, why in (
        (spare, "nobody", f"{counted(len(free), 'more cores')}: not needed"),
        (topology.barred, "others", "not for this engine's containers"),
        (topology.offline, "nobody", "offline"),
    ):
        out += [(_written(left), who, why)] if left else []
    return out


def _why(cores: set[Core], own: set[int], used: set[int], topology: Topology) -> str:
    kinds, nodes = {core.kind for core in cores}, sorted({core.node for core in cores})
    kind = "fast " if kinds == {0} else "unlike " if len(kinds) > 1 else "slow "
    hybrid = any(core.kind for core in topology.cores)
    out = [counted(len(cores), f"{kind if hybrid else ''}cores")]
    if len({core.node for core in topology.cores}) > 1:
        out.append(f"node {', '.join(map(str, nodes))}")
    siblings = {cpu for core in cores for cpu in core.cpus} - own
    for beside, state in (
        (siblings - used, "idle"),
        (siblings & used, "taken"),
        ({cpu for core in cores for cpu in core.others}, "not ours"),
    ):
        out += [f"sibling{'s' if len(beside) > 1 else ''} {_written(beside)} {state}"] if beside else []
    return "; ".join(out)


def power(told: Mapping[str, str | int | None]) -> list[Check]:
    """What changes the clock, of what the kernel tells (Host.power)."""
    return [
        _either(name, found == wanted, (str(found), "keeps the clock steady"), (str(found), means))
        for name, (wanted, means) in POWER.items()
        if (found := told[name]) is not None
    ]


def _quiet(host: Host) -> list[Check]:
    before = host.read_cpu()
    time.sleep(WATCHED_S)
    now = host.read_cpu().since(before)
    steal, busy = now.steal_s / now.total_s, now.busy_s / now.total_s
    taken: State = "bad" if steal > STEAL_VOID else "limited" if steal > STEAL_WARN else "good"
    stolen = {
        "bad": "the hypervisor takes so much that windows will be void",
        "limited": "differences below 25 % mean nothing unless they are paired",
        "good": "now; later bursts on shared hosts are recorded",
    }
    idle = f"{busy:.1%}", "nothing else runs"
    other = f"{busy:.1%}", "something else is running: stop it before you measure"
    return [
        Check("steal", taken, f"{steal:.1%}", stolen[taken]),
        _either("foreign CPU", busy <= FOREIGN_WARN, idle, other),
    ]


def capture(host: Host) -> Check:
    """Whether answers of the load can be read on the wire."""
    sockets = "packet sockets", "answers of the load are read on the wire"
    means = "the engine grants no NET_RAW, so the load's own answers are not compared"
    return _either("capture", host.can_capture(), sockets, ("no packet sockets", means))


def _engine() -> Check:
    try:
        versions, places = engine_versions(), DockerClient().system.info().cpu_set
    except DockerException as error:
        return Check("docker", "bad", "no answer", complaint(error).splitlines()[-1])
    found = f"{versions['docker']}, Compose {versions['compose']}"
    means = "gives no container CPUs of its own (rootless, without the controller cpuset): only --placement shared runs"
    return _either("docker", bool(places), (found, "builds and runs the stack"), (found, means))


def _old_images() -> list[Check]:
    try:
        found = images.untagged()
    except DockerException:  # told above
        return []
    return [Check("old images", "good", images.held(found), "`just clean` removes them")] if found else []


def examine(root: Path, host: Host) -> list[Check]:
    """Looks at the machine for a few seconds. root: the repository, beside which results are kept."""
    told = host.describe()
    clock, slow = str(told["clock_source"]), "slow to read: costs the load generator CPU"
    groups = f"version {told['cgroup_version']}", "CPU time and memory of every container are readable"
    unread = "not readable", "CPU and memory cannot be measured"
    real = "real-time priority", f"a stall of more than {HICCUP_MAX_VOID_MS:.0f} ms voids the window"
    ordinary = (
        "ordinary priority",
        "the engine grants no real-time priority, so hiccups are recorded but not judged",
    )
    return [
        *cpus(host.topology()),
        _engine(),
        *_old_images(),
        *_quiet(host),
        _either("cgroups", bool(told["cgroup_version"]), groups, unread, "bad"),
        files(int(told["open_files_limit"] or 0)),
        _either("clock", clock in CLOCKS, (clock, "steady and cheap to read"), (clock, slow)),
        *power(host.power()),
        _either("hiccup meter", host.can_be_realtime(), real, ordinary),
        capture(host),
        disk(shutil.disk_usage(root).free),
    ]

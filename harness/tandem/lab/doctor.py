"""Reads what doctor says of this machine."""

import shutil
import time
from pathlib import Path

from python_on_whales import DockerClient, DockerException

from tandem.hosts.docker import complaint
from tandem.hosts.host import Host
from tandem.judge.disturbance import HICCUP_MAX_VOID_MS
from tandem.judge.fitness import Check, State, disk, files
from tandem.judge.judge import FOREIGN_WARN, STEAL_VOID, STEAL_WARN
from tandem.lab import images
from tandem.lab.stack import engine_versions

WATCHED_S = 3.0
CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")


def _cpus(cpus: int) -> Check:
    if cpus >= 8:
        return Check("cpus", "good", str(cpus), "every role has CPUs of its own")
    if cpus >= 4:
        return Check("cpus", "good", str(cpus), "application, database and generator have a core each")
    if cpus >= 2:
        means = "the application has a core of its own; generator, proxy and database share the other and limit fast implementations"
        return Check("cpus", "limited", str(cpus), means)
    return Check("cpus", "bad", str(cpus), "everything shares one core: no result can be compared")


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
    state: State = "limited" if busy > FOREIGN_WARN else "good"
    means = (
        "something else is running: stop it before you measure" if state == "limited" else "nothing else runs"
    )
    return [
        Check("steal", taken, f"{steal:.1%}", stolen[taken]),
        Check("foreign CPU", state, f"{busy:.1%}", means),
    ]


def _hiccups(host: Host) -> Check:
    if host.can_be_realtime():
        means = f"a stall of more than {HICCUP_MAX_VOID_MS:.0f} ms voids the window"
        return Check("hiccup meter", "good", "real-time priority", means)
    means = "the engine grants no real-time priority, so hiccups are recorded but not judged"
    return Check("hiccup meter", "limited", "ordinary priority", means)


def capture(host: Host) -> Check:
    """Whether answers of the load can be read on the wire."""
    if host.can_capture():
        return Check("capture", "good", "packet sockets", "answers of the load are read on the wire")
    means = "the engine grants no NET_RAW, so the load's own answers are not compared"
    return Check("capture", "limited", "no packet sockets", means)


def _engine() -> Check:
    try:
        versions, places = engine_versions(), DockerClient().system.info().cpu_set
    except DockerException as error:
        return Check("docker", "bad", "no answer", complaint(error).splitlines()[-1])
    found = f"{versions['docker']}, Compose {versions['compose']}"
    if not places:
        means = "gives no container CPUs of its own (rootless, without the controller cpuset): only --placement shared runs"
        return Check("docker", "limited", found, means)
    return Check("docker", "good", found, "builds and runs the stack")


def _old_images() -> list[Check]:
    try:
        found = images.untagged()
    except DockerException:  # told above
        return []
    return [Check("old images", "good", images.held(found), "`just clean` removes them")] if found else []


def examine(root: Path, host: Host) -> list[Check]:
    """Looks at the machine for a few seconds. root: the repository, beside which results are kept."""
    told = host.describe()
    clock, steady = str(told["clock_source"]), "steady and cheap to read"
    slow = "slow to read: costs the load generator CPU"
    return [
        _cpus(host.cpus),
        _engine(),
        *_old_images(),
        *_quiet(host),
        Check(
            "cgroups",
            "good",
            f"version {told['cgroup_version']}",
            "CPU time and memory of every container are readable",
        )
        if host.cgroups_readable()
        else Check("cgroups", "bad", "not readable", "CPU and memory cannot be measured"),
        files(int(told["open_files_limit"] or 0)),
        Check("clock", "good", clock, steady) if clock in CLOCKS else Check("clock", "limited", clock, slow),
        _hiccups(host),
        capture(host),
        disk(shutil.disk_usage(root).free),
    ]

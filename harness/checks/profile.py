"""The profile of an application under load: figures of a window, then perf's samples and strace's counts in two more.

perf and strace look from a container of their own, which has the host's processes and the right to look into them.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from python_on_whales import Container, DockerClient

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.lab.images import BUILT
from tandem.lab.laboratory import Laboratory, Work
from tandem.lab.live import View
from tandem.lab.stack import LABEL
from tandem.lab.visit import Visit
from tandem.record.request import Request
from tandem.record.trial import TrialSpec, WarmUp, WindowSpec
from tandem.record.window import Window

IMAGE = "tandem/profiler"
FOLDER = "harness/checks/profiler"
WARM_UP_S = 8
CAPABILITIES = ["SYS_ADMIN", "SYS_PTRACE", "SYSLOG"]
"""For perf's events, for strace, and for the kernel's names. Engines that let nobody have all still grant these."""
UNCONFINED = ["seccomp=unconfined", "apparmor=unconfined"]
ATTACH_S = 3
"""A tool begins so long before its window: attaching to thousands of threads takes its time."""
BEGIN, END = 'echo $$ >/tmp/tool; exec "$@"', 'kill -INT "$(cat /tmp/tool)"'
"""At an interrupt both tools tell what they saw."""
PER_S = 997
"""Samples of each CPU; no multiple of a timer's rate."""
DATA = "/tmp/perf.data"
SHOWN = 40
LEAST = 0.5
"""Percent of the time below which an owner is left out."""
NAMED = re.compile(r"\b(boost::[a-z]\w*|[A-Za-z_]\w*)::")
LIBRARY = re.compile(r"\.so\b")
OWN = ("common", "tandem")
"""Common code of the implementations: a crate and a namespace."""
COMPILED = ("cpp", "rust")
"""Languages whose programs have crates or namespaces of their own. What runs others has one of its own: Node's is `node`."""
STANDARD = ("alloc", "core", "std", "__gnu_cxx")
EMPTY = re.compile(r"(\s+-)*\s*$")
KERNEL_PARTS = re.compile(r"\[k\] (__x64_sys_\w+|__?schedule|try_to_wake_up|__do_softirq|handle_softirqs)$")
"""Functions of the kernel for what a process asks, for waiting and waking, and for the network: each with all that it calls."""


def described(window: Window) -> str:
    """The figures that a profile explains."""
    cpu, system = window.app_cpu_us_per_request, window.app_system_cpu_us_per_request
    switches = window.app_context_switches_per_request
    lines = [f"{window.goodput_rps:,.0f} right answers a second, limited by: {window.bottleneck}"]
    if cpu is not None:
        lines.append(
            f"CPU per request {cpu:.1f} µs" + (f", {system:.1f} of it in the kernel" if system else "")
        )
    if switches is not None:
        lines.append(f"{switches:.2f} context switches per request (voluntary)")
    lines += [f"{finding.severity}: {finding.text}" for finding in window.findings]
    return "\n".join(lines)


def _lines(report: str) -> list[str]:
    """The lines of `perf report` that say something, without the columns for what was not asked for."""
    lines = [EMPTY.sub("", line) for line in report.splitlines() if not line.startswith("#")]
    return [line for line in lines if line]


def whose(file: str, symbol: str, program: str) -> str:
    """The owner of a function. file: which has it; program: the name of the implementation, empty where
    another program runs it.

    The kernel's; a library's, by its file; and in a program that is one file, by the crate or namespace that is named first.
    """
    if symbol.startswith("[k]"):
        return "kernel"
    found = NAMED.search(symbol)
    if not found or LIBRARY.search(file):
        return file
    name = found[1]
    if name in OWN or name == program.replace("-", "_"):
        return f"{name}, the implementation's own"
    return "std" if name in STANDARD else name


def by_owner(report: str, program: str, cpu_us: float | None) -> str:
    """Shares of all owners, the largest first. report: of `perf report`, each line share, file and symbol, with ; between them.
    cpu_us: what a request costs, of which each has its part."""
    shares: dict[str, float] = {}
    for line in report.splitlines():
        words = [word.strip() for word in line.split(";", 2)]
        if len(words) == 3 and words[0].endswith("%"):
            owner = whose(words[1], words[2], program)
            shares[owner] = shares.get(owner, 0.0) + float(words[0][:-1])
    told = []
    for owner, share in sorted(shares.items(), key=lambda one: -one[1]):
        if share >= LEAST:
            each = "" if cpu_us is None else f"{share / 100 * cpu_us:8.1f} µs"
            told.append(f"{share:7.1f} %{each}  {owner}")
    return "\n".join(told)


def kernel_parts(report: str) -> str:
    """The parts of the kernel that a person knows by name, from `perf report --children`."""
    return "\n".join(line for line in _lines(report) if KERNEL_PARTS.search(line))


def per_request(counted: str, requests: int) -> str:
    """strace's table, its calls divided by the requests."""
    found = []
    for line in counted.splitlines():
        words = line.split()
        # % time, seconds, usecs/call, calls, errors (often empty), syscall
        if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
            found.append((int(words[3]), words[-1]))
    found.sort(reverse=True)
    return "\n".join(f"{calls / requests:8.3f}  {name}" for calls, name in found if calls / requests >= 0.001)


@contextmanager
def tools(root: Path) -> Iterator[Container]:
    """The container of perf and strace."""
    docker = DockerClient()
    command = ["docker", "buildx", "build", "--quiet", "--load", "--label", f"{BUILT}=profiler", "-t", IMAGE]
    built = subprocess.run(
        [*command, "-f", str(root / FOLDER / "Dockerfile"), str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise TandemError(f"the image of perf and strace cannot be built:\n{built.stderr[-1000:]}")
    container = docker.container.run(
        IMAGE,
        detach=True,
        pid="host",
        remove=True,
        cap_add=CAPABILITIES,
        security_options=UNCONFINED,
        labels={LABEL: "stack"},
    )
    assert isinstance(container, Container)
    try:
        yield container
    finally:
        container.kill()


def sections(catalog: Catalog, request: Request, seconds: int, results: Path, view: View) -> dict[str, str]:
    """The parts of the report of one application, loaded three times: title -> text. seconds: of each load. Raises TandemError
    where it cannot be started or watched."""
    [variant] = request.variants
    label, named = variant.label, variant.implementation or ""
    program = named if catalog.implementation(named).language in COMPILED else ""
    with tempfile.TemporaryDirectory(dir=results, prefix=".profile-") as name:
        folder = Path(name)
        lab = Laboratory(catalog, results, view, Work(request, request.variants, folder))
        warm_up = WarmUp(least_s=WARM_UP_S, cap_s=WARM_UP_S)
        trial = TrialSpec(name="profile", block=1, variants=[label], warm_up=warm_up)
        with lab.up(), tools(catalog.root) as tool:
            floor = lab.floor(trial, folder)
            visit = Visit(floor, trial, view)
            with visit.warm() as running:
                if not running:
                    raise TandemError(f"{label}: {visit.trial.starts[label].refused}")
                pids = [str(pid) for pid in HERE.cgroup(floor.apps[label].app.pid).processes()]
                return _watched(visit, label, seconds, tool, pids, program)
            # A visit keeps the error that ends it.
            raise TandemError("\n".join(finding.text for finding in visit.trial.findings))


def _watched(
    visit: Visit, label: str, seconds: int, tool: Container, pids: list[str], program: str
) -> dict[str, str]:
    """The report of an application that is warm. program: the name that its own code has, see whose."""

    def load(name: str) -> Window:
        spec = WindowSpec(name=name, variants=[label], seconds=seconds, trim_start_s=1.0, trim_end_s=0.5)
        record = visit.measure(spec, [label])
        if record.refused is not None:
            raise TandemError(f"the window {name} was refused: {record.refused}")
        return record.windows[label]

    def beside(name: str, command: list[str]) -> tuple[Window, str]:
        """A window, and what a tool said that ran beside it."""
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(_said, tool, ["sh", "-c", BEGIN, "sh", *command])
            try:
                time.sleep(ATTACH_S)
                window = load(name)
            finally:
                _said(tool, ["sh", "-c", END])
            return window, running.result()

    plain = load("plain")
    record = ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", str(PER_S), "-g", "-o", DATA]
    sampled, said = beside("sampled", [*record, "-p", ",".join(pids)])
    report = ["perf", "report", "--stdio", "-i", DATA, "-g", "none"]
    own = _said(tool, [*report, "--no-children", "--sort", "dso,symbol", "--percent-limit", "0.5"])
    by_file = ["--no-children", "--sort", "dso,symbol", "--field-separator", ";", "--percent-limit", "0"]
    owned = _said(tool, [*report, *by_file])
    below = _said(tool, [*report, "--children", "--sort", "symbol", "--percent-limit", "0.5"])
    traced, calls = beside("traced", ["strace", "-c", "-f", *(f"--attach={pid}" for pid in pids)])
    requests = max(1, traced.requests + traced.probes)
    return {
        "without a tool": described(plain),
        "beside perf": "\n".join(filter(None, [described(sampled), said.strip()])),
        "CPU time of a request by owner of the code": by_owner(owned, program, plain.app_cpu_us_per_request),
        "CPU time by function, percent": "\n".join(_lines(own)[:SHOWN]),
        "parts of the kernel, percent with and without the functions they call": kernel_parts(below),
        f"system calls per request, by strace, which slows it to {traced.goodput_rps:,.0f} a second": (
            per_request(calls, requests)
        ),
    }


def _said(tool: Container, command: list[str]) -> str:
    """The output of a command in the tools' container. Its status says nothing: an interrupt ends it."""
    done = subprocess.run(["docker", "exec", tool.id, *command], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr

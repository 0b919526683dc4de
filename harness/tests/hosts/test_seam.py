"""Nothing outside tandem/hosts reads a machine or reaches into one."""

import ast
import re
from pathlib import Path

import pytest

SEAM = "hosts"
NAMES = re.compile(
    r"(psutil|platform|time\.clock_\w+|resource\.(getrlimit|setrlimit|prlimit)|socket\.gethostname|shutil\.disk_usage"
    r"|os\.((process_)?cpu_count|sched_\w+|sysconf\w*|getloadavg|uname|setns|unshare|pidfd_open)"
    r"|tandem\.hosts\.(?!(HERE|Here|Host|docker|host|engine|remote|several)\b)\w+)\b"
)
"""What tells of or changes a machine, and what others may not import of the seam. What a process asks of itself (its PID, its own
clocks and CPU time) is not among them."""
TEXT = re.compile(
    r"/(proc|sys)(?![\w.-])"
    r"|\b(proc|sys)/"
    r"|\bcgroup\.(procs|controllers|threads)\b|\bcpuacct\b|\b(cpu|memory)\.stat\b|fs/cgroup"
    r"|\b(nsenter|unshare|taskset|chrt)\b"
)
"""In strings that are not docstrings: paths of the kernel's, and programs that enter namespaces or pin to CPUs."""
LOCAL_DISK = {("lab/doctor.py", "shutil.disk_usage"), ("record/store.py", "shutil.disk_usage")}
"""Results are written where this process runs, wherever the engine is."""


def reads(source: str) -> list[str]:
    """What of a module's source reads a machine, or reaches into one other than by a Host."""
    nodes = [*ast.walk(ast.parse(source))]
    imported = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules = {alias.asname or alias.name: alias.name for alias in imported}
    # Docstrings: strings that stand by themselves.
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    named, found = [alias.name for alias in imported], []
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                named += [f"{module}.{alias.name}" for alias in names]
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                named.append(f"{modules.get(name, '')}.{attribute}")
            case ast.Call(func=function, args=[first, *_]) if ast.unparse(function) == "os.kill":
                found += [] if ast.unparse(first) == "os.getpid()" else ["os.kill"]
            case ast.Constant(value=str() | bytes() as text) if id(node) not in silent:
                string = text if isinstance(text, str) else text.decode(errors="replace")
                found += [match[0] for match in TEXT.finditer(string)]
    return found + [match[0] for match in map(NAMES.match, named) if match]


def leaks(package: Path) -> list[tuple[str, str]]:
    """(module, what it reads) of every module outside the seam."""
    return [
        (file.relative_to(package).as_posix(), what)
        for file in sorted(package.rglob("*.py"))
        if file.relative_to(package).parts[0] != SEAM
        for what in reads(file.read_text())
    ]


def test_only_the_seam_reads_a_machine(root: Path) -> None:
    assert set(leaks(root / "harness/tandem")) == LOCAL_DISK


def test_the_seam_itself_is_seen(root: Path) -> None:
    """A scan that finds nothing there would find nothing anywhere."""
    found = {
        what for file in (root / "harness/tandem" / SEAM).glob("*.py") for what in reads(file.read_text())
    }
    assert found >= {"psutil", "platform", "os.sysconf", "os.sched_setscheduler", "os.kill", "/proc", "/sys"}
    assert found >= {"resource.getrlimit", "shutil.disk_usage", "cgroup.procs", "tandem.hosts.beside"}


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("Path('/proc/self/cgroup').read_text()", "/proc"),
        ("open(f'/proc/{1}/stat')", "/proc"),
        ("Path('/') / 'proc/1/net/tcp'", "proc/"),
        ("B = b'/sys'", "/sys"),
        ("Path('/sys/class/net')", "/sys"),
        ("(folder / 'cgroup.procs').read_text()", "cgroup.procs"),
        ("(folder / 'memory.stat').read_text()", "memory.stat"),
        ("import os\nos.cpu_count()", "os.cpu_count"),
        ("import os as o\no.sched_getaffinity(0)", "os.sched_getaffinity"),
        ("from os import cpu_count", "os.cpu_count"),
        ("import os\nos.setns(3)", "os.setns"),
        ("import os\nos.kill(pid, 19)", "os.kill"),
        ("import time\ntime.clock_gettime(7)", "time.clock_gettime"),
        ("def f():\n    import psutil", "psutil"),
        ("from psutil import Process", "psutil"),
        ("import platform", "platform"),
        ("import resource\nresource.getrlimit(7)", "resource.getrlimit"),
        ("run(['nsenter', '-t', '1', '-n', 'ss'])", "nsenter"),
        ("from tandem.hosts.cgroup import LocalCgroup", "tandem.hosts.cgroup"),
        ("from tandem.hosts import description", "tandem.hosts.description"),
        # Lines that read none.
        ('"""As /proc/stat has it."""', None),
        ("import os\nos.kill(os.getpid(), 2)", None),
        ("import time\ntime.monotonic()", None),
        ("import resource\nresource.getrusage(0)", None),
        ("X = 'a system, /process and /system.slice; cgroups, version 2'", None),
        ("from tandem.hosts import HERE, Host\nfrom tandem.hosts.host import Usage\nHERE.cpus", None),
    ],
)
def test_what_reads_a_machine_is_found(tmp_path: Path, line: str, reads: str | None) -> None:
    for folder in ("judge", SEAM):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text(f"{line}\n")
    assert set(leaks(tmp_path)) == ({("judge/one.py", reads)} if reads else set())

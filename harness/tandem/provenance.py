"""What has to be known to make a run again: sources, images, versions, host."""

import subprocess
from importlib.metadata import version
from pathlib import Path

from tandem.generator import check_version
from tandem.probes.host import describe
from tandem.record import Environment
from tandem.stack import Stack, engine_versions

TANDEM_VERSION = "0.1.0"


def git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def environment(root: Path, stack: Stack, knobs: dict[str, str], images: dict[str, str]) -> Environment:
    """The record's environment. The stack must be up, the application need not."""
    changes = git(root, "status", "--porcelain")
    return Environment(
        tandem_version=TANDEM_VERSION,
        git_commit=git(root, "rev-parse", "HEAD"),
        git_dirty=None if changes is None else bool(changes),
        host=describe(),
        images=images,
        versions={
            **engine_versions(),
            "oha": check_version(stack.execute("loadgen", ["oha", "--version"])),
            "haproxy": stack.execute("proxy", ["haproxy", "-v"]).split()[2],
            "pgbouncer": stack.execute("pgbouncer", ["pgbouncer", "--version"]).split()[1],
            "postgresql": stack.execute("db", ["postgres", "--version"]).split()[2],
            "psrecord": version("psrecord"),
        },
        knobs=knobs,
        variables=stack.variables,
    )

"""A session in each of several labs at the same time. Each is a process of its own, as if it were the only one."""

import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

from pydantic import ValidationError

from tandem.catalog.catalog import Catalog
from tandem.catalog.labs import HERE, Lab
from tandem.cli.measure import CLIENT
from tandem.cli.options import progress
from tandem.errors import UsageError
from tandem.facts.session import SessionRecord

COMMAND = (sys.executable, "-m", "tandem", "session")
ERROR = "tandem: "
"""What the line of an error begins with."""


@dataclass(frozen=True)
class LabSession:
    """The end of a lab's session. session: what was appended; None where nothing was, and `problem` says why."""

    lab: str
    session: SessionRecord | None
    problem: str | None
    status: int
    """The exit status of its process."""


def names_of_labs(catalog: Catalog, text: str) -> list[str]:
    """The names in `--labs a,b`, as they are given. Raises UsageError for one that there is not, for one that is named twice, and for two that
    would disturb each other."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"--labs takes names of labs with commas between them, not '{text}'")
    labs: list[Lab] = [catalog.lab(name) for name in names]
    # By its name: what reaches other hosts is read where there are some.
    machines = pkgutil.resolve_name("tandem.lab.lab_hosts:machines")
    for one, other in combinations(labs, 2):
        if one.name == other.name:
            raise UsageError(f"--labs names {one.name} twice: a session in each lab is one session")
        if both := machines(one) & machines(other):
            raise UsageError(
                f"the labs {one.name} and {other.name} share a machine, {min(both)}: their sessions would disturb each other."
                " measure one after the other, with --lab"
            )
    for lab in labs if len(labs) > 1 else []:
        if local := [host.name for host in lab.hosts.values() if host.engine == HERE]:
            raise UsageError(
                f"{local[0]} of the lab {lab.name} is this machine, which serves the sessions of the other labs meanwhile:"
                " measure there alone, with --lab"
            )
    return names


def sessions_in(names: Sequence[str], options: Sequence[str]) -> list[LabSession]:
    """Makes the sessions and returns how each ended, in the order of the names. One that fails ends none of the others; an
    interruption ends all, as Ctrl-C would end each, and waits for what they remove. options: of the command, for each."""
    processes: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(len(names)) as threads:
        try:
            processes.extend(_begun(name, options) for name in names)
            return list(threads.map(_watched, names, processes))
        except BaseException:
            for process in processes:
                process.send_signal(signal.SIGINT)
            for process in processes:
                process.wait()
            raise


def _begun(name: str, options: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "--lab", name, "--json", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C, and the end of the client, reach this process, which hands them on once.
        start_new_session=True,
        env={key: value for key, value in os.environ.items() if key != CLIENT},
    )


def _watched(name: str, process: "subprocess.Popen[str]") -> LabSession:
    """The outcome of a process. Its progress is printed as it comes, behind the lab's name."""
    problem: list[str] = []
    assert process.stdout is not None
    assert process.stderr is not None
    with ThreadPoolExecutor(1) as reading:  # both at once: a process waits while nobody reads what it writes
        said = reading.submit(process.stdout.read)
        for line in filter(None, map(str.strip, process.stderr)):
            if problem or line.startswith(ERROR):  # a long one takes several lines, the last ones
                problem.append(line.removeprefix(ERROR))
            progress.print(f"{name}: {line}", markup=False, highlight=False)
    status = process.wait()
    try:
        return LabSession(name, SessionRecord.model_validate_json(said.result()), None, status)
    except ValidationError:
        return LabSession(name, None, " ".join(problem) or f"it ended with status {status}", status)

"""Machines for tests: of files in place of the kernel's, and those that others recorded: what lscpu tells of them, derived from the
public test suites that fixtures/machines.json names."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness_places import FIXTURES

from tandem.hosts import Here
from tandem.hosts.host import Topology
from tandem.hosts.topology import topology_of

RECORDED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "machines.json").read_text())
COLUMNS = ("cpu", "core", "socket", "node", "online", "maxmhz", "modelname")


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of `lscpu --json`. A column of the fixture is a list, or the value of every row."""
    told = RECORDED[name]
    count = len(told["cpu"])
    columns = [
        told[column] if isinstance(told[column], list) else [told[column]] * count for column in COLUMNS
    ]
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]


def machine(name: str) -> Topology:
    """The topology of a recorded machine, whose engine has all CPUs or those of the fixture."""
    rows = rows_of(name)
    usable = set(RECORDED[name].get("usable") or [row["cpu"] for row in rows if row["online"]])
    return topology_of(rows, usable, usable)


def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kernel_files(root: Path, files: Mapping[str, str | bytes]) -> Here:
    """A host whose /proc and /sys are these files, and those that are there already."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else f"{text}\n".encode())
    return Here(proc=root, sys=root)

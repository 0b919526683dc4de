"""Where containers run: the env files of topologies and placements, and arithmetic on CPU sets."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict

from tandem.catalog.ranges import expand, folded
from tandem.errors import UsageError
from tandem.hosts.host import Core, Topology

SIZES: Final = {"eight-cores": 8, "four-cores": 4, "two-cores": 2}
"""Placement of this repository -> its physical cores, the largest first. The numbers in its file are places: `seated` gives each a
CPU. Those in any other file are the kernel's."""


class EnvFile(BaseModel):
    """A topology or a placement: variables for compose/stack.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    summary: str
    variables: dict[str, str]


def read_env_file(file: Path) -> EnvFile:
    """Reads NAME=VALUE lines, with quotes and comments as Compose does; the first comment line is the summary.

    Raises UsageError, with the line, for any other line, which dotenv would only log or take without a value.
    """
    text = file.read_text()
    lines = text.splitlines()
    variables = dotenv_values(stream=StringIO(text), interpolate=False)
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            assigned = re.match(r"([A-Z_]+)=", line.strip())
            if not assigned or assigned[1] not in variables:
                raise UsageError(f"{file}: line {number}: expected NAME=VALUE")
    comments = (line.lstrip("# ") for line in lines if line.startswith("#"))
    return EnvFile(
        name=file.stem,
        summary=next(filter(None, comments), ""),
        variables={name: value or "" for name, value in variables.items()},
    )


def cpus_in(cpuset: str) -> int | None:
    """How many CPUs a set such as "0,2-3" names; None for the empty set, which means all."""
    return len(expand(cpuset)) or None


def evaluate(formula: str, cpus: int) -> int:
    """The value of a formula of bench.toml (`N`, `cpus`, `N*cpus`, `N*cpus+M`) on so many CPUs."""
    if formula.isdigit():
        return int(formula)
    if formula == "cpus":
        return cpus
    factor, _, rest = formula.partition("*cpus")
    return int(factor) * cpus + int(rest.lstrip("+") or 0)


def seated(topology: Topology, places: int) -> list[Core]:
    """The core of each place: the best cores of the machine, of which the last, the application's, are the fastest.

    Cores that are whole come first, then the fastest, then those of one NUMA node and one socket, that with the most. Raises
    ValueError where there are too few; two places may be the two threads of the only core.
    """
    cores = list(topology.cores)
    if len(cores) < places <= topology.places:
        [one] = cores
        cores = [replace(one, cpus=(cpu,), others=(one.cpus[1 - at],)) for at, cpu in enumerate(one.cpus[:2])]
    if len(cores) < places:
        raise ValueError(f"{places} physical cores")
    near = Counter((core.kind, core.socket, core.node) for core in cores if not core.others)

    def cost(core: Core) -> tuple[int, ...]:
        home = (core.kind, core.socket, core.node)
        return (len(core.others) > 0, core.kind, -near[home], core.socket, core.node, core.cpus[0])

    best = sorted(cores, key=cost)[:places]
    return sorted(best, key=lambda core: (not core.others, -core.kind, core.cpus[0]))


def widened(variables: Mapping[str, str], cores: int) -> str:
    """The CPU set of an application on so many cores: of its own, and then of the others', who share those. variables: of a placement
    as it fits the machine. Raises UsageError where there are not so many."""
    own = expand(variables.get("APP_CPUSET", ""))
    others = [cpu for name in sorted(variables) for cpu in expand(variables[name])]
    every = list(dict.fromkeys([*own, *others]))
    if cores > len(every):
        raise UsageError(f"--over cores goes to {len(every)} here: the placement has no more CPUs")
    return folded(every[:cores])


def fitted(placement: EnvFile, topology: Topology) -> EnvFile:
    """The placement with the CPU numbers that it has on a machine.

    Raises UsageError, with what to do, where a set is malformed, the machine has too few cores, or the engine does not allow a CPU.
    """
    try:
        used = {name: expand(value) for name, value in placement.variables.items()}
    except ValueError as error:
        raise UsageError(f"the placement {placement.name}: a CPU set is such as 0,2-3: {error}") from None
    if placement.name not in SIZES:
        if wrong := {cpu for cpus in used.values() for cpu in cpus} - {*topology.allowed}:
            raise UsageError(
                f"the placement {placement.name} names CPUs that the engine may not use ({folded(wrong)}; it has"
                f" {folded(topology.allowed)}): change compose/placements/{placement.name}.env, or leave --placement out"
            )
        return placement
    try:
        cores = seated(topology, SIZES[placement.name])
    except ValueError as error:
        raise UsageError(
            f"the placement {placement.name} needs {error}, but this host has {len(topology.cores)} for containers:"
            " leave --placement out, and the largest that fits is taken"
        ) from None
    sets = {name: folded(cores[place].cpus[0] for place in places) for name, places in used.items()}
    return placement.model_copy(update={"variables": sets})

"""Where containers run: the env files of topologies and placements, and arithmetic on CPU sets."""

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tandem.catalog.ranges import expand
from tandem.errors import UsageError


class EnvFile(BaseModel):
    """A topology or a placement: variables for compose/stack.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    summary: str
    variables: dict[str, str]


def read_env_file(file: Path) -> EnvFile:
    """Reads NAME=VALUE lines; the first comment is the summary."""
    variables: dict[str, str] = {}
    summary = ""
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if line.startswith("#"):
            summary = summary or line.lstrip("# ")
        elif line.strip():
            match = re.fullmatch(r"([A-Z_]+)=(.*)", line.strip())
            if not match:
                raise UsageError(f"{file}: line {number}: expected NAME=VALUE")
            variables[match[1]] = match[2]
    return EnvFile(name=file.stem, summary=summary, variables=variables)


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

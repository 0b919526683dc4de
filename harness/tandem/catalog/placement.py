"""Where containers run: the env files of topologies and placements, and arithmetic on CPU sets."""

import re
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values
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

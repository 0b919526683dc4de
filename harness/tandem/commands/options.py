"""What the commands share: the application object, where things are, the options of more than one command."""

import os
import re
import secrets
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import Console, RenderableType
from rich.text import Text

from tandem.campaign.report import proven
from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.lab.prepare import DEFAULT_TOPOLOGY, Conditions
from tandem.selftest.result import line

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[3]))
RESULTS = Path(os.environ.get("TANDEM_RESULTS", ROOT / "results"))

app = typer.Typer(
    help="Measures synchronous and asynchronous web backends that do the same work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(width=None if sys.stdout.isatty() else 140)
err = Console(stderr=True, width=None if sys.stderr.isatty() else 140)

Implementations = Annotated[
    list[str], typer.Argument(help="Folders with a bench.toml; `tandem list` names them.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Machine-readable output on stdout and nothing else there.")
]
Topology = Annotated[
    str, typer.Option(help="What stands between client and database: direct, pooled, proxied or full.")
]

ScenarioName = Annotated[str, typer.Option("--scenario", help="What the client asks for.")]
ChosenTopology = Annotated[
    str | None,
    typer.Option(
        "--topology", help="What stands between client and database; default: the scenario's own, or full."
    ),
]
ChosenPlacement = Annotated[
    str | None, typer.Option("--placement", help="Which CPUs each role has; default: what fits this host.")
]
Knobs = Annotated[
    list[str] | None,
    typer.Option("--knob", help="NAME=VALUE of contract/knobs.toml, for all; may be repeated."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Fixes every order; default: a new one, recorded.")]
DbRtt = Annotated[
    str | None,
    typer.Option(
        help="Delay what the database answers, such as 15ms; default: no latency proxy in the path."
    ),
]
MAX_DB_RTT_MS = 250
"""Drivers give up connecting after two seconds, and a handshake takes several round trips."""


def parse_db_rtt(text: str | None) -> int | None:
    """Milliseconds of `--db-rtt`; None where it is not given. Raises UsageError for anything but whole ones."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})ms", text, re.ASCII)
    if not match or int(match[1]) > MAX_DB_RTT_MS:
        raise UsageError(
            f"--db-rtt takes whole milliseconds from 0ms to {MAX_DB_RTT_MS}ms, such as 15ms, not '{text}'"
        )
    return int(match[1])


def parse_knobs(pairs: list[str] | None) -> dict[str, str]:
    """NAME=VALUE, repeated, as a dictionary. Raises UsageError for anything else."""
    knobs = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--knob takes NAME=VALUE, not '{pair}'")
        knobs[name] = value
    return knobs


def conditions(
    catalog: Catalog,
    scenario: str,
    topology: str | None,
    placement: str | None,
    plan: str,
    knob: list[str] | None = None,
    db_rtt: str | None = None,
) -> Conditions:
    """Under what a command measures, from its options. Raises UsageError for names that do not exist."""
    asked = catalog.pick("scenario", scenario, catalog.scenarios)
    return Conditions(
        catalog,
        topology or asked.topology or DEFAULT_TOPOLOGY,
        placement or catalog.default_placement(HERE.cpus).name,
        catalog.plan(plan),
        parse_knobs(knob),
        parse_db_rtt(db_rtt),
    )


def proof() -> Text:
    """What the harness's self-test says of the harness, for the top of a report."""
    return proven(*line(RESULTS, ROOT, datetime.now(UTC)))


def print_result[R: BaseModel](found: R, report: Callable[[R], RenderableType], as_json: bool) -> None:
    """The result on stdout: its record for a program, or else its report for a person."""
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        out.print(proof(), report(found), sep="\n")


def seed_or_new(seed: int | None) -> int:
    """The seed that was asked for, else a new one."""
    return secrets.randbelow(2**31) if seed is None else seed

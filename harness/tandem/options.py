"""What the commands share: the application object, where things are, the options of more than one command."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tandem.errors import UsageError

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
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


def parse_knobs(pairs: list[str] | None) -> dict[str, str]:
    """NAME=VALUE, repeated, as a dictionary. Raises UsageError for anything else."""
    knobs = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--knob takes NAME=VALUE, not '{pair}'")
        knobs[name] = value
    return knobs

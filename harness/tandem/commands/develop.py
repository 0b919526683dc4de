"""Commands for people who work on Tandem."""

import json
from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.commands import checks
from tandem.commands.options import ROOT, app
from tandem.old.run import Run


@app.command()
def verify(implementations: Annotated[list[str], typer.Argument(help="Implementations, or `all`.")]) -> None:
    """Run the contract's black-box tests against implementations."""
    catalog = Catalog(ROOT)
    names = list(catalog.implementations) if implementations == ["all"] else implementations
    for name in names:
        catalog.implementation(name)
    raise typer.Exit(checks.contract(ROOT, names))


@app.command(name="test")
def run_tests(
    weekly: Annotated[bool, typer.Option("--weekly", help="Also what takes hours.")] = False,
) -> None:
    """Run all that CI runs."""
    raise typer.Exit(checks.everything(ROOT, weekly))


@app.command()
def check() -> None:
    """Run the part of the tests that takes under two minutes: no containers are started."""
    raise typer.Exit(checks.quick(ROOT))


@app.command()
def fmt() -> None:
    """Format all sources."""
    checks.format_sources(ROOT)


@app.command()
def schema() -> None:
    """Print the JSON Schema of run.json."""
    print(json.dumps(Run.model_json_schema(), indent=1))

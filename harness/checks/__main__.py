"""The command line: `harness/run check`, `test`, `verify`, `docs` and `fmt`."""

from typing import Annotated

import typer

from checks import run
from documents.figures import FIGURES
from documents.fill import fill_all
from tandem.catalog.catalog import Catalog
from tandem.cli.options import ROOT, err, out
from tandem.commands.main import main
from tandem.hosts import HERE
from tandem.lab.stack import other_measurements

app = typer.Typer(
    help="Tests and formats Tandem itself.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def verify(
    implementations: Annotated[list[str], typer.Argument(help="Implementations, or `all`.")],
    wait: Annotated[bool, typer.Option("--wait", help="Begin when no other command measures.")] = False,
) -> None:
    """Run the contract's black-box tests against implementations."""
    catalog = Catalog(ROOT)
    names = list(catalog.implementations) if implementations == ["all"] else implementations
    for name in names:
        catalog.implementation(name)
    run.undisturbing(lambda: other_measurements(HERE), wait)
    raise typer.Exit(run.contract(ROOT, names))


@app.command(name="test")
def run_tests(
    weekly: Annotated[bool, typer.Option("--weekly", help="Also what takes hours.")] = False,
) -> None:
    """Run all that CI runs."""
    raise typer.Exit(run.everything(ROOT, weekly))


@app.command()
def check() -> None:
    """Run the part of the tests that takes under two minutes: no containers are started."""
    raise typer.Exit(run.quick(ROOT))


@app.command()
def fmt() -> None:
    """Format all sources."""
    run.format_sources(ROOT)


@app.command()
def docs(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; 1 if a figure is not what the records say.")
    ] = False,
) -> None:
    """Fill the figures of README.md and docs/ in from the committed records."""
    stale = fill_all(ROOT, FIGURES, write=not check)
    for one in stale:
        (err if check else out).print(str(one), markup=False, highlight=False, soft_wrap=True)
    if check and stale:
        names = ", ".join(dict.fromkeys(str(one.page) for one in stale))
        err.print(
            f"stale: {names}. `just docs` fills them in.", markup=False, highlight=False, soft_wrap=True
        )
        raise typer.Exit(1)


if __name__ == "__main__":
    main(app)

"""The command that fills the figures of the documents in."""

from typing import Annotated

import typer

from tandem.cli.options import ROOT, app, err, out


@app.command(name="docs")
def docs_(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; 1 if a figure is not what the records say.")
    ] = False,
) -> None:
    """Fill the figures of README.md and docs/ in from the committed records."""
    # Some figures are those of harness/benchmarks, which no other command needs.
    from tandem.docs.figures import FIGURES
    from tandem.docs.fill import fill_all

    stale = fill_all(ROOT, FIGURES, write=not check)
    for one in stale:
        (err if check else out).print(str(one), markup=False, highlight=False, soft_wrap=True)
    if check and stale:
        names = ", ".join(dict.fromkeys(str(one.page) for one in stale))
        err.print(
            f"stale: {names}. `just docs` fills them in.", markup=False, highlight=False, soft_wrap=True
        )
        raise typer.Exit(1)

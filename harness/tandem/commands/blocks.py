"""What a study with several labs starts for each further one."""

from pathlib import Path
from typing import Annotated

import typer

from tandem.cli.measure import make_blocks
from tandem.cli.options import app
from tandem.engine.journal import Journal
from tandem.studies.registry import STUDIES


@app.command(hidden=True)
def blocks(
    folder: Annotated[Path, typer.Argument(help="Of the study.")],
    lab: Annotated[str, typer.Argument(help="A file of loadgen/labs or the path of one.")],
) -> None:
    """Make blocks of a study in a further lab; the study's own command starts this."""
    journal = Journal.of(folder)
    make_blocks(STUDIES[journal.request.study], journal, lab)

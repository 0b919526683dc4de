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
    folder: Annotated[Path, typer.Argument(help="Folder of the study.")],
    lab: Annotated[str, typer.Argument(help="Lab: a name in loadgen/labs or the path of a file.")],
) -> None:
    """Measure blocks of a study in a further lab. The study's own command starts this."""
    journal = Journal.of(folder)
    make_blocks(STUDIES[journal.request.study], journal, lab)

"""The command that prints a result again."""

from pathlib import Path
from typing import Annotated

import typer

from tandem.cli.measure import proof
from tandem.cli.options import Json, app, out
from tandem.engine.replay import read_replayed
from tandem.errors import UsageError
from tandem.report import replay
from tandem.studies.registry import read_folder


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(help="What a command left in results/, such as results/reference.")
    ],
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The table for a page.")] = False,
    as_json: Json = False,
) -> None:
    """Print the result of a study again, from its record."""
    kind, result, trials = read_folder(folder)
    if as_json:
        print(result.model_dump_json(indent=1))
    elif as_markdown:
        table = kind.markdown(result, trials)
        if table is None:
            raise UsageError(f"--markdown: {kind.name} has no table for a page")
        print(table)
    else:
        out.print(proof(), kind.report(result, trials), sep="\n")
        if replayed := read_replayed(folder):
            out.print(replay.report(replayed))

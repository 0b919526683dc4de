"""The commands that print results again, one or a list of many, and what form they have."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tandem.cli.measure import proof
from tandem.cli.options import Json, app, out, print_json
from tandem.engine.replay import read_replayed
from tandem.errors import UsageError
from tandem.record.store import RESULT
from tandem.record.window import Verdict
from tandem.report import replay
from tandem.report.markdown import of_result
from tandem.report.parts import STYLES, checked
from tandem.report.table import fitted
from tandem.studies.compare.comment import comment
from tandem.studies.compare.conclusions import Compared
from tandem.studies.registry import Index, IndexEntry, index, json_schema, read_folder

NAMED = 3
"""Variants of a result that a list names."""
FOLDER_LEAST, MOST = 42, {"variants": 24, "main figure": 28}
"""Widths of columns in characters: a folder's name is needed whole, the rest may be cut to stay in one line."""


@app.command()
def report(
    folder: Annotated[
        Path,
        typer.Argument(help="A result, such as results/reference, or a folder of results, such as results."),
    ],
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    as_comment: Annotated[
        bool,
        typer.Option("--comment", help="Print a comparison as a comment on a pull request, in Markdown."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Print a result from its record, or a list of the results in a folder."""
    many = None if not folder.is_dir() or (folder / RESULT).exists() else index(folder)
    if many is not None and (many.entries or many.unreadable or many.unfinished):
        if as_markdown:
            raise UsageError("--markdown: a list of results has no table for a page; name one of them")
        if as_json:
            print_json(many)
        else:
            out.print(listed(many), *notes(many), sep="\n")
        return
    kind, result, _ = read_folder(folder)
    if as_json:
        print_json(result)
    elif as_comment:
        if not isinstance(result.conclusions, Compared):
            raise UsageError(f"--comment: only a comparison has one, and this is of {kind.name}")
        print(comment(result))
    elif as_markdown:
        print(of_result(kind.report(result), result))
    else:
        out.print(proof(), fitted(kind.report(result), out), *checked(result), sep="\n")
        if replayed := read_replayed(folder):
            out.print(replay.report(replayed))


def listed(found: Index) -> Table:
    """A row for each result, the newest first."""
    table = Table(title=f"{len(found.entries):,} results, the newest first", title_justify="left")
    table.add_column("folder", overflow="fold", min_width=FOLDER_LEAST)
    for heading in ("study", "variants", "scenario", "verdict", "main figure"):
        most = MOST.get(heading)
        table.add_column(heading, no_wrap=True, max_width=most, min_width=None if most else len(heading))
    for entry in found.entries:
        verdict = Text(entry.verdict, style=STYLES[Verdict(entry.verdict)])
        table.add_row(entry.folder, entry.study, variants(entry), entry.scenario, verdict, entry.headline)
    return table


def variants(entry: IndexEntry) -> str:
    """The first few variants; where there are more, how many in all."""
    named = ", ".join(entry.variants[:NAMED])
    return named if len(entry.variants) <= NAMED else f"{len(entry.variants)}: {named}, …"


def notes(found: Index) -> list[Text]:
    """A line for each result that is unfinished or cannot be read."""
    return [
        *(Text(line, style="red") for line in found.unreadable),
        *(
            Text(f"{name}: not finished; its command with --resume continues it", style="yellow")
            for name in found.unfinished
        ),
    ]


@app.command()
def schema() -> None:
    """Print the JSON Schema of result.json and of the trial files, for every study."""
    print_json(json_schema())

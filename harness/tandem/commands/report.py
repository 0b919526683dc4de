"""The commands on records: measure one again, print one or a list of many, and what form they have."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import make, page_of, proof, sentence, tell_places
from tandem.cli.options import ROOT, Json, Quiet, Seed, app, out, print_json, seed_or_new
from tandem.engine.replay import FILE, again, compare, read_replayed
from tandem.errors import UsageError
from tandem.record.store import RESULT, write_model
from tandem.record.window import Verdict
from tandem.report.markdown import of_result
from tandem.report.parts import STYLES, checked
from tandem.report.replay import report as replay_report
from tandem.report.table import fitted
from tandem.studies.compare.comment import comment
from tandem.studies.compare.conclusions import Compared
from tandem.studies.registry import Index, IndexEntry, index, json_schema, part_of, read_folder

NAMED = 3
"""Variants of a result that a list names."""
FOLDER_LEAST, MOST = 42, {"variants": 24, "main figure": 28}
"""Widths of columns in characters: a folder's name is needed whole, the rest may be cut to stay in one line."""


def record_of(path: Path) -> Path:
    """The folder of a record. Raises UsageError if there is nothing."""
    if path.name == RESULT and path.is_file():
        return path.parent
    if not path.is_dir():
        raise UsageError(f"{path}: give a result.json or its folder, such as results/reference")
    return path


@app.command()
def replay(
    record: Annotated[Path, typer.Argument(help="A result.json, or the folder of a result.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW",
            help="Measure this row alone, and the baseline where rows are compared with one; may be given more than once.",
        ),
    ] = None,
    seed: Seed = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure a recorded study again, and say whether the new figures lie within the recorded noise."""
    folder = record_of(record)
    kind, old, trials = read_folder(folder)
    if not trials:
        raise UsageError(f"{folder}: its trials were not kept, so there is nothing to compare with")
    catalog = Catalog(ROOT)
    request, labels = again(catalog, old, seed_or_new(seed)), None
    if only:
        request = part_of(catalog, request, only)
        labels = [variant.label for variant in kind(catalog, request).variants]
    new, journal = make(kind, request, resume=False, as_json=as_json)
    found = compare((old, trials), (new, journal.trials()), labels)
    write_model(journal.folder / FILE, found)
    journal.give_to(ROOT)
    if as_json:
        print_json(found)
    else:
        out.print(sentence(new), replay_report(found), sep="\n")
        tell_places(journal.folder, page_of(journal.folder))
    if not found.reproduced:
        raise typer.Exit(1)


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
            out.print(replay_report(replayed))


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

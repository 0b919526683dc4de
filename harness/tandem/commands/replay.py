"""The command that makes a recorded study again."""

from pathlib import Path
from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import make, page_of, sentence, tell_places
from tandem.cli.options import ROOT, Json, Quiet, Seed, app, out, print_json, seed_or_new
from tandem.engine.replay import FILE, again, compare
from tandem.errors import UsageError
from tandem.record.store import RESULT, write_model
from tandem.report.replay import report
from tandem.studies.registry import part_of, read_folder


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
        out.print(sentence(new), report(found), sep="\n")
        tell_places(journal.folder, page_of(journal.folder))
    if not found.reproduced:
        raise typer.Exit(1)

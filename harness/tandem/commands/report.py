"""The command that prints a result again."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import Group, RenderableType

from tandem.campaign import replay
from tandem.campaign.report import markdown, report
from tandem.capacity import record as capacity_record
from tandem.capacity.record import Capacity
from tandem.ceiling import ceiling
from tandem.ceiling.ceiling import Ceilings
from tandem.commands.options import RESULTS, ROOT, app, out, proof
from tandem.compare import report as comparison_report
from tandem.compare.comparison import Comparison
from tandem.crosscheck import crosscheck
from tandem.crosscheck.crosscheck import CrossCheck
from tandem.errors import TandemError, UsageError
from tandem.record.store import read_runs
from tandem.reproduce import report as reproduction
from tandem.reproduce.journal import RESULT, read_reproduction
from tandem.reproduce.result import Reproduction
from tandem.selftest.result import line
from tandem.sweep import report as sweep_report
from tandem.sweep.sweep import Sweep


def _told[R: BaseModel](
    kind: type[R], tell: Callable[[R], RenderableType]
) -> Callable[[str], RenderableType]:
    return lambda text: tell(kind.model_validate_json(text))


TABLES: dict[str, Callable[[str], RenderableType]] = {
    RESULT: _told(Reproduction, reproduction.report),
    "compare.json": _told(Comparison, comparison_report.report),
    "capacity.json": _told(Capacity, capacity_record.report),
    "sweep.json": _told(Sweep, sweep_report.report),
    "ceiling.json": _told(Ceilings, ceiling.report),
    "crosscheck.json": _told(CrossCheck, crosscheck.report),
}
"""The result of each kind of session, by the file that it is in; a campaign has a record for each run instead."""


def read(file: Path, tell: Callable[[str], RenderableType]) -> RenderableType:
    """What a person reads of a result. Raises TandemError if it cannot be read."""
    try:
        return tell(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error}") from None


@app.command(name="report")
def report_(
    folder: Annotated[
        Path, typer.Argument(help="What a command left in results/, such as results/reference.")
    ],
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="The table for a page: of a campaign or a reproduction.")
    ] = False,
) -> None:
    """Print the table of a campaign, a comparison, a search or a reproduction again, from its records."""
    found = next((folder / name for name in TABLES if (folder / name).is_file()), None)
    if found is None:
        runs, told = read_runs(folder), line(RESULTS, ROOT, datetime.now(UTC))
        if as_markdown:
            print(markdown(runs, told))
        else:
            out.print(report(runs, told))
            if (again := folder / replay.FILE).is_file():
                out.print(
                    read(again, lambda text: Group(*map(replay.report, replay.SHEET.validate_json(text))))
                )
    elif not as_markdown:
        out.print(proof(), read(found, TABLES[found.name]), sep="\n")
    elif found.name == RESULT:
        print(reproduction.markdown(read_reproduction(folder)))
    else:
        raise UsageError("--markdown: there is one of campaigns and of reproductions only")

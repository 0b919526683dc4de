"""The command that makes the committed records anew, one after the other."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import make, proof
from tandem.cli.options import RESULTS, ROOT, Json, app, err, out
from tandem.engine.journal import Journal
from tandem.engine.run import blocks_s
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.lab.provenance import hashes
from tandem.record.request import Request
from tandem.record.result import Result
from tandem.record.selftest import Status, line
from tandem.record.store import RESULT
from tandem.record.window import Verdict
from tandem.report.parts import table
from tandem.studies.registry import read_folder
from tandem.wording import lasts

COMMITTED = (
    "capacities",
    "comparisons",
    "crossovers",
    "explanations",
    "first-number",
    "questions",
    "reference",
    "reference-claims",
    "reference-experiments",
    "settings",
)
"""Folders of results that are committed: a record each, or several in folders of their own."""
HARNESS = "harness/tandem/"
ROWS = ("*.sqlite", "*.csv", "*.urls")
"""What a committed record does without."""


@dataclass(frozen=True)
class Committed:
    """A record, and what it takes to make it anew."""

    folder: str
    """Below results/."""
    study: str
    plan: str
    variants: int
    made: str
    """The day."""
    today: bool
    """This harness made it."""
    expected_s: float | None
    """Without builds."""
    refused: str | None
    """Why it cannot be measured again."""

    @property
    def state(self) -> str:
        return self.refused or ("measured by this harness" if self.today else "to measure again")


def folders(results: Path) -> list[Path]:
    """Of all committed records."""
    found = [file.parent for name in COMMITTED for file in (results / name).glob(f"**/{RESULT}")]
    return sorted(found)


def asked(catalog: Catalog, kind: type[Study[Any]], result: Result[Any]) -> Study[Any]:
    """The study that makes a record anew. Raises UsageError for what is no longer there."""
    study = kind(catalog, kind.today(catalog, result.request))
    for variant in study.variants if kind.lab is None else ():
        catalog.implementation(variant.implementation)
    return study


def committed(catalog: Catalog, results: Path, folder: Path, harness: str) -> Committed:
    """harness: the hash of this one's sources."""
    kind, result, _ = read_folder(folder)
    expected_s, refused = None, None
    try:
        expected_s = round(blocks_s(asked(catalog, kind, result), results))
    except UsageError as error:
        refused = f"cannot be measured again: {error}"
    return Committed(
        folder=folder.relative_to(results).as_posix(),
        study=result.request.study,
        plan=Path(result.request.plan).stem,
        variants=len(result.request.variants),
        made=f"{result.started_at:%Y-%m-%d}",
        today=any(one.hashes.get(HARNESS) == harness for one in result.environments.values()),
        expected_s=expected_s,
        refused=refused,
    )


def begun(results: Path, request: Request) -> bool:
    """Whether an interrupted one can be gone on with."""
    try:
        Journal.resume(results, request)
    except UsageError:
        return False
    return True


def replace(folder: Path, new: Path) -> None:
    """Puts a finished study in the place of a record, without its rows. An interruption leaves the old one or the new one."""
    beside = folder.with_name(f".{folder.name}.new")
    old = folder.with_name(f".{folder.name}.old")
    for left in (beside, old):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(new, beside, ignore=shutil.ignore_patterns(*ROWS))
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old)


def made_anew(catalog: Catalog, results: Path, folder: Path, as_json: bool) -> str | None:
    """Makes one, or goes on with it, and puts it in its place. Returns why not."""
    try:
        kind, result, _ = read_folder(folder)
        request = asked(catalog, kind, result).request
        new, journal = make(kind, request, begun(results, request), as_json)
    except TandemError as error:
        return str(error)
    if new.verdict is not Verdict.OK:
        return f"{journal.folder.name} is {new.verdict}: {'; '.join(new.reasons[:2])}"
    replace(folder, journal.folder)
    return None


def _shown(found: Sequence[Committed]) -> None:
    columns = ("record", "study", "plan", "variants", "made", "takes about", "state")
    rows = table("committed records", *columns, left=("record", "study", "plan", "made", "state"))
    for one in found:
        takes = "–" if one.expected_s is None else lasts(one.expected_s)
        rows.add_row(one.folder, one.study, one.plan, str(one.variants), one.made, takes, one.state)
    due_s = sum(one.expected_s or 0.0 for one in found if not one.today)
    out.print(
        proof(), rows, Text(f"measuring these again takes about {lasts(due_s)}, without builds"), sep="\n"
    )


@app.command()
def records(
    only: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RECORD]...", help="Records, such as comparisons/falcon. Default: all."),
    ] = None,
    make_: Annotated[
        bool,
        typer.Option(
            "--make",
            help="Measure again what this version of the harness did not measure. Continues where it stopped.",
        ),
    ] = False,
    untested: Annotated[
        bool, typer.Option("--untested", help="Measure even if this harness has not passed its self-test.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the committed records and the time to measure each again, or measure them again."""
    catalog, harness = Catalog(ROOT), hashes(ROOT)[HARNESS]
    every = {folder.relative_to(RESULTS).as_posix(): folder for folder in folders(RESULTS)}
    if unknown := [name for name in only or [] if name not in every]:
        raise UsageError(f"there is no committed record {unknown[0]}; there are {', '.join(every)}")
    found = [committed(catalog, RESULTS, every[name], harness) for name in only or every]
    if not make_:
        if as_json:
            print(json.dumps([asdict(one) for one in found], indent=1))
        else:
            _shown(found)
        return
    status, told = line(RESULTS, ROOT, datetime.now(UTC))
    if status is not Status.PASSED and not untested:
        raise UsageError(f"{told}. Run just selftest first, or give --untested")
    failed = False
    for one in sorted(found, key=lambda one: one.expected_s or 0.0):
        err.print(f"{one.folder}: {one.state}")
        if one.today or one.refused:
            continue
        why = made_anew(catalog, RESULTS, every[one.folder], as_json)
        err.print(f"{one.folder}: {why or 'measured again'}")
        failed = failed or why is not None
    if failed:
        raise typer.Exit(1)

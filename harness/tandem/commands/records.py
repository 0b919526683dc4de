"""The command for the committed records: lists them, makes them anew, packs them, brings back what git does not have of them."""

import io
import shutil
import subprocess
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import begun, make, proof, refuse_untested
from tandem.cli.options import RESULTS, ROOT, Json, Untested, app, err, out, print_json
from tandem.engine.run import blocks_s
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.lab.file_io import measures_itself
from tandem.lab.provenance import hashes
from tandem.lab.sources import git
from tandem.record.packed import archive_name, bring_back, pack, raw_files
from tandem.record.result import Result
from tandem.record.store import PACKED, RESULT, give
from tandem.record.window import Verdict
from tandem.report.table import Column, table
from tandem.studies.registry import of_today, read_folder, read_result
from tandem.wording import lasts

HARNESS = "harness/tandem/"
ARCHIVES = ROOT.parent / "tandem-archives"


@dataclass(frozen=True)
class Committed:
    """A record, and what it takes to make it anew."""

    folder: str
    """Folder of the record, below results/."""
    study: str
    plan: str
    variants: int
    made: str
    """Day of the measurement."""
    today: bool
    """Whether this harness made the record."""
    expected_s: float | None
    """Expected time of measuring it again, without builds."""
    refused: str | None
    """Why the record cannot be measured again."""

    @property
    def state(self) -> str:
        return self.refused or ("measured by this harness" if self.today else "to measure again")


def folders(results: Path) -> list[Path]:
    """The folders of all committed records: those that are packed, without what commands have named after a time."""
    return sorted(file.parent for at in ("", "[!.]*/") for file in results.glob(f"[!0-9.]*/{at}{PACKED}"))


def asked(catalog: Catalog, kind: type[Study[Any]], result: Result[Any]) -> Study[Any]:
    """The study that makes a record anew. Raises UsageError for what is no longer there."""
    study = kind(catalog, of_today(catalog, result.request))
    for variant in () if measures_itself(study.variants) else study.variants:
        catalog.implementation(variant.implementation)
    return study


def committed(catalog: Catalog, results: Path, folder: Path, harness: str) -> Committed:
    """The record in a folder. harness: the hash of this harness's sources."""
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


def replace(folder: Path, new: Path, archives: Path) -> None:
    """Puts a finished study, packed, in the place of a record. An interruption leaves the old one or the new one."""
    beside = folder.with_name(f".{folder.name}.new")
    old = folder.with_name(f".{folder.name}.old")
    for left in (beside, old):
        shutil.rmtree(left, ignore_errors=True)
    pack(new, *read_folder(new)[1:], beside, archives, commit_of(new))
    for made, owner in ((beside, folder.parent), (archives, ROOT)):
        if made.exists():
            give(made, owner)
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old)


def commit_of(folder: Path) -> str | None:
    """The present commit, if it has all raw files of a study."""
    if not folder.is_relative_to(ROOT):
        return None
    listed = (
        git(ROOT, "ls-tree", "-r", "--full-tree", "--name-only", "HEAD", f"{folder.relative_to(ROOT)}/") or ""
    )
    wanted = {(folder / file).relative_to(ROOT).as_posix() for file in raw_files(folder)}
    return git(ROOT, "rev-parse", "HEAD") if wanted and wanted <= {*listed.splitlines()} else None


def fetch(folder: Path, archives: str) -> None:
    """Brings back the raw files of a packed result, from a folder or URL of archives or from the commit that has them.
    Raises TandemError where they are in neither, or are others."""
    result = read_result(folder / RESULT)
    if result.raw is None:
        raise UsageError(f"{folder} has no raw files elsewhere")
    name = archive_name(result.id)
    file = Path(archives) / name
    if "://" in archives:
        try:
            with urllib.request.urlopen(f"{archives.rstrip('/')}/{name}") as stream:
                bring_back(folder, stream, result.raw.sha256)
        except OSError as error:
            raise TandemError(f"{archives}/{name} cannot be read: {error}") from None
    elif file.is_file():
        with file.open("rb") as stream:
            bring_back(folder, stream, result.raw.sha256)
    elif result.raw.commit and (tree := _tree(result.raw.commit, folder)) is not None:
        bring_back(folder, io.BytesIO(tree), result.raw.sha256)
    else:
        commit = f", and this clone does not have its commit {result.raw.commit}" if result.raw.commit else ""
        raise TandemError(
            f"the raw files of {folder} are not in {file}{commit}: give --archives FOLDER_OR_URL"
        )
    give(folder, folder.parent)


def _tree(commit: str, folder: Path) -> bytes | None:
    """A folder as a commit has it, as a tar archive."""
    tree = f"{commit}:{folder.resolve().relative_to(ROOT)}"
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "archive", "--format=tar", tree]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def made_anew(catalog: Catalog, results: Path, folder: Path, archives: Path, as_json: bool) -> str | None:
    """Makes one, or goes on with it, and puts it in its place. Returns why not."""
    try:
        kind, result, _ = read_folder(folder)
        request = asked(catalog, kind, result).request
        new, journal = make(kind, request, begun(results, request), as_json)
    except TandemError as error:
        return str(error)
    if new.verdict is not Verdict.OK:
        return f"{journal.folder.name} is {new.verdict}: {'; '.join(new.reasons[:2])}"
    replace(folder, journal.folder, archives)
    return None


def _shown(found: Sequence[Committed]) -> None:
    rows = table(
        "committed records",
        found,
        Column("record", lambda one: one.folder, text=True),
        Column("study", lambda one: one.study, text=True),
        Column("plan", lambda one: one.plan, text=True),
        Column("variants", lambda one: str(one.variants)),
        Column("made", lambda one: one.made, text=True),
        Column("takes about", lambda one: "–" if one.expected_s is None else lasts(one.expected_s)),
        Column("state", lambda one: one.state, text=True),
    )
    due_s = sum(one.expected_s or 0.0 for one in found if not one.today)
    out.print(
        proof(), rows, Text(f"measuring these again takes about {lasts(due_s)}, without builds"), sep="\n"
    )


def _named(names: Sequence[str]) -> list[Path]:
    """Folders of results, by a path or by a name below results/. Raises UsageError."""
    found = []
    for name in names:
        folders = [at for at in (Path(name).absolute(), RESULTS / name) if (at / RESULT).is_file()]
        if not folders:
            raise UsageError(f"{name} is no finished result")
        found.append(folders[0])
    return found


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
    pack_: Annotated[
        bool,
        typer.Option(
            "--pack",
            help="Bring results into the form in which they are committed: result.json and trials.jsonl.xz. All else goes into an archive.",
        ),
    ] = False,
    fetch_: Annotated[
        bool,
        typer.Option(
            "--fetch", help="Bring back the raw files of packed results, from their archive or from git."
        ),
    ] = False,
    archives: Annotated[
        str,
        typer.Option(
            envvar="TANDEM_ARCHIVES",
            metavar="FOLDER|URL",
            help="Where archives of raw files are. Default: tandem-archives beside the checkout.",
            show_default=False,
        ),
    ] = str(ARCHIVES),
    untested: Untested = False,
    as_json: Json = False,
) -> None:
    """List the committed records and the time to measure each again, or measure them again."""
    if make_ + pack_ + fetch_ > 1:
        raise UsageError("give one of --make, --pack and --fetch")
    if (make_ or pack_) and "://" in archives:
        raise UsageError(f"--archives {archives}: archives are written to a folder")
    if pack_:
        if not only:
            raise UsageError("--pack: name the results to pack")
        for folder in _named(only):
            replace(folder, folder, Path(archives))
            err.print(f"{folder}: packed", markup=False)
        return
    every = {folder.relative_to(RESULTS).as_posix(): folder for folder in folders(RESULTS)}
    if fetch_:
        elsewhere = (folder for folder in every.values() if read_result(folder / RESULT).raw)
        for folder in _named(only) if only else elsewhere:
            fetch(folder, archives)
            err.print(f"{folder}: its raw files are back", markup=False)
        return
    catalog, harness = Catalog(ROOT), hashes(ROOT)[HARNESS]
    if unknown := [name for name in only or [] if name not in every]:
        raise UsageError(f"there is no committed record {unknown[0]}; there are {', '.join(every)}")
    found = [committed(catalog, RESULTS, every[name], harness) for name in only or every]
    if not make_:
        if as_json:
            print_json(found)
        else:
            _shown(found)
        return
    refuse_untested(untested)
    failed = False
    for one in sorted(found, key=lambda one: one.expected_s or 0.0):
        err.print(f"{one.folder}: {one.state}")
        if one.today or one.refused:
            continue
        why = made_anew(catalog, RESULTS, every[one.folder], Path(archives), as_json)
        err.print(f"{one.folder}: {why or 'measured again'}")
        failed = failed or why is not None
    if failed:
        raise typer.Exit(1)

"""The command that makes a session of the main statements and appends it; in each of several labs at once, as a process of its own."""

import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.catalog.labs import HERE, Lab
from tandem.cli.measure import (
    CLIENT,
    kept_sessions,
    make,
    page_of,
    print_result,
    refuse_untested,
    show_result,
    tell_places,
)
from tandem.cli.options import RESULTS, ROOT, Untested, out, print_json, progress
from tandem.cli.shared import CONDITIONS, Asked, measuring
from tandem.errors import TandemError, UsageError
from tandem.facts.session import FOLDER, SessionRecord, append
from tandem.facts.statement import (
    FILE,
    Key,
    Statements,
    beside,
    draws,
    kept_apart,
    keys_now,
    known,
    read_statements,
)
from tandem.lab.sources import has_changes
from tandem.record.request import Variant
from tandem.record.store import give
from tandem.record.window import Verdict
from tandem.report.sessions import beside_lines, statements_table
from tandem.report.table import fitted
from tandem.studies.compare.conclusions import METRICS
from tandem.studies.compare.detecting import CompareOptions
from tandem.studies.compare.session import may_be_appended, session_of
from tandem.studies.compare.study import Compare

COMMAND = (sys.executable, "-m", "tandem", "session")
ERROR = "tandem: "
"""What the line of an error begins with."""


@dataclass(frozen=True)
class LabSession:
    """The end of a lab's session. session: what was appended; None where nothing was, and `problem` says why."""

    lab: str
    session: SessionRecord | None
    problem: str | None
    status: int
    """The exit status of its process."""


def names_of_labs(catalog: Catalog, text: str) -> list[str]:
    """The names in `--labs a,b`, as they are given. Raises UsageError for one that there is not, for one that is named twice, and for two that
    would disturb each other."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"--labs takes names of labs with commas between them, not '{text}'")
    labs: list[Lab] = [catalog.lab(name) for name in names]
    # By its name: what reaches other hosts is read where there are some.
    machines = pkgutil.resolve_name("tandem.lab.lab_hosts:machines")
    for one, other in combinations(labs, 2):
        if one.name == other.name:
            raise UsageError(f"--labs names {one.name} twice: a session in each lab is one session")
        if both := machines(one) & machines(other):
            raise UsageError(
                f"the labs {one.name} and {other.name} share a machine, {min(both)}: their sessions would disturb each other."
                " measure one after the other, with --lab"
            )
    for lab in labs if len(labs) > 1 else []:
        if local := [host.name for host in lab.hosts.values() if host.engine == HERE]:
            raise UsageError(
                f"{local[0]} of the lab {lab.name} is this machine, which serves the sessions of the other labs meanwhile:"
                " measure there alone, with --lab"
            )
    return names


def sessions_in(names: Sequence[str], options: Sequence[str]) -> list[LabSession]:
    """Makes the sessions and returns how each ended, in the order of the names. One that fails ends none of the others; an
    interruption ends all, as Ctrl-C would end each, and waits for what they remove. options: of the command, for each."""
    processes: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(len(names)) as threads:
        try:
            processes.extend(_begun(name, options) for name in names)
            return list(threads.map(_watched, names, processes))
        except BaseException:
            for process in processes:
                process.send_signal(signal.SIGINT)
            for process in processes:
                process.wait()
            raise


def _begun(name: str, options: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "--lab", name, "--json", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C, and the end of the client, reach this process, which hands them on once.
        start_new_session=True,
        env={key: value for key, value in os.environ.items() if key != CLIENT},
    )


def _watched(name: str, process: "subprocess.Popen[str]") -> LabSession:
    """The outcome of a process. Its progress is printed as it comes, behind the lab's name."""
    problem: list[str] = []
    assert process.stdout is not None
    assert process.stderr is not None
    with ThreadPoolExecutor(1) as reading:  # both at once: a process waits while nobody reads what it writes
        said = reading.submit(process.stdout.read)
        for line in filter(None, map(str.strip, process.stderr)):
            if problem or line.startswith(ERROR):  # a long one takes several lines, the last ones
                problem.append(line.removeprefix(ERROR))
            progress.print(f"{name}: {line}", markup=False, highlight=False)
    status = process.wait()
    try:
        return LabSession(name, SessionRecord.model_validate_json(said.result()), None, status)
    except ValidationError:
        return LabSession(name, None, " ".join(problem) or f"it ended with status {status}", status)


def refuse_changed() -> None:
    """Raises UsageError where the sources differ from their commit."""
    if (changed := has_changes(ROOT)) is None:
        raise UsageError("a session names the commit that measured, and git does not tell it here")
    if changed:
        raise UsageError(
            "a session names the commit that measured, and the sources differ from it: commit the changes first"
            " (git status lists them)"
        )


def _listed(statements: Statements, keys: list[Key], sessions: list[SessionRecord], as_json: bool) -> None:
    if as_json:
        told = []
        for one, key in zip(statements.statement, keys, strict=True):
            found = known(draws(sessions, key))
            told.append({**one.model_dump(), "known": found, "kept_apart": kept_apart(sessions, key)})
        print_json(told)
        return
    days = f", {sessions[0].started_at:%Y-%m-%d} to {sessions[-1].started_at:%Y-%m-%d}" if sessions else ""
    out.print(
        Text(f"{len(sessions)} sessions in {RESULTS.name}/sessions{days}"),
        fitted(statements_table(statements, sessions, keys), out),
        sep="\n",
    )


def _in_labs(
    labs: Sequence[str], options: Sequence[str], statements: Statements, keys: list[Key], as_json: bool
) -> None:
    """A session in each lab, and what it says beside the others. options: of the command, for each."""
    ended = sessions_in(labs, options)
    if as_json:
        print_json(ended)
    else:
        sessions = kept_sessions(RESULTS)
        for one in ended:
            out.print(Text(f"lab {one.lab}", style="bold"))
            if one.session is not None:
                out.print(*beside_lines(beside(one.session, sessions)), sep="\n")
                tell_places(RESULTS / FOLDER / f"{one.session.id}.json")
        out.print(fitted(statements_table(statements, sessions, keys), out))
    if told := [f"lab {one.lab}: {one.problem}" for one in ended if one.session is None]:
        raise TandemError("\n".join(told))
    if any(one.status for one in ended):
        raise typer.Exit(1)


@measuring(without=(*CONDITIONS, "plan"))
def session(
    asked: Asked,
    show: Annotated[
        bool,
        typer.Option("--list", help="Show what all sessions say of the main statements; measure nothing."),
    ] = False,
    labs: Annotated[
        str | None,
        typer.Option(
            "--labs", help="Several labs with commas between them: a session in each, at the same time."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--statements",
            help="TOML file of other statements, such as loadgen/statements-stacks.toml. Default: the main ones.",
        ),
    ] = None,
    untested: Untested = False,
) -> None:
    """Measure the main statements on this machine, and append what it says to results/sessions (an hour on two cores)."""
    catalog, statements = Catalog(ROOT), read_statements(ROOT, file)
    keys = keys_now(statements, catalog, METRICS, str(file or FILE))
    sessions = kept_sessions(RESULTS)
    if show:
        _listed(statements, keys, sessions, asked.as_json)
        return
    refuse_changed()
    refuse_untested(untested)
    if labs is not None:
        if asked.lab is not None:
            raise UsageError("--lab and --labs both say where to measure: leave one of them out")
        passed_on = ["--untested"] * untested + ["--resume"] * asked.resume
        passed_on += [f"--statements={file}"] if file else []
        passed_on += [] if asked.seed is None else [f"--seed={asked.seed}"]
        _in_labs(names_of_labs(catalog, labs), passed_on, statements, keys, asked.as_json)
        return
    asked = replace(
        asked,
        scenario=statements.scenario,
        plan=statements.plan,
        topology=statements.topology,
        placement=None if asked.lab else statements.placement,
    )
    variants = [Variant(label=name, implementation=name) for name in statements.implementations]
    # Each pair at rates of its own: those at which it is compared where nobody else takes part.
    options = CompareOptions.of(groups=statements.groups, pairs=statements.pairs)
    request = asked.request(Compare.name, catalog, variants, options.as_options())
    lab = f" {Path(asked.lab).stem}" if asked.lab else ""
    request = request.model_copy(update={"title": f"session{lab}"})  # the folder's name
    result, journal = make(Compare, request, asked.resume, asked.as_json)
    if why := may_be_appended(result):
        print_result(Compare, result, journal, asked.as_json)
        raise TandemError(
            f"this session is not appended: {why}. What it measured is kept in {journal.folder}"
        )
    record = session_of(catalog, result, journal.trials(), "just session")
    appended = append(record, RESULTS)
    with suppress(OSError):
        give(appended.parent, ROOT)
    if asked.as_json:
        print_json(record)
    else:
        show_result(Compare, result)
        told = statements_table(statements, [*sessions, record], keys)
        out.print(*beside_lines(beside(record, sessions)), fitted(told, out), sep="\n")
        tell_places(appended, journal.folder, page_of(journal.folder))
    if result.verdict is not Verdict.OK:
        raise typer.Exit(1)

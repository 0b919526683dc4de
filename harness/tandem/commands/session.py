"""The command that makes a session of the main statements and appends it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import (
    kept_sessions,
    make,
    page_of,
    print_result,
    refuse_untested,
    show_result,
    tell_places,
)
from tandem.cli.options import (
    RESULTS,
    ROOT,
    Untested,
    out,
    print_json,
)
from tandem.cli.shared import CONDITIONS, Asked, measuring
from tandem.commands.session_labs import names_of_labs, sessions_in
from tandem.errors import TandemError, UsageError
from tandem.facts.session import FOLDER, SessionRecord, append
from tandem.facts.statement import (
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
from tandem.studies.compare.options import CompareOptions
from tandem.studies.compare.session import may_be_appended, session_of
from tandem.studies.compare.study import Compare


def refuse_changed() -> None:
    """Raises UsageError where the sources differ from their commit."""
    changed = has_changes(ROOT)
    if changed is None:
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
    asked: Asked, labs: Sequence[str], untested: bool, statements: Statements, keys: list[Key]
) -> None:
    """A session in each lab, and what it says beside the others."""
    options = [] if asked.seed is None else [f"--seed={asked.seed}"]
    options += ["--resume"] * asked.resume + ["--untested"] * untested
    ended = sessions_in(labs, options)
    if asked.as_json:
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
    untested: Untested = False,
) -> None:
    """Measure the main statements on this machine, and append what it says to results/sessions (an hour on two cores)."""
    catalog, statements = Catalog(ROOT), read_statements(ROOT)
    keys = keys_now(statements, catalog, METRICS)
    sessions = kept_sessions(RESULTS)
    if show:
        _listed(statements, keys, sessions, asked.as_json)
        return
    refuse_changed()
    refuse_untested(untested)
    if labs is not None:
        if asked.lab is not None:
            raise UsageError("--lab and --labs both say where to measure: leave one of them out")
        _in_labs(asked, names_of_labs(catalog, labs), untested, statements, keys)
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
    file = append(record, RESULTS)
    with suppress(OSError):
        give(file.parent, ROOT)
    if asked.as_json:
        print_json(record)
    else:
        show_result(Compare, result)
        told = statements_table(statements, [*sessions, record], keys)
        out.print(*beside_lines(beside(record, sessions)), fitted(told, out), sep="\n")
        tell_places(file, journal.folder, page_of(journal.folder))
    if result.verdict is not Verdict.OK:
        raise typer.Exit(1)

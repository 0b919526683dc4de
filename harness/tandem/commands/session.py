"""The command that makes a session of the main statements and appends it."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import kept_sessions, make, page_of, show_result, tell_places
from tandem.cli.options import RESULTS, ROOT, Json, LabName, Quiet, Resume, Seed, app, out
from tandem.cli.shared import Asked
from tandem.errors import TandemError, UsageError
from tandem.facts.session import SessionRecord, append
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
from tandem.lab.provenance import has_changes
from tandem.record.request import Variant
from tandem.record.selftest import Status, line
from tandem.record.store import give
from tandem.record.window import Verdict
from tandem.report.fit import fitted
from tandem.report.sessions import beside_lines, statements_table
from tandem.studies.compare.conclusions import METRICS
from tandem.studies.compare.session import may_be_appended, session_of
from tandem.studies.compare.study import Compare


def refuse_unfit(untested: bool) -> None:
    """Raises UsageError where the sources differ from their commit, or the harness has not passed its self-test."""
    changed = has_changes(ROOT)
    if changed is None:
        raise UsageError("a session names the commit that measured, and git does not tell it here")
    if changed:
        raise UsageError(
            "a session names the commit that measured, and the sources differ from it: commit the changes first"
            " (git status lists them)"
        )
    status, told = line(RESULTS, ROOT, datetime.now(UTC))
    if status is not Status.PASSED and not untested:
        raise UsageError(f"{told}. Run just selftest first, or give --untested")


def _listed(statements: Statements, keys: list[Key], sessions: list[SessionRecord], as_json: bool) -> None:
    if as_json:
        told = []
        for one, key in zip(statements.statement, keys, strict=True):
            found = known(draws(sessions, key))
            summary = found.model_dump(mode="json") if found else None
            apart = dict(kept_apart(sessions, key))
            told.append({**one.model_dump(), "known": summary, "kept_apart": apart})
        print(json.dumps(told, indent=1))
        return
    days = f", {sessions[0].started_at:%Y-%m-%d} to {sessions[-1].started_at:%Y-%m-%d}" if sessions else ""
    out.print(
        Text(f"{len(sessions)} sessions in {RESULTS.name}/sessions{days}"),
        fitted(statements_table(statements, sessions, keys), out),
        sep="\n",
    )


@app.command()
def session(
    show: Annotated[
        bool,
        typer.Option("--list", help="Show what all sessions say of the main statements; measure nothing."),
    ] = False,
    untested: Annotated[
        bool, typer.Option("--untested", help="Measure even if this harness has not passed its self-test.")
    ] = False,
    lab: LabName = None,
    seed: Seed = None,
    resume: Resume = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure the main statements on this machine, and append what it says to results/sessions (an hour on two cores)."""
    catalog, statements = Catalog(ROOT), read_statements(ROOT)
    keys = keys_now(statements, catalog, METRICS)
    sessions = kept_sessions(RESULTS)
    if show:
        _listed(statements, keys, sessions, as_json)
        return
    refuse_unfit(untested)
    groups: list[JsonValue] = [[*group] for group in statements.groups]
    asked = Asked(
        scenario=statements.scenario,
        plan=statements.plan,
        topology=statements.topology,
        placement=None if lab else statements.placement,
        seed=seed,
        lab=lab,
    )
    variants = [Variant(label=name, implementation=name) for name in statements.implementations]
    # Each pair at rates of its own: those at which it is compared where nobody else takes part.
    request = asked.request(Compare.name, catalog, variants, {"groups": groups})
    request = request.model_copy(update={"title": "session"})
    result, journal = make(Compare, request, resume, as_json)
    if why := may_be_appended(result):
        if as_json:
            print(result.model_dump_json(indent=1))
        else:
            show_result(Compare, result)
            tell_places(journal.folder, page_of(journal.folder))
        raise TandemError(
            f"this session is not appended: {why}. What it measured is kept in {journal.folder}"
        )
    record = session_of(catalog, result, journal.trials(), statements.pairs, "just session")
    file = append(record, RESULTS)
    with suppress(OSError):
        give(file.parent, ROOT)
    if as_json:
        print(record.model_dump_json(indent=1))
    else:
        show_result(Compare, result)
        told = statements_table(statements, [*sessions, record], keys)
        out.print(*beside_lines(beside(record, sessions)), fitted(told, out), sep="\n")
        tell_places(file, journal.folder, page_of(journal.folder))
    if result.verdict is not Verdict.OK:
        raise typer.Exit(1)

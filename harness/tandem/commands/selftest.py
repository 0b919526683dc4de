"""The command that proves the harness."""

from typing import Annotated

import typer

from tandem.cli.measure import tell, view_for
from tandem.cli.options import RESULTS, ROOT, Json, Quiet, app, print_json
from tandem.errors import UsageError
from tandem.record import selftest as result
from tandem.record.store import give
from tandem.selftest import session


@app.command()
def selftest(
    full: Annotated[
        bool, typer.Option("--full", help="Run the weekly checks too, which take hours.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run this group of checks only: unit, timing, liars, …. May be repeated. The result is not kept."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue the unfinished self-test after its last finished group."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Prove that the harness is right: it measures servers of known behaviour, and each check has to fail on purpose."""
    if only and resume:
        raise UsageError("--only is not kept, so there is nothing to continue: leave --resume out")
    view = view_for(as_json)
    try:
        found = session.run(ROOT, RESULTS, view, only or [], full, resume)
        if not only:  # a part of the checks proves a part: it must not stand for the whole
            result.save(found, RESULTS)
            (RESULTS / session.FILE).unlink(missing_ok=True)
    finally:
        view.close()
        for file in (RESULTS / result.FILE, RESULTS / session.FILE):
            if file.exists():
                give(file, ROOT)
    if as_json:
        print_json(found)
    else:
        kept = None if only else RESULTS / result.FILE
        tell("selftest", session.sentence(found), found.passed, session.report(found), kept)
    if not found.passed:
        raise typer.Exit(1)

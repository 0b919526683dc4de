"""`tandem audit`: what may be concluded from numbers that others published."""

import pkgutil
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tandem.audit.readers import files_in, read
from tandem.audit.report import TITLE, report, sentence
from tandem.audit.row import Row, clean, parse_columns
from tandem.audit.rules import audit
from tandem.cli.measure import tell_places
from tandem.cli.options import RESULTS, ROOT, Json, app, err, out, print_json
from tandem.errors import UsageError
from tandem.record.window import Verdict
from tandem.report.markdown import of_report
from tandem.report.table import fitted


@app.command(name="audit")
def audit_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="What a load generator or a public table left, or a folder of such files."
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Headings of a CSV: NAME=HEADING,…, such as rate_rps=rps,mean_ms=latency. May be repeated."
        ),
    ] = None,
    connections: Annotated[
        float | None, typer.Option(min=1, help="Connections, where the file does not tell.")
    ] = None,
    depth: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Requests that a connection has at once (pipelining, streams), where the file does not tell.",
        ),
    ] = None,
    cpus: Annotated[
        float | None, typer.Option(min=0.01, help="CPUs of the server, where the file does not tell.")
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the page as Markdown.")] = False,
    as_html: Annotated[
        bool, typer.Option("--html", help="Also write the page results/page/runs/audit.html.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what may be concluded from numbers of others, and which rows contradict themselves. Exit status 1 if any does."""
    rows, not_read = rows_of(files, parse_columns(columns or []))
    given = {"connections": connections, "depth": depth, "cpus": cpus}
    found = audit([completed(row, given) for row in rows], not_read)
    told = sentence(found)
    if as_json:
        print_json(found)
    elif as_markdown:
        print(f"# {TITLE}\n\n{told[0].upper()}{told[1:]}.\n\n{of_report(report(found, markdown=True))}")
    else:
        out.print(Text(told, style="bold"), fitted(report(found), out), sep="\n")
    if as_html:
        # By its name: the page is made after the commands.
        written = pkgutil.resolve_name("tandem.page.site:page_told")
        verdict = Verdict.INVALID if found.contradicting else Verdict.OK
        page = written("audit", told, verdict, report(found), RESULTS, ROOT)
        if not (as_json or as_markdown):
            tell_places(page)
        else:
            err.print(str(page), markup=False)
    if found.contradicting:
        raise typer.Exit(1)


def completed(row: Row, given: dict[str, float | None]) -> Row:
    """A row with what was given on the command line in place of what its file does not tell."""
    missing = {name: value for name, value in given.items() if getattr(row, name) is None}
    return replace(row, **missing)  # type: ignore[arg-type]


def rows_of(files: list[Path], columns: dict[str, str]) -> tuple[list[Row], list[str]]:
    """The rows of all files; what was left out of folders, and why. Raises UsageError for a file that cannot be read, and for
    no rows at all."""
    rows: list[Row] = []
    not_read: list[str] = []
    for file in files:
        if not file.exists():
            raise UsageError(f"there is no {clean(file)}")
        if not file.is_dir():
            rows += read(file, columns)
            continue
        for one in files_in(file):
            try:
                rows += read(one, columns)
            except UsageError as error:
                not_read.append(re.split(r"\. Read are |: it has ", str(error))[0])
    if not rows:
        raise UsageError("; ".join(["there are no rows to audit", *not_read[:3]]))
    return rows, not_read

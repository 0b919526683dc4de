"""The commands that build the site of the results and serve it."""

from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from tandem.cli.options import RESULTS, ROOT, app, err
from tandem.errors import TandemError, UsageError
from tandem.studies.reproduce.experiment import read_claims

OUT = RESULTS / "page"  # tandem.page.site.FOLDER, which is not imported for the time that it takes
LOOPBACK = "127.0.0.1"

Out = Annotated[Path, typer.Option("--out", help="Folder of the site.")]


def make(folders: list[Path], out: Path, records: str | None = None) -> None:
    """Builds the site and says what it holds."""
    from tandem.page.site import build  # here, because what it imports takes longer than most commands

    if missing := [str(folder) for folder in folders if not folder.is_dir()]:
        raise UsageError(f"there is no folder {', '.join(missing)}")
    claims = [claim.publication for claim in read_claims(ROOT).values()]
    built = build(folders or [RESULTS], out, ROOT, err.print, records, claims)
    for one in built.broken:
        err.print(f"not shown: {one.name}: {one.reason}", style="yellow", markup=False, highlight=False)
    older = f", {built.older:,} older ones with their headline only" if built.older else ""
    err.print(f"{built.runs:,} results{older}. Run `just open`, or open this file:")
    print(out / "index.html")


@app.command()
def page(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Results, or folders of results. Default: results.")
    ] = None,
    out: Out = OUT,
    records: Annotated[
        str | None,
        typer.Option(
            help="URL of the repository's files, ending with /, for a site that is published elsewhere."
        ),
    ] = None,
) -> None:
    """Build the site of the results: one folder that opens from a file, offline."""
    make([folder.resolve() for folder in folders or []], out.resolve(), records)


@app.command(name="open")
def open_(
    out: Out = OUT,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1. Default: a free one.")] = 0,
) -> None:
    """Serve the site on 127.0.0.1 until Ctrl-C. Builds it first if there is none."""
    if not (out / "index.html").is_file():
        make([], out.resolve())
    with server(out, port) as served:
        print(f"http://{LOOPBACK}:{served.server_port}/", flush=True)
        with suppress(KeyboardInterrupt):  # Ctrl-C is how this ends
            served.serve_forever()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of each request."""


def server(out: Path, port: int) -> ThreadingHTTPServer:
    """Server of the site, on loopback only. Raises TandemError for a port that is taken."""
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(_Quiet, directory=str(out)))
    except OSError as error:
        raise TandemError(
            f"port {port} of {LOOPBACK} is not available: {error.strerror}. Give another with --port"
        ) from None

"""`tandem service`: a service file to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from tandem.catalog.drafts import draft
from tandem.cli.options import app


@app.command()
def service(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="OpenAPI 3 (YAML or JSON), HAR or an access log, from which the requests are taken. Default: an example.",
        ),
    ] = None,
) -> None:
    """Print a service file for --service, with comments: tandem service openapi.yaml > shop.toml."""
    print(draft(file), end="")

"""Commands that serve one implementation to a person."""

import os
import pkgutil
from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli.options import RESULTS, ROOT, app, err, out
from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.lab import images
from tandem.lab.stack import SERVED, USER_PROJECT, Stack, other_measurements


def _user_stack(implementation: str, topology: str) -> Stack:
    catalog = Catalog(ROOT)
    catalog.implementation(implementation)
    ports = {name: os.environ[name] for name in ("HTTP_PORT", "STATS_PORT") if name in os.environ}
    variables = dict(catalog.pick("topology", topology, catalog.topologies).variables)
    variables |= {"IMPL": implementation, **ports}
    return Stack(ROOT, USER_PROJECT, variables, RESULTS / ".up.env")


@app.command()
def up(
    implementation: Annotated[str, typer.Argument(help="Implementation to serve.")] = "rust-async",
    topology: Annotated[
        str, typer.Option(help="Parts between client and database: direct, pooled, proxied or full.")
    ] = "full",
) -> None:
    """Serve one implementation on 127.0.0.1:8080, with HAProxy's statistics on 127.0.0.1:8404."""
    stack = _user_stack(implementation, topology)
    images.build_side_by_side({service: (stack, service) for service in SERVED}, err.print)
    stack.up()
    port, stats = os.environ.get("HTTP_PORT", "8080"), os.environ.get("STATS_PORT", "8404")
    out.print(
        f"{implementation} answers at http://127.0.0.1:{port}/api/v1/recipes, HAProxy at http://127.0.0.1:{stats}/"
    )


@app.command()
def down(
    lab: Annotated[
        str | None,
        typer.Option(
            "--lab",
            help="Instead, remove everything of Tandem on the hosts of this lab, including what a killed command left.",
        ),
    ] = None,
) -> None:
    """Remove what `up` started."""
    if lab is None:
        _user_stack("rust-async", "full").down()
        return
    if others := other_measurements(HERE):
        raise TandemError(
            f"a command is measuring (container {others[0]}): end it first, with docker stop {others[0]}"
        )
    clean_lab = pkgutil.resolve_name("tandem.lab.lab_hosts:clean_lab")
    for told in clean_lab(Catalog(ROOT).lab(lab), ROOT, RESULTS / ".leftovers.env"):
        out.print(told)


@app.command()
def clean() -> None:
    """Remove untagged images of earlier builds of this project, and nothing else."""
    found = images.untagged()
    out.print(f"{images.held(found)}; removed {images.remove(found)}")


@app.command()
def logs(
    service: Annotated[str, typer.Argument(help="Service: app, proxy, pgbouncer or db.")] = "app",
) -> None:
    """Print the log of a service that `up` started."""
    print(_user_stack("rust-async", "full").log(service, lines=1000))

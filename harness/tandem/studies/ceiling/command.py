"""`tandem ceiling`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import measure
from tandem.cli.options import (
    ROOT,
    ChosenPlacement,
    Json,
    Resume,
    ScenarioName,
    Seed,
    app,
    make_request,
    read_variants,
)
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.studies.ceiling.study import Ceiling, supporting


@app.command()
def ceiling(
    variants: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VARIANT]...", help="Some only; default: all that support the scenario."),
    ] = None,
    scenario: ScenarioName = "recipes",
    plan: Annotated[
        str, typer.Option(help="Its trials are the rounds; its warm-up and windows are used.")
    ] = "ceiling",
    placement: ChosenPlacement = None,
    seed: Seed = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Measure what HAProxy, a null application and pgbench reach, and how near each implementation comes."""
    catalog = Catalog(ROOT)
    request = make_request(
        Ceiling.name,
        catalog,
        read_variants(supporting(catalog, scenario, variants)),
        scenario=scenario,
        plan=plan,
        topology=DEFAULT_TOPOLOGY,
        placement=placement,
        seed=seed,
    )
    measure(Ceiling, request, resume, as_json)

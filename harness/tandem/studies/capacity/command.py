"""`tandem capacity`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import measure
from tandem.cli.options import (
    ROOT,
    ChosenPlacement,
    ChosenTopology,
    DbRtt,
    Json,
    Resume,
    ScenarioName,
    Seed,
    Settings,
    app,
    make_request,
    read_variant,
)
from tandem.studies.capacity.search import parse_slo
from tandem.studies.capacity.study import Capacity


@app.command()
def capacity(
    variant: Annotated[
        str,
        typer.Argument(
            metavar="VARIANT",
            help="NAME or NAME:SETTING=VALUE,…; NAME is a folder with a bench.toml, `tandem list` names them.",
        ),
    ],
    slo: Annotated[str, typer.Option(help="What the response time may be: p99=50ms, p90=20ms.")] = "p99=50ms",
    scenario: ScenarioName = "recipes",
    plan: Annotated[
        str, typer.Option(help="Its trials confirm; its warm-up and shortest windows are used.")
    ] = "capacity",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    setting: Settings = None,
    db_rtt: DbRtt = None,
    seed: Seed = None,
    longest: Annotated[int, typer.Option(min=5, help="No window is longer than so many seconds.")] = 60,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Search the highest rate that meets an objective, confirm it, and show what happens around it."""
    request = make_request(
        Capacity.name,
        Catalog(ROOT),
        [read_variant(variant)],
        scenario=scenario,
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
        options={"slo": parse_slo(slo).asked, "longest_s": longest},
    )
    measure(Capacity, request, resume, as_json)

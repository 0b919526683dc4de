"""`tandem bench`."""

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
    Variants,
    app,
    make_request,
    read_variants,
)
from tandem.studies.bench.study import Bench


@app.command()
def bench(
    variants: Variants,
    plan: Annotated[
        str, typer.Option(help="How long and how often: smoke, quick, or a TOML file of your own.")
    ] = "quick",
    scenario: ScenarioName = "recipes",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    seed: Seed = None,
    setting: Settings = None,
    db_rtt: DbRtt = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    request = make_request(
        Bench.name,
        Catalog(ROOT),
        read_variants(variants),
        scenario=scenario,
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
    )
    measure(Bench, request, resume, as_json)

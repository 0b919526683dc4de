"""`tandem compare`."""

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
from tandem.studies.compare.study import Compare


@app.command()
def compare(
    variants: Variants,
    plan: Annotated[str, typer.Option(help="Its table [compare]: blocks, rounds, windows.")] = "quick",
    scenario: ScenarioName = "recipes",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    seed: Seed = None,
    setting: Settings = None,
    db_rtt: DbRtt = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Say which is better and by how much: blocks of fresh starts, all warm, short windows in turn.

    The first variant is the reference, which takes part twice. One alone is compared with itself.
    """
    request = make_request(
        Compare.name,
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
    measure(Compare, request, resume, as_json)

"""`tandem bench`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.studies.bench.study import Bench


@cli.app.command()
def bench(
    variants: cli.Variants,
    plan: Annotated[
        str, typer.Option(help="How long and how often: smoke, quick, or a TOML file of your own.")
    ] = "quick",
    scenario: cli.ScenarioName = "recipes",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    seed: cli.Seed = None,
    setting: cli.Settings = None,
    db_rtt: cli.DbRtt = None,
    resume: cli.Resume = False,
    as_json: cli.Json = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    request = cli.make_request(
        Bench.name,
        Catalog(cli.ROOT),
        cli.read_variants(variants),
        scenario=scenario,
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
    )
    measure(Bench, request, resume, as_json)

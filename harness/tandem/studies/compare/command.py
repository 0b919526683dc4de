"""`tandem compare`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.studies.compare.study import Compare


@cli.app.command()
def compare(
    variants: cli.Variants,
    plan: Annotated[str, typer.Option(help=r"Its table \[compare]: blocks, rounds, windows.")] = "quick",
    scenario: cli.ScenarioName = "recipes",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    seed: cli.Seed = None,
    setting: cli.Settings = None,
    db_rtt: cli.DbRtt = None,
    resume: cli.Resume = False,
    as_json: cli.Json = False,
) -> None:
    """Say which is better and by how much: blocks of fresh starts, all warm, short windows in turn.

    The first variant is the reference, which takes part twice. One alone is compared with itself.
    """
    request = cli.make_request(
        Compare.name,
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
    measure(Compare, request, resume, as_json)

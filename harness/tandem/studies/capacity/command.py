"""`tandem capacity`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.studies.capacity.search import parse_slo
from tandem.studies.capacity.study import Capacity


@cli.app.command()
def capacity(
    variant: Annotated[
        str,
        typer.Argument(
            metavar="VARIANT",
            help="NAME or NAME:SETTING=VALUE,…. NAME is an implementation that `tandem list` prints.",
        ),
    ],
    slo: Annotated[
        str, typer.Option(help="Objective for the response time, such as p99=50ms or p90=20ms.")
    ] = "p99=50ms",
    scenario: cli.ScenarioName = "recipes",
    plan: Annotated[
        str,
        typer.Option(
            help="Plan. Sets the number of further fresh starts, the warm-up and the shortest window."
        ),
    ] = "capacity",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    setting: cli.Settings = None,
    db_rtt: cli.DbRtt = None,
    generators: cli.Generators = 1,
    lab: cli.LabName = None,
    seed: cli.Seed = None,
    longest: Annotated[int, typer.Option(min=5, help="Length of the longest window, in seconds.")] = 60,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Find the highest rate that meets an objective, with an interval over fresh starts, and show what happens around it."""
    request = cli.make_request(
        Capacity.name,
        Catalog(cli.ROOT),
        [cli.read_variant(variant)],
        scenario=scenario,
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
        generators=generators,
        lab=lab,
        options={"slo": parse_slo(slo).asked, "longest_s": longest},
    )
    measure(Capacity, request, resume, as_json)

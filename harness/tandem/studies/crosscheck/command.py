"""`tandem crosscheck`: a second load generator is asked."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.studies.crosscheck.study import CrossCheck, CrossCheckOptions

PLAN = "ceiling"
"""Its warm-up is used."""


@cli.app.command()
def crosscheck(
    variant: Annotated[str, typer.Argument(help="Implementation that both load. `tandem list` prints them.")],
    scenario: cli.ScenarioName = "index",
    rate: Annotated[
        int | None,
        typer.Option(min=1, help="Requests per second. Default: half of what a closed loop reaches."),
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=3, help="Number of pairs of windows, one window by each generator.")
    ] = 6,
    window: Annotated[int, typer.Option(min=4, help="Length of each window, in seconds.")] = 5,
    placement: cli.ChosenPlacement = None,
    db_rtt: cli.DbRtt = None,
    generators: cli.Generators = 1,
    lab: cli.LabName = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Load one implementation with oha and vegeta in turn, and check that they agree. Exit status 1: they do not."""
    options = CrossCheckOptions(pairs=pairs, window_s=window, rate_rps=rate)
    request = cli.make_request(
        CrossCheck.name,
        Catalog(cli.ROOT),
        [cli.read_variant(variant)],
        scenario=scenario,
        plan=PLAN,
        topology=DEFAULT_TOPOLOGY,
        placement=placement,
        db_rtt=db_rtt,
        generators=generators,
        lab=lab,
        options=options.as_options(),
    )
    measure(CrossCheck, request, resume, as_json)

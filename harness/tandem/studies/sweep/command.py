"""`tandem sweep`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.studies.sweep.axis import WAIT_SCENARIO, parse_over
from tandem.studies.sweep.study import Sweep, SweepOptions


@cli.app.command()
def sweep(
    variants: cli.Variants,
    over: Annotated[
        str,
        typer.Option(
            help="Setting and values: connections=1..512 (powers of two), pool=4,10,32, threads=1..64 or wait=0,1,5,20,100 (ms)."
        ),
    ],
    rounds: Annotated[int, typer.Option(min=2, help="Number of fresh starts at each value.")] = 3,
    scenario: Annotated[
        str | None, typer.Option(help="Scenario: what the client requests. Default: recipes; for wait: work.")
    ] = None,
    plan: Annotated[str, typer.Option(help="Plan. Sets the warm-up and the closed window.")] = "ceiling",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    setting: cli.Settings = None,
    db_rtt: cli.DbRtt = None,
    generators: cli.Generators = 1,
    lab: cli.LabName = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Measure implementations at each value of one setting: the peak, where it begins, and the loss beyond it."""
    swept = parse_over(over)
    request = cli.make_request(
        Sweep.name,
        Catalog(cli.ROOT),
        cli.read_variants(variants),
        scenario=scenario or (WAIT_SCENARIO if swept.axis == "wait" else "recipes"),
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
        generators=generators,
        lab=lab,
        options=SweepOptions.of(swept, rounds),
    )
    measure(Sweep, request, resume, as_json)

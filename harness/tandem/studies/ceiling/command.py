"""`tandem ceiling`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.studies.ceiling.study import Ceiling, supporting


@cli.app.command()
def ceiling(
    variants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VARIANT]...",
            help="Variants to measure. Default: every implementation that serves the scenario.",
        ),
    ] = None,
    scenario: cli.ScenarioName = "recipes",
    plan: Annotated[
        str, typer.Option(help="Plan. Sets the number of rounds, the warm-up and the windows.")
    ] = "ceiling",
    placement: cli.ChosenPlacement = None,
    generators: cli.Generators = 1,
    lab: cli.LabName = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Measure the rates of HAProxy, a null application and pgbench, and how near each implementation comes to them."""
    catalog = Catalog(cli.ROOT)
    request = cli.make_request(
        Ceiling.name,
        catalog,
        cli.read_variants(supporting(catalog, scenario, variants)),
        scenario=scenario,
        plan=plan,
        topology=DEFAULT_TOPOLOGY,
        placement=placement,
        generators=generators,
        lab=lab,
        seed=seed,
    )
    measure(Ceiling, request, resume, as_json)

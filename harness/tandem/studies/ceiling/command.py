"""`tandem ceiling`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.studies.ceiling.study import Ceiling, supporting

PLAN = Default("ceiling", "Plan. Sets the number of rounds, the warm-up and the windows.")


@measuring(
    without=("topology", "setting", "db_rtt", "arrivals", "clients"),
    plan=PLAN,
    topology=Default(DEFAULT_TOPOLOGY),
)
def ceiling(
    asked: Asked,
    variants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VARIANT]...",
            help="Variants to measure. Default: every implementation that serves the scenario.",
        ),
    ] = None,
) -> None:
    """Measure the rates of HAProxy, a null application and pgbench, and how near each implementation comes to them."""
    catalog = Catalog(cli.ROOT)
    found = cli.read_variants(supporting(catalog, asked.scenario, variants))
    asked.measure_variants(Ceiling, found)

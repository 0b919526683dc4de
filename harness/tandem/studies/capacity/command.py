"""`tandem capacity`."""

from typing import Annotated

import typer

from tandem.cli import options as cli
from tandem.cli.shared import AT_RANDOM, Asked, Default, measuring
from tandem.studies.capacity.search import parse_slo
from tandem.studies.capacity.study import Capacity, CapacityOptions

SLO = "p99=50ms"
PLAN = Default(
    "capacity", "Plan. Sets the number of further fresh starts, the warm-up and the shortest window."
)


@measuring(own=True, plan=PLAN, arrivals=AT_RANDOM)
def capacity(
    asked: Asked,
    variant: cli.OneVariant = None,
    slo: Annotated[
        str | None,
        typer.Option(
            help=f"Objective for the response time, such as p90=20ms. Default: the service file's, or {SLO}."
        ),
    ] = None,
    longest: Annotated[int, typer.Option(min=5, help="Length of the longest window, in seconds.")] = 60,
) -> None:
    """Find the highest rate that meets an objective, with an interval over fresh starts, and show what happens around it."""
    service = asked.own_service
    objective = slo or (service.slo if service else "") or SLO
    options = CapacityOptions(slo=parse_slo(objective).asked, longest_s=longest)
    asked.measure_variants(Capacity, asked.variants([variant] if variant else []), options)

"""`tandem capacity`."""

from typing import Annotated

import typer
from pydantic import JsonValue

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.studies.capacity.search import parse_slo
from tandem.studies.capacity.study import Capacity

PLAN = Default(
    "capacity", "Plan. Sets the number of further fresh starts, the warm-up and the shortest window."
)


@measuring(plan=PLAN)
def capacity(
    asked: Asked,
    variant: cli.OneVariant,
    slo: Annotated[
        str, typer.Option(help="Objective for the response time, such as p99=50ms or p90=20ms.")
    ] = "p99=50ms",
    longest: Annotated[int, typer.Option(min=5, help="Length of the longest window, in seconds.")] = 60,
) -> None:
    """Find the highest rate that meets an objective, with an interval over fresh starts, and show what happens around it."""
    options: dict[str, JsonValue] = {"slo": parse_slo(slo).asked, "longest_s": longest}
    variants = [cli.read_variant(variant)]
    asked.measure(Capacity, asked.request(Capacity.name, Catalog(cli.ROOT), variants, options))

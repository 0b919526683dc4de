"""`tandem crosscheck`: a second load generator is asked."""

from typing import Annotated

import typer

from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.studies.crosscheck.study import CrossCheck, CrossCheckOptions


@measuring(
    without=("topology", "plan", "setting", "seed", "arrivals", "clients"),
    scenario=Default("index"),
    topology=Default(DEFAULT_TOPOLOGY),
    plan=Default("ceiling"),  # its warm-up is used
)
def crosscheck(
    asked: Asked,
    variant: Annotated[str, typer.Argument(help="Implementation that both load. `tandem list` prints them.")],
    rate: Annotated[
        int | None,
        typer.Option(min=1, help="Requests per second. Default: half of what a closed loop reaches."),
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=3, help="Number of pairs of windows, one window by each generator.")
    ] = 6,
    window: Annotated[int, typer.Option(min=4, help="Length of each window, in seconds.")] = 5,
) -> None:
    """Load one implementation with oha and vegeta in turn, and check that they agree. Exit status 1: they do not."""
    options = CrossCheckOptions(pairs=pairs, window_s=window, rate_rps=rate)
    asked.measure_variants(CrossCheck, [cli.read_variant(variant)], options)

"""`tandem soak`."""

from typing import Annotated

import typer

from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.studies.soak.study import Soak, SoakOptions

PLAN = Default("mix", "Plan. Sets the warm-up and the full load from which the rate follows.")
BYTES_PER_S = 250_000
"""Rows of single requests at 2,000 requests per second, which is more than any implementation here is offered."""


@measuring(own=True, plan=PLAN)
def soak(
    asked: Asked,
    variants: cli.VariantsOrImages = None,
    lasts: Annotated[
        str, typer.Option("--for", help="How long each variant is loaded, such as 30m or 2h.")
    ] = "30m",
    window: Annotated[int, typer.Option(min=5, help="Length of each window, in seconds.")] = 60,
    share: Annotated[
        float, typer.Option(min=0.05, max=0.95, help="Offered rate, as a share of what full load reaches.")
    ] = 0.6,
) -> None:
    """Load implementations for long at one rate: what becomes of memory, descriptors, connections and the slow requests."""
    read = asked.variants(variants)
    options = SoakOptions(lasts_s=cli.parse_budget_s(lasts, "--for"), window_s=window, share=share)
    needed, free = options.lasts_s * BYTES_PER_S * len(read), HERE.free_bytes()
    if needed > free:
        raise UsageError(
            f"--for {lasts} may leave {needed / 1e9:,.0f} GB of rows, and the disk has {free / 1e9:,.0f} GB left: a shorter time fits"
        )
    asked.measure_variants(Soak, read, options)

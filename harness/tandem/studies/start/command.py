"""`tandem start`."""

from typing import Annotated

import typer

from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.studies.start.study import Starting, StartOptions


@measuring(
    own=True, without=("plan", "arrivals", "clients"), plan=Default("mix")
)  # its last second is left out
def start(
    asked: Asked,
    variants: cli.VariantsOrImages = None,
    starts: Annotated[int, typer.Option(min=2, help="Number of fresh starts of each variant.")] = 6,
    load: Annotated[int, typer.Option(min=6, help="Seconds of full load right after each start.")] = 20,
) -> None:
    """Measure fresh starts: seconds to the first answer, to the first right one, and to the full rate."""
    asked.measure_variants(Starting, asked.variants(variants), StartOptions(starts=starts, load_s=load))

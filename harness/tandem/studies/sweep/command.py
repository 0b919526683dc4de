"""`tandem sweep`."""

from dataclasses import replace
from typing import Annotated

import typer

from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.errors import UsageError
from tandem.lab import own_service
from tandem.studies.sweep.conclusions import ENVIRONMENT, WAIT_SCENARIO, parse_over
from tandem.studies.sweep.study import Sweep, SweepOptions


@measuring(
    own=True, without=("arrivals",), plan=Default("ceiling", "Plan. Sets the warm-up and the closed window.")
)
def sweep(
    asked: Asked,
    over: Annotated[
        str,
        typer.Option(
            help="Setting and values: connections=1..512 (powers of two), pool=4,10,32, threads=1..64, wait=0,1,5,20,100 (ms), or"
            " env:NAME=4,10 of a service of your own."
        ),
    ],
    variants: cli.VariantsOrImages = None,
    rounds: Annotated[int, typer.Option(min=2, help="Number of fresh starts at each value.")] = 3,
    scenario: Annotated[
        str | None, typer.Option(help="Scenario: what the client requests. Default: recipes; for wait: work.")
    ] = None,
) -> None:
    """Measure implementations at each value of one setting: the peak, where it begins, and the loss beyond it."""
    swept = parse_over(over)
    asked = replace(asked, scenario=scenario or (WAIT_SCENARIO if swept.axis == "wait" else asked.scenario))
    measured, tags = asked.variants(variants), {}
    if variable := ENVIRONMENT.fullmatch(swept.axis):
        if asked.own_service is None:
            raise UsageError("--over env: is of a service of your own: others have settings, --over pool=4,10")
        tags = {
            one.label: {value: own_service.tag_with(one, {variable[1]: str(value)}) for value in swept.values}
            for one in measured
        }
    options = SweepOptions(axis=swept.axis, values=[*swept.values], rounds=rounds, tags=tags)
    asked.measure_variants(Sweep, measured, options)

"""`tandem sweep`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import cpus_in, fitted, widened
from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.errors import UsageError
from tandem.hosts import HERE
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
            help="Setting and values: connections=1..512 (powers of two), pool=4,10,32, threads=1..64, cores=1,2, wait=0,1,5,20,100 (ms), or"
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
    axis, values = parse_over(over)
    asked = replace(asked, scenario=scenario or (WAIT_SCENARIO if axis == "wait" else asked.scenario))
    measured, tags = asked.variants(variants), {}
    if variable := ENVIRONMENT.fullmatch(axis):
        if asked.own_service is None:
            raise UsageError(
                "--over env: is of a service of your own: others have settings, --over pool=4,10"
            )
        tags = {
            one.label: {value: own_service.tag_with(one, {variable[1]: str(value)}) for value in values}
            for one in measured
        }
    options = SweepOptions(axis=axis, values=values, rounds=rounds, tags=tags)
    if axis == "cores":
        options = options.model_copy(update=on_cores(asked, values))
    asked.measure_variants(Sweep, measured, options)


def on_cores(asked: Asked, values: Sequence[int]) -> dict[str, Any]:
    """The options that say which CPUs an application has at each value. Raises UsageError."""
    if asked.lab:
        raise UsageError(
            "--over cores is of this machine: the file of a lab says which CPUs its application has"
        )
    catalog, topology = Catalog(cli.ROOT), HERE.topology()
    name = asked.placement or catalog.default_placement(topology.places).name
    placement = fitted(catalog.pick("placement", name, catalog.placements), topology)
    own = cpus_in(placement.variables.get("APP_CPUSET", ""))
    return {"cpusets": {value: widened(placement.variables, value) for value in values}, "own_cores": own}

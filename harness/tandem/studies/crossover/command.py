"""`tandem crossover`."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.studies.crossover.study import Crossover, CrossoverOptions, whole_numbers


@measuring(
    without=("db_rtt", "arrivals", "clients"),
    plan=Default("crossover", "Plan. Sets the warm-up and the closed window."),
)
def crossover(
    asked: Asked,
    variants: cli.Variants,
    wait: Annotated[
        str,
        typer.Option(
            help="Added round-trip times of the database. In the scenario work: how long each request waits."
        ),
    ] = "0,1,5,15,50ms",
    threads: Annotated[
        str | None, typer.Option(help="Handler threads of each worker of sync variants, such as 4,16,64.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(help="DB_POOL_MAX: database connections of the whole application, such as 4,20."),
    ] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="Connections of the closed loop. Default: the scenario's own.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=2, help="Number of fresh starts of each cell.")] = 3,
) -> None:
    """Find the wait from which one of two variants wins, with a model's prediction beside each cell."""
    catalog = Catalog(cli.ROOT)
    options = CrossoverOptions(
        waits_ms=whole_numbers("--wait", wait, 0, "ms"),
        threads=whole_numbers("--threads", threads, 1),
        pools=whole_numbers("--pool", pool, 1),
        rounds=rounds,
        app_cpus=cli.app_cpus(catalog.lab(asked.lab)) if asked.lab else None,
    )
    changes = {} if connections is None else {"connections": connections}
    chosen = [one.model_copy(update={"scenario_changes": changes}) for one in cli.read_variants(variants)]
    asked.measure_variants(Crossover, chosen, options)

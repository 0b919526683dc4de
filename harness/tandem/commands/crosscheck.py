"""The command that asks a second load generator."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.commands.options import (
    RESULTS,
    ROOT,
    ChosenPlacement,
    DbRtt,
    Json,
    ScenarioName,
    app,
    conditions,
    err,
    print_result,
)
from tandem.crosscheck import crosscheck
from tandem.crosscheck.session import CrossCheckSession
from tandem.lab.live import Lines, make_view
from tandem.old.prepare import DEFAULT_TOPOLOGY


@app.command(name="crosscheck")
def crosscheck_(
    implementation: Annotated[str, typer.Argument(help="Which one both load; `tandem list` names them.")],
    scenario: ScenarioName = "index",
    rate: Annotated[
        int | None,
        typer.Option(min=1, help="Requests per second; default: half of what a closed loop reaches."),
    ] = None,
    pairs: Annotated[int, typer.Option(min=3, help="Of windows, one by each generator.")] = 6,
    window: Annotated[int, typer.Option(min=4, help="Seconds of each window.")] = 5,
    placement: ChosenPlacement = None,
    db_rtt: DbRtt = None,
    as_json: Json = False,
) -> None:
    """Load one implementation with oha and vegeta in turn, and say whether they agree; 1 if they do not."""
    catalog = Catalog(ROOT)
    under = conditions(catalog, scenario, DEFAULT_TOPOLOGY, placement, "ceiling", None, db_rtt)
    view = Lines(err) if as_json else make_view(err)
    try:
        session = CrossCheckSession(under, catalog.scenarios[scenario], RESULTS, view, 0, pairs, window, rate)
        found = session.run(implementation)
    finally:
        view.close()
    print_result(found, crosscheck.report, as_json)
    if found.verdict == "disagree":
        raise typer.Exit(1)

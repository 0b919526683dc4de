"""The command that searches: the capacity of one implementation."""

from typing import Annotated

import typer

from tandem.capacity import journal as capacity_journal
from tandem.capacity import record as capacity_record
from tandem.capacity import search as capacity
from tandem.capacity import session as capacity_session
from tandem.catalog.catalog import Catalog
from tandem.commands.options import (
    RESULTS,
    ROOT,
    ChosenPlacement,
    ChosenTopology,
    DbRtt,
    Json,
    Knobs,
    ScenarioName,
    Seed,
    app,
    conditions,
    err,
    print_result,
    seed_or_new,
)
from tandem.lab.live import Lines, View, make_view
from tandem.old.session import lasts
from tandem.record.window import Verdict


def _view(as_json: bool) -> View:
    return Lines(err) if as_json else make_view(err)


@app.command(name="capacity")
def capacity_(
    implementation: Annotated[str, typer.Argument(help="A folder with a bench.toml.")],
    slo: Annotated[str, typer.Option(help="What the response time may be: p99=50ms, p90=20ms.")] = "p99=50ms",
    scenario: ScenarioName = "recipes",
    plan: Annotated[
        str, typer.Option(help="Its trials confirm; its warm-up and shortest windows are used.")
    ] = "capacity",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    knob: Knobs = None,
    db_rtt: DbRtt = None,
    seed: Seed = None,
    longest: Annotated[int, typer.Option(min=5, help="No window is longer than so many seconds.")] = 60,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished search like this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search the highest rate that meets an objective, confirm it, and show what happens around it."""
    catalog = Catalog(ROOT)
    chosen = catalog.implementation(implementation)
    under = conditions(catalog, scenario, topology, placement, plan, knob, db_rtt)
    objective = capacity.parse_slo(slo)
    under.check(scenario, [chosen])
    asked = capacity_journal.Asked(
        implementation=implementation,
        scenario=scenario,
        topology=under.topology,
        placement=under.placement,
        plan=plan,
        knobs=under.knobs,
        slo=objective,
        longest_s=longest,
        db_rtt_ms=under.db_rtt_ms,
        seed=seed_or_new(seed),
    )
    view = _view(as_json)
    short, long = capacity_session.estimate_s(under.plan, longest)
    view.note(
        f"capacity of {implementation} for {objective}: {lasts(short)} after the builds, up to {lasts(long)} where"
        f" {objective.samples:,} samples need long windows"
    )
    try:
        found = capacity_session.CapacitySession(
            under, catalog.scenarios[scenario], RESULTS, view, asked.seed, asked
        ).run(resume)
    finally:
        view.close()
    print_result(found, capacity_record.report, as_json)
    if found.verdict is not Verdict.OK:
        raise typer.Exit(1)

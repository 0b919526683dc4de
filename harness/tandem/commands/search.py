"""The command that searches how implementations answer to a setting."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.commands.options import (
    RESULTS,
    ROOT,
    ChosenPlacement,
    ChosenTopology,
    DbRtt,
    Implementations,
    Json,
    Knobs,
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
from tandem.sweep import report as sweep_report
from tandem.sweep import session as sweep_session
from tandem.sweep import sweep


def _view(as_json: bool) -> View:
    return Lines(err) if as_json else make_view(err)


@app.command(name="sweep")
def sweep_(
    implementations: Implementations,
    over: Annotated[
        str,
        typer.Option(
            help="connections=1..512 (powers of two), pool=4,10,32, threads=1..64 or wait=0,1,5,20,100 (ms)."
        ),
    ],
    rounds: Annotated[int, typer.Option(min=2, help="Fresh starts at each value.")] = 3,
    scenario: Annotated[
        str | None, typer.Option(help="What the client asks for; default: recipes, for wait: work.")
    ] = None,
    plan: Annotated[str, typer.Option(help="Its warm-up and closed window are used.")] = "ceiling",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    knob: Knobs = None,
    db_rtt: DbRtt = None,
    seed: Seed = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished sweep like this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure implementations at each value of one setting: peak, where it begins, what is lost beyond it."""
    catalog = Catalog(ROOT)
    swept = sweep.parse_over(over)
    asked_for = sweep_session.default_scenario(catalog, swept, scenario)
    under = conditions(catalog, asked_for.name, topology, placement, plan, knob, db_rtt)
    names = list(dict.fromkeys(implementations))
    sweep_session.check(under, asked_for, swept, names)
    asked = sweep.Asked(
        implementations=names,
        axis=swept.axis,
        values=list(swept.values),
        rounds=rounds,
        scenario=asked_for.name,
        topology=under.topology,
        placement=under.placement,
        plan=plan,
        seed=seed_or_new(seed),
        knobs=under.knobs,
        db_rtt_ms=under.db_rtt_ms,
    )
    view = _view(as_json)
    points = len(sweep.steps(asked))
    view.note(
        f"{swept.axis} {', '.join(map(str, swept.values))}: {points} fresh starts, about"
        f" {lasts(sweep_session.estimate_s(under.plan, asked))} after the builds"
    )
    try:
        found = sweep_session.SweepSession(under, asked_for, RESULTS, view, asked.seed).run(asked, resume)
    finally:
        view.close()
    print_result(found, sweep_report.report, as_json)
    if found.verdict is not Verdict.OK:
        raise typer.Exit(1)

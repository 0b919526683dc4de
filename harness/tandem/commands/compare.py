"""The command that compares."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.catalog.entrant import read_entrants
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
from tandem.compare import report as comparison_report
from tandem.compare.session import ComparisonSession, estimate_s, pairing_of
from tandem.hosts import HERE
from tandem.lab.live import Lines, make_view
from tandem.old.prepare import refuse_or_clean_up
from tandem.old.session import lasts
from tandem.old.store import Request, Store
from tandem.record.window import Verdict


@app.command(name="compare")
def compare_(
    entrants: Annotated[
        list[str],
        typer.Argument(
            metavar="ENTRANT...",
            help="NAME or NAME:KNOB=VALUE,…; the first is the reference. One alone is compared with itself.",
        ),
    ],
    plan: Annotated[str, typer.Option(help="Its table [compare]: blocks, rounds, windows.")] = "quick",
    scenario: ScenarioName = "recipes",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    seed: Seed = None,
    knob: Knobs = None,
    db_rtt: DbRtt = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished comparison like this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which is better and by how much: blocks of fresh starts, all warm, short windows in turn."""
    catalog = Catalog(ROOT)
    named = read_entrants(catalog, entrants)
    under = conditions(catalog, scenario, topology, placement, plan, knob, db_rtt)
    pairing = pairing_of(under)
    for entrant in named:
        under.with_knobs(entrant.knobs).check(scenario, [entrant.implementation])
    request = Request(
        kind="compare",
        implementations=[entrant.label for entrant in named],
        scenario=scenario,
        topology=under.topology,
        placement=under.placement,
        plan=plan,
        seed=seed_or_new(seed),
        knobs=under.knobs,
        db_rtt_ms=under.db_rtt_ms,
    )
    view = Lines(err) if as_json else make_view(err)
    view.note(
        f"plan {plan}: {pairing.blocks} blocks of {pairing.rounds} × {pairing.window_s} s for each of"
        f" {', '.join(request.implementations)} and once more {named[0].label},"
        f" about {lasts(estimate_s(under.plan, len(named)))} after the builds"
    )
    if unfit := under.plan.unfit(HERE.cpus):
        view.note(unfit)
    try:
        refuse_or_clean_up(ROOT, RESULTS, view.note)
        store = Store.resume(RESULTS, request) if resume else Store.create(RESULTS, request)
        seed = store.campaign.request.seed  # a resumed comparison keeps its order
        found = ComparisonSession(under, catalog.scenarios[scenario], RESULTS, view, seed).run(store, named)
    finally:
        view.close()
    print_result(found, comparison_report.report, as_json)
    if not as_json:
        file = store.folder / "compare.json"
        print(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)
    verdicts = {found.findings.verdict, *(entry.verdict for entry in found.findings.entries)}
    if verdicts != {Verdict.OK}:
        raise typer.Exit(1)

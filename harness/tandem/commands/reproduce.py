"""`tandem reproduce`: the experiments that were published, made again."""

import json
from collections.abc import Callable
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.table import Table

from tandem.catalog.catalog import Catalog
from tandem.commands.options import RESULTS, ROOT, Json, Seed, app, err, out, print_result, seed_or_new
from tandem.errors import UsageError, unknown
from tandem.lab.live import Lines, make_view
from tandem.old.session import lasts
from tandem.record import store
from tandem.record.window import Verdict
from tandem.reproduce import report
from tandem.reproduce.connections import ConnectionsSession
from tandem.reproduce.experiment import Experiment, Kind, PlanName, pick, read_all
from tandem.reproduce.http import HttpSession
from tandem.reproduce.journal import RESULT
from tandem.reproduce.kinds import Bench, Session
from tandem.reproduce.result import Asked
from tandem.reproduce.tools import ToolsSession
from tandem.studies.files import command as files
from tandem.studies.files.spec import scaled

KINDS: dict[Kind, Callable[[Bench], Session]] = {
    "http": HttpSession,
    "tools": ToolsSession,
    "connections": ConnectionsSession,
}
"""How each kind is measured; `files` is a study of its own."""
LIST = "list"
REFERENCES = ROOT / "results/reference-experiments"
PLANS: tuple[PlanName, ...] = get_args(PlanName)


@app.command(name="reproduce")
def reproduce_(
    experiment: Annotated[str, typer.Argument(help="One that `list` names, or a TOML file of your own.")],
    plan: Annotated[
        str,
        typer.Option(
            help="smoke: some rows, briefly; core: the same in ten fresh starts; wide: every row as briefly, in three;"
            " full: every row, as long as it needs."
        ),
    ] = "smoke",
    seed: Seed = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished reproduction like this one.")
    ] = False,
    scale: Annotated[
        float | None,
        typer.Option(
            help="file-io: this share of the published lines, for a small disk; default: the plan's."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a published experiment again: our result beside the published one, and what became of each claim."""
    experiments = read_all(ROOT)
    if experiment == LIST:
        _list(experiments, as_json)
        return
    named = _plan(plan)
    chosen = scaled(pick(experiments, experiment), named, scale)
    if chosen.kind == "files":
        files.reproduce_files(chosen, experiment, named, seed_or_new(seed), scale, resume, as_json)
        return
    view = Lines(err) if as_json else make_view(err)
    try:
        session = _session(chosen, Bench(Catalog(ROOT), RESULTS, view))
        session.check(chosen, named)
        asked = Asked(experiment=chosen.name, plan=named, digest=chosen.digest(named), seed=seed_or_new(seed))
        view.note(
            f"{chosen.name}, plan {named}: {len(chosen.measured(named))} rows, {chosen.plan(named).starts} fresh starts each,"
            f" about {lasts(session.estimate_s(chosen, named))} after the builds"
        )
        found = session.run(chosen, asked, resume)
    finally:
        view.close()
    print_result(found, report.report, as_json)
    if found.verdict is not Verdict.OK:
        raise typer.Exit(1)


def _plan(name: str) -> PlanName:
    known: dict[str, PlanName] = {plan: plan for plan in PLANS}
    if name not in known:
        raise unknown("plan of an experiment", name, known)
    return known[name]


def _session(experiment: Experiment, bench: Bench) -> Session:
    if experiment.kind not in KINDS:
        raise UsageError(f"{experiment.name}: the kind {experiment.kind} cannot be measured yet")
    return KINDS[experiment.kind](bench)


def _list(experiments: dict[str, Experiment], as_json: bool) -> None:
    bench = Bench(Catalog(ROOT), RESULTS, Lines(Console(quiet=True)))
    found = [_entry(experiment, bench) for experiment in experiments.values()]
    if as_json:
        print(json.dumps(found, indent=1))
        return
    table = Table(title="experiments", title_justify="left")
    for heading in ("name", "title", "kind"):
        table.add_column(heading)
    for heading in ("rows", *PLANS):
        table.add_column(heading, justify="right")
    table.add_column("reference")
    for entry in found:
        there = "yes" if entry["reference"] else "–"
        table.add_row(
            str(entry["name"]),
            str(entry["title"]),
            str(entry["kind"]),
            str(entry["rows"]),
            *(f"{entry[f'{plan}_rows']}: {_lasts(entry[f'{plan}_s'])}" for plan in PLANS),
            there,
        )
    out.print(table)
    out.print(f"{', '.join(PLANS)}: rows and about how long, without builds", style="dim")


def _entry(experiment: Experiment, bench: Bench) -> dict[str, str | int | float | bool | None]:
    session = _session(experiment, bench) if experiment.kind in KINDS else None
    entry: dict[str, str | int | float | bool | None] = {
        "name": experiment.name,
        "title": experiment.title,
        "origin": experiment.origin,
        "kind": experiment.kind,
        "rows": len(experiment.rows),
    }
    for plan in PLANS:
        entry[f"{plan}_rows"] = len(experiment.measured(plan))
        if experiment.kind == "files":
            entry[f"{plan}_s"] = round(files.estimate_s(bench.catalog, bench.results, experiment, plan))
        else:
            entry[f"{plan}_s"] = round(session.estimate_s(experiment, plan)) if session else None
    reference = REFERENCES / experiment.name
    entry["reference"] = any((reference / name).is_file() for name in (RESULT, store.RESULT))
    return entry


def _lasts(seconds: str | int | float | bool | None) -> str:
    return lasts(float(seconds)) if seconds is not None else "–"

"""The command that makes a recorded run again."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from tandem.campaign.campaign import Bench, estimate_s
from tandem.campaign.replay import FILE, SHEET, Replayed, compare, report
from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import cpus_in
from tandem.commands.options import RESULTS, ROOT, Json, app, err, out
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.lab.live import Lines, View, make_view
from tandem.record.run import Run
from tandem.record.store import Request, read_run, read_runs, write_atomically


def _recorded(path: Path) -> list[Run]:
    """The run in a run.json, or those of a campaign's folder. Raises UsageError if there is nothing."""
    if path.is_dir() and (path / "run.json").is_file():
        path = path / "run.json"
    if path.is_file():
        return [read_run(path)]
    if path.is_dir():
        return read_runs(path)
    raise UsageError(f"{path}: give a run.json or a campaign's folder, such as results/reference")


def _request(catalog: Catalog, run: Run, seed: int) -> Request:
    """What has to be asked for to make a run again. Knobs that are still the default are not chosen.

    Nor are those that were unset: a value that is no value cannot be asked for, and the report tells the change.
    """
    implementation = catalog.implementation(run.implementation)
    placement = catalog.pick("placement", run.placement, catalog.placements).variables
    cpus = cpus_in(placement.get("APP_CPUSET", "")) or HERE.cpus
    default = catalog.effective_knobs(implementation, cpus, {})
    recorded = run.environment.knobs
    chosen = {name: value for name, value in recorded.items() if value and default.get(name) != value}
    distance = run.environment.variables.get("DB_RTT_MS")
    return Request(
        implementations=[run.implementation],
        scenario=run.scenario,
        topology=run.topology,
        placement=run.placement,
        plan=run.plan,
        seed=seed,
        knobs=chosen,
        db_rtt_ms=int(distance) if distance else None,
    )


def _again(catalog: Catalog, run: Run, request: Request, view: View) -> Replayed:
    store, [new] = Bench(catalog, RESULTS, view).run(request, resume=False)
    found = compare(run, new)
    write_atomically(store.folder / FILE, SHEET.dump_json([found], indent=1).decode() + "\n")
    return found


@app.command()
def replay(
    record: Annotated[Path, typer.Argument(help="A run.json, or a campaign's folder for all of its runs.")],
    seed: Annotated[
        int | None, typer.Option(help="Fixes the order of the visits; default: a new one, recorded.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a recorded run again, and say whether the new figures lie within the recorded noise."""
    catalog = Catalog(ROOT)
    runs = _recorded(record)
    seed = secrets.randbelow(2**31) if seed is None else seed
    requests = [_request(catalog, run, seed) for run in runs]
    seconds = sum(estimate_s(catalog.plan(request.plan), 1) for request in requests)
    view = Lines(err) if as_json else make_view(err)
    view.note(
        f"replay of {', '.join(run.run for run in runs)}: about {seconds / 60:.1f} min after the builds"
    )
    try:
        found = [_again(catalog, run, request, view) for run, request in zip(runs, requests, strict=True)]
    finally:
        view.close()
    if as_json:
        print(SHEET.dump_json(found, indent=1).decode())
    else:
        for one in found:
            out.print(report(one))
    if not all(one.reproduced for one in found):
        raise typer.Exit(1)

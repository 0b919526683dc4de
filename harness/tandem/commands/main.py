"""The command line: parses, calls, prints. No work is done here. This file has the commands that measure."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
import typer._click as click
from python_on_whales import DockerException
from rich.table import Table

from tandem.campaign.campaign import Bench, estimate_s
from tandem.campaign.report import report
from tandem.catalog.catalog import Catalog
from tandem.ceiling import ceiling
from tandem.ceiling.session import CeilingSession, supporting
from tandem.commands import compare, crosscheck, develop, docs, replay, reproduce, search, selftest, serve
from tandem.commands import report as report_again
from tandem.commands.options import (
    RESULTS,
    ROOT,
    ChosenPlacement,
    ChosenTopology,
    DbRtt,
    Implementations,
    Json,
    Knobs,
    ScenarioName,
    Seed,
    app,
    conditions,
    err,
    out,
    print_result,
    seed_or_new,
)
from tandem.errors import TandemError
from tandem.lab import doctor, matrix
from tandem.lab.live import Lines, make_view
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.lab.session import lasts
from tandem.record.run import Verdict
from tandem.record.store import Request
from tandem.selftest.result import line

INTERRUPTED = 130


@app.command()
def bench(
    implementations: Implementations,
    plan: Annotated[
        str, typer.Option(help="How long and how often: smoke, quick, or a TOML file of your own.")
    ] = "quick",
    scenario: ScenarioName = "recipes",
    topology: ChosenTopology = None,
    placement: ChosenPlacement = None,
    seed: Seed = None,
    knob: Knobs = None,
    db_rtt: DbRtt = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished campaign like this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    catalog = Catalog(ROOT)
    under = conditions(catalog, scenario, topology, placement, plan, knob, db_rtt)
    chosen = under.plan
    request = Request(
        implementations=list(dict.fromkeys(implementations)),
        scenario=scenario,
        topology=under.topology,
        placement=under.placement,
        plan=plan,
        seed=seed_or_new(seed),
        knobs=under.knobs,
        db_rtt_ms=under.db_rtt_ms,
    )
    for name in implementations:
        catalog.implementation(name)
    view = Lines(err) if as_json else make_view(err)
    seconds = estimate_s(chosen, len(request.implementations))
    view.note(
        f"plan {plan}: {chosen.trials} fresh starts of {', '.join(request.implementations)}, about {lasts(seconds)} after the builds"
    )
    if unfit := chosen.unfit(os.cpu_count() or 1):
        view.note(unfit)
    try:
        store, runs = Bench(catalog, RESULTS, view).run(request, resume)
    finally:
        view.close()
    if as_json:
        records = [run.model_dump(mode="json") for run in runs]
        print(json.dumps(records[0] if len(records) == 1 else records, indent=1))
    else:
        out.print(report(runs, line(RESULTS, ROOT, datetime.now(UTC))))
        for run in runs:
            path = store.run_folder(run.run) / "run.json"
            print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
    if any(run.verdict is not Verdict.OK for run in runs):
        raise typer.Exit(1)


@app.command(name="ceiling")
def ceiling_(
    implementations: Annotated[
        list[str] | None, typer.Argument(help="Some only; default: all that support the scenario.")
    ] = None,
    scenario: ScenarioName = "recipes",
    plan: Annotated[
        str, typer.Option(help="Its trials are the rounds; its warm-up and windows are used.")
    ] = "ceiling",
    placement: ChosenPlacement = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Measure what HAProxy, a null application and pgbench reach, and how near each implementation comes."""
    catalog = Catalog(ROOT)
    under = conditions(catalog, scenario, DEFAULT_TOPOLOGY, placement, plan)
    asked = catalog.scenarios[scenario]
    view = Lines(err) if as_json else make_view(err)
    try:
        session = CeilingSession(under, asked, RESULTS, view, seed_or_new(seed))
        found = session.run(supporting(under, asked, implementations))
    finally:
        view.close()
    print_result(found, ceiling.report, as_json)


@app.command(name="matrix")
def matrix_(
    implementations: Annotated[
        list[str] | None, typer.Argument(help="Some only; default: every implementation.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which implementation serves which scenario: every cell tried on a running container."""
    catalog = Catalog(ROOT)
    names = implementations or list(catalog.implementations)
    placement = catalog.default_placement(os.cpu_count() or 1).name
    squares = matrix.find_out(catalog, RESULTS, names, placement, err.print)
    if as_json:
        print(json.dumps([vars(square) for square in squares], indent=1))
    else:
        out.print(matrix.table(squares), *matrix.reasons(squares), sep="\n")
    if any(square.outcome not in matrix.GOOD for square in squares):
        raise typer.Exit(1)


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List implementations, scenarios, plans, topologies and placements."""
    catalog = Catalog(ROOT)
    groups = {
        "implementations": {
            n: f"{i.model}: {', '.join(i.stack)}" for n, i in catalog.implementations.items()
        },
        "scenarios": {name: scenario.stresses for name, scenario in catalog.scenarios.items()},
        "plans": {name: plan.purpose for name, plan in catalog.plans.items()},
        "topologies": {name: file.summary for name, file in catalog.topologies.items()},
        "placements": {name: file.summary for name, file in catalog.placements.items()},
    }
    if as_json:
        print(json.dumps(groups, indent=1))
        return
    for kind, entries in groups.items():
        table = Table(title=kind, title_justify="left", show_header=False, box=None, padding=(0, 2))
        for name, what in entries.items():
            table.add_row(name, what)
        out.print(table, "")


@app.command(name="doctor")
def doctor_(as_json: Json = False) -> None:
    """Say what this machine is fit for, what it is not, and why."""
    found = doctor.examine(ROOT)
    verdicts = doctor.fitness(found)
    if as_json:
        print(json.dumps({"checks": [vars(check) for check in found], "fit": verdicts}, indent=1))
    else:
        table = Table(box=None, show_header=False, padding=(0, 2))
        colours = {"good": "green", "limited": "yellow", "bad": "red"}
        for check in found:
            table.add_row(check.name, f"[{colours[check.state]}]{check.state}[/]", check.found, check.means)
        out.print(table)
        for sentence in verdicts:
            out.print(sentence)
    if any(check.state == "bad" for check in found):
        raise typer.Exit(1)


def _end_with_client() -> None:
    """Ends this process as Ctrl-C would once the command that started the container is gone."""
    client = Path("/proc") / os.environ.get("TANDEM_CLIENT_PID", "none")

    def watch() -> None:
        while client.exists():
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGINT)

    if client.exists():
        threading.Thread(target=watch, name="client", daemon=True).start()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def interrupted(command: str) -> str:
    """What an interrupted command says: how to go on, where that is possible."""
    group = typer.main.get_command(app)
    known = getattr(group, "commands", {}).get(command)
    if known and any("--resume" in parameter.opts for parameter in known.params):
        return "tandem: interrupted. What was finished is kept; the same command with --resume goes on."
    return "tandem: interrupted. This command cannot go on where it was: start it again."


COMMANDS = (compare, search, crosscheck, replay, report_again, reproduce, selftest, serve, develop, docs)
"""Imported for the commands that they add."""


def main() -> None:
    """Runs the command line; 2 for usage, 1 for failure, 130 when interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    _end_with_client()
    try:
        status = app(prog_name="tandem", standalone_mode=False)
    except TandemError as error:
        err.print(f"tandem: {error}", style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)
    except click.ClickException as error:  # an unknown option, a missing argument: with the nearest name
        error.show()
        sys.exit(2)
    except (OSError, subprocess.SubprocessError, DockerException) as error:
        err.print(f"tandem: {error}", style="red", markup=False, highlight=False)
        sys.exit(1)
    if status == INTERRUPTED:  # Typer turns Ctrl-C into this status
        err.print(interrupted(sys.argv[1] if len(sys.argv) > 1 else ""))
    sys.exit(status if isinstance(status, int) else 0)

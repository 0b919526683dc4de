"""The command line: parses, calls, prints. No work is done here. This file has the commands that measure."""

import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from typing import Annotated

import psycopg
import typer
from python_on_whales import DockerException
from rich.console import Group
from rich.table import Table

from tandem import commands
from tandem.catalog.catalog import Catalog
from tandem.catalog.labs import Lab
from tandem.cli.measure import CLIENT, tell
from tandem.cli.options import RESULTS, ROOT, Json, LabName, Quiet, app, err, out, print_json, progress
from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.hosts.docker import complaint
from tandem.judge import fitness
from tandem.lab import doctor, matrix
from tandem.lab.live import View
from tandem.report import machines as machines_report
from tandem.studies import registry

INTERRUPTED = 130
# Each module adds its commands; those of the studies are added below.
for module in pkgutil.iter_modules(commands.__path__):
    if module.name != "main":
        import_module(f"tandem.commands.{module.name}")
PAGE_COLUMNS = 100


@app.command(name="matrix")
def matrix_(
    implementations: Annotated[
        list[str] | None, typer.Argument(help="Implementations. Default: all.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show which implementation serves which scenario. Tries every pair on a running container."""
    catalog = Catalog(ROOT)
    names = implementations or list(catalog.implementations)
    placement = catalog.default_placement(HERE.topology().places).name
    squares = matrix.try_all(catalog, RESULTS, names, placement, View(progress))
    good = all(square.outcome in matrix.GOOD for square in squares)
    if as_json:
        print_json(squares)
    else:
        report = Group(matrix.table(squares), *matrix.reasons(squares))
        tell("matrix", matrix.sentence(squares), good, report)
    if not good:
        raise typer.Exit(1)


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List implementations, scenarios, plans, topologies, placements and labs."""
    catalog = Catalog(ROOT)
    groups = {
        "implementations": {
            n: f"{i.model}, {i.tier}: {', '.join(i.stack)}" for n, i in catalog.implementations.items()
        },
        "scenarios": {name: scenario.stresses for name, scenario in catalog.scenarios.items()},
        "plans": {name: plan.purpose for name, plan in catalog.plans.items()},
        "topologies": {name: file.summary for name, file in catalog.topologies.items()},
        "placements": {name: file.summary for name, file in catalog.placements.items()},
        "labs": {name: lab.purpose for name, lab in catalog.labs.items()},
    }
    if as_json:
        print_json(groups)
        return
    for kind, entries in groups.items():
        table = Table(title=kind, title_justify="left", show_header=False, box=None, padding=(0, 2))
        for name, what in entries.items():
            table.add_row(name, what)
        out.print(table, "")


@app.command(name="doctor")
def doctor_(lab: LabName = None, as_json: Json = False) -> None:
    """Check what this machine can measure, what it cannot, and why. With --lab: the machines of a lab."""
    found = _doctor_here(as_json) if lab is None else _doctor_of(Catalog(ROOT).lab(lab), as_json)
    if any(check.state == "bad" for check in found):
        raise typer.Exit(1)


def _doctor_here(as_json: bool) -> list[fitness.Check]:
    found = doctor.examine(ROOT, HERE)
    verdicts = fitness.fit_here(found)
    fits = Catalog(ROOT).default_placement(HERE.topology().places)
    seats = doctor.seats(fits, HERE.topology())
    if as_json:
        chosen = {"placement": fits.name, "map": seats, "power": HERE.power()}
        print_json({"checks": found, "fit": verdicts, **chosen})
    else:
        told = machines_report.checked(found), f"\nplacement {fits.name}:", machines_report.mapped(seats)
        out.print(*told, "", *verdicts, sep="\n")
    return found


def _doctor_of(lab: Lab, as_json: bool) -> list[fitness.Check]:
    # By its name: what reaches other hosts is read by nobody else.
    machines, links = pkgutil.resolve_name("tandem.lab.examine_lab:look")(lab, ROOT)
    found = fitness.checks(machines, links)
    fit = fitness.fit(lab, found, links)
    if as_json:
        print_json(machines_report.data(lab, machines, links, found, fit))
    else:
        out.print(machines_report.page(lab, machines, links, found, fit), width=min(out.width, PAGE_COLUMNS))
    return found


def _end_with_client() -> None:
    """Ends this process as Ctrl-C would once the command that started the container is gone."""
    told = os.environ.get(CLIENT, "")
    client = int(told) if told.isdecimal() else 0

    def watch() -> None:
        while HERE.alive(client):
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGINT)

    if client and HERE.alive(client):
        threading.Thread(target=watch, name="client", daemon=True).start()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def interrupted(command: str) -> str:
    """The last line of an interrupted command: how to continue, where that is possible."""
    group = typer.main.get_command(app)
    known = getattr(group, "commands", {}).get(command)
    if known and any("--resume" in parameter.opts for parameter in known.params):
        return "tandem: interrupted. What was finished is kept; the same command with --resume continues."
    return "tandem: interrupted. This command cannot be resumed: start it again."


registry.add_commands()


def main(program: typer.Typer = app) -> None:
    """Runs a command line and ends the process: with 2 for usage, 1 for failure, 130 when interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    _end_with_client()
    try:
        status = program(prog_name="tandem", standalone_mode=False)
    except TandemError as error:
        err.print(f"tandem: {error}", style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)
    except typer.TyperException as error:  # an unknown option, a missing argument: with the nearest name
        # It says nothing where no command was given: then the help has been printed.
        if told := error.format_message():
            err.print(f"tandem: {told}", style="red", markup=False, highlight=False)
            err.print("--help lists the command's arguments and options.")
        sys.exit(error.exit_code)
    except (OSError, subprocess.SubprocessError, DockerException, psycopg.Error) as error:
        told = complaint(error) if isinstance(error, DockerException) else str(error)
        what = "the database does not answer: " if isinstance(error, psycopg.Error) else ""
        err.print(f"tandem: {what}{told}", style="red", markup=False, highlight=False)
        sys.exit(1)
    if status == INTERRUPTED:  # Typer turns Ctrl-C into this status
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would cut off what is said now
        err.print(interrupted(sys.argv[1] if len(sys.argv) > 1 else ""))
    sys.exit(status if isinstance(status, int) else 0)

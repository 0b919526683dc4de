"""The command line: parses, calls, prints. No work is done here."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import typer
import typer._click as click
from python_on_whales import DockerException
from rich.console import Console
from rich.table import Table

from tandem import checks, doctor
from tandem.campaign import Bench, estimate_s
from tandem.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.live import Lines, make_view
from tandem.record import Run, Verdict
from tandem.report import markdown, report
from tandem.stack import SERVED, USER_PROJECT, Stack, build_side_by_side
from tandem.store import Request, read_runs

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
INTERRUPTED = 130
RESULTS = Path(os.environ.get("TANDEM_RESULTS", ROOT / "results"))

app = typer.Typer(
    help="Measures synchronous and asynchronous web backends that do the same work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(width=None if sys.stdout.isatty() else 140)
err = Console(stderr=True, width=None if sys.stderr.isatty() else 140)

Implementations = Annotated[
    list[str], typer.Argument(help="Folders with a bench.toml; `tandem list` names them.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Machine-readable output on stdout and nothing else there.")
]
Topology = Annotated[
    str, typer.Option(help="What stands between client and database: direct, pooled, proxied or full.")
]


@app.command()
def bench(
    implementations: Implementations,
    plan: Annotated[
        str, typer.Option(help="How long and how often: smoke, quick, or a TOML file of your own.")
    ] = "quick",
    scenario: Annotated[str, typer.Option(help="What the client asks for.")] = "recipes",
    topology: Topology = "full",
    placement: Annotated[
        str | None, typer.Option(help="Which CPUs each role has; default: what fits this host.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Fixes the order of the visits; default: a new one, recorded.")
    ] = None,
    knob: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of contract/knobs.toml; may be repeated.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished campaign like this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    catalog = Catalog(ROOT)
    request = Request(
        implementations=list(dict.fromkeys(implementations)),
        scenario=scenario,
        topology=topology,
        placement=placement or catalog.default_placement(os.cpu_count() or 1).name,
        plan=plan,
        seed=secrets.randbelow(2**31) if seed is None else seed,
        knobs=_knobs(knob or []),
    )
    chosen = catalog.plan(plan)
    for name in implementations:
        catalog.implementation(name)
    view = Lines(err) if as_json else make_view(err)
    seconds = estimate_s(chosen, len(request.implementations))
    lasts = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
    view.note(
        f"plan {plan}: {chosen.trials} fresh starts of {', '.join(request.implementations)}, about {lasts} after the builds"
    )
    try:
        store, runs = Bench(catalog, RESULTS, view).run(request, resume)
    finally:
        view.close()
    if as_json:
        records = [run.model_dump(mode="json") for run in runs]
        print(json.dumps(records[0] if len(records) == 1 else records, indent=1))
    else:
        out.print(report(runs))
        for run in runs:
            path = store.run_folder(run.run) / "run.json"
            print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
    if any(run.verdict is not Verdict.OK for run in runs):
        raise typer.Exit(1)


def _knobs(pairs: list[str]) -> dict[str, str]:
    knobs = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--knob takes NAME=VALUE, not '{pair}'")
        knobs[name] = value
    return knobs


@app.command()
def verify(implementations: Annotated[list[str], typer.Argument(help="Implementations, or `all`.")]) -> None:
    """Run the contract's black-box tests against implementations."""
    catalog = Catalog(ROOT)
    names = list(catalog.implementations) if implementations == ["all"] else implementations
    for name in names:
        catalog.implementation(name)
    raise typer.Exit(checks.contract(ROOT, names))


@app.command(name="report")
def report_(
    campaign: Annotated[Path, typer.Argument(help="A campaign's folder, such as results/reference.")],
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The table for a page.")] = False,
) -> None:
    """Print the table of a campaign from its records."""
    runs = read_runs(campaign)
    if as_markdown:
        print(markdown(runs))
    else:
        out.print(report(runs))


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


def _user_stack(implementation: str, topology: str) -> Stack:
    catalog = Catalog(ROOT)
    catalog.implementation(implementation)
    variables = dict(catalog.pick("topology", topology, catalog.topologies).variables)
    variables["IMPL"] = implementation
    variables.update({name: os.environ[name] for name in ("HTTP_PORT", "STATS_PORT") if name in os.environ})
    return Stack(ROOT, USER_PROJECT, variables, RESULTS / ".up.env")


@app.command()
def up(
    implementation: Annotated[str, typer.Argument(help="Which implementation to serve.")] = "rust-async",
    topology: Topology = "full",
) -> None:
    """Serve one implementation on 127.0.0.1:8080, with HAProxy's statistics on 127.0.0.1:8404."""
    stack = _user_stack(implementation, topology)
    err.print("building what is new (the first time this takes minutes) ...")
    build_side_by_side(
        {service: (stack, service) for service in SERVED}, lambda name, s: err.print(f"  {name}: {s:.0f} s")
    )
    stack.up()
    port, stats = os.environ.get("HTTP_PORT", "8080"), os.environ.get("STATS_PORT", "8404")
    out.print(
        f"{implementation} answers at http://127.0.0.1:{port}/api/v1/recipes, HAProxy at http://127.0.0.1:{stats}/"
    )


@app.command()
def down() -> None:
    """Remove what `up` started."""
    _user_stack("rust-async", "full").down()


@app.command()
def logs(service: Annotated[str, typer.Argument(help="app, proxy, pgbouncer or db.")] = "app") -> None:
    """Print the log of a service that `up` started."""
    print(_user_stack("rust-async", "full").log(service, lines=1000))


@app.command()
def test() -> None:
    """Run all that CI runs."""
    raise typer.Exit(checks.everything(ROOT))


@app.command()
def check() -> None:
    """Run the part of the tests that takes under two minutes: no containers are started."""
    raise typer.Exit(checks.quick(ROOT))


@app.command()
def fmt() -> None:
    """Format all sources."""
    checks.format_sources(ROOT)


@app.command()
def schema() -> None:
    """Print the JSON Schema of run.json."""
    print(json.dumps(Run.model_json_schema(), indent=1))


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
        err.print("tandem: interrupted. Finished trials are kept; the same command with --resume goes on.")
    sys.exit(status if isinstance(status, int) else 0)

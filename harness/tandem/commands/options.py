"""What the commands share that are not on the engine yet."""

from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import RenderableType

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import proof as proof
from tandem.cli.options import RESULTS as RESULTS
from tandem.cli.options import ROOT as ROOT
from tandem.cli.options import ChosenPlacement as ChosenPlacement
from tandem.cli.options import ChosenTopology as ChosenTopology
from tandem.cli.options import DbRtt as DbRtt
from tandem.cli.options import Json as Json
from tandem.cli.options import ScenarioName as ScenarioName
from tandem.cli.options import Seed as Seed
from tandem.cli.options import app as app
from tandem.cli.options import err as err
from tandem.cli.options import out as out
from tandem.cli.options import parse_db_rtt as parse_db_rtt
from tandem.cli.options import parse_settings as parse_knobs
from tandem.cli.options import seed_or_new as seed_or_new
from tandem.hosts import HERE
from tandem.old.prepare import DEFAULT_TOPOLOGY, Conditions

Topology = Annotated[
    str, typer.Option(help="What stands between client and database: direct, pooled, proxied or full.")
]
Knobs = Annotated[
    list[str] | None,
    typer.Option("--knob", help="NAME=VALUE of contract/knobs.toml, for all; may be repeated."),
]


def conditions(
    catalog: Catalog,
    scenario: str,
    topology: str | None,
    placement: str | None,
    plan: str,
    knob: list[str] | None = None,
    db_rtt: str | None = None,
) -> Conditions:
    """Under what a command measures, from its options. Raises UsageError for names that do not exist."""
    asked = catalog.pick("scenario", scenario, catalog.scenarios)
    return Conditions(
        catalog,
        topology or asked.topology or DEFAULT_TOPOLOGY,
        placement or catalog.default_placement(HERE.cpus).name,
        catalog.plan(plan),
        parse_knobs(knob),
        parse_db_rtt(db_rtt),
    )


def print_result[R: BaseModel](found: R, report: Callable[[R], RenderableType], as_json: bool) -> None:
    """The result on stdout: its record for a program, or else its report for a person."""
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        out.print(proof(), report(found), sep="\n")

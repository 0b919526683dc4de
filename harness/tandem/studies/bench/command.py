"""`tandem bench`."""

from typing import Annotated, Any

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import kept_sessions, measure
from tandem.engine.study import Study
from tandem.facts.statement import read_statements
from tandem.report.sessions import known_lines
from tandem.studies.bench.study import Bench
from tandem.studies.questions.study import Questions


@cli.app.command()
def bench(
    variants: cli.Variants,
    plan: Annotated[
        str,
        typer.Option(
            help="Durations and repetitions: a plan that `tandem list` prints, or a TOML file of your own."
        ),
    ] = "quick",
    scenario: cli.ScenarioName = "recipes",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    seed: cli.Seed = None,
    setting: cli.Settings = None,
    db_rtt: cli.DbRtt = None,
    generators: cli.Generators = 1,
    questions: Annotated[
        bool,
        typer.Option(
            "--questions",
            help="Measure the cost of a request, the rate where the application is the limit, and how near the rate comes to"
            " what waiting allows:"
            " six conditions of each implementation.",
        ),
    ] = False,
    lab: cli.LabName = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    kind: type[Study[Any]] = Questions if questions else Bench
    catalog, statements = Catalog(cli.ROOT), read_statements(cli.ROOT)
    request = cli.make_request(
        kind.name,
        catalog,
        cli.read_variants(variants),
        scenario=scenario,
        plan=plan,
        topology=topology,
        placement=placement,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
        lab=lab,
        generators=generators,
    )
    names = list(dict.fromkeys(variant.implementation for variant in request.variants))
    measure(
        *(kind, request, resume, as_json),
        closing=lambda result, trials: known_lines(
            names, scenario, kept_sessions(cli.RESULTS), catalog, statements.implementations
        ),
    )

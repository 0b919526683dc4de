"""`tandem bench`."""

from typing import Annotated, Any

import typer
from rich.console import RenderableType

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import kept_sessions
from tandem.cli.shared import AT_RANDOM, Asked, measuring
from tandem.engine.study import Study
from tandem.facts.statement import read_statements
from tandem.report.sessions import known_lines
from tandem.studies.bench.study import Bench, Questions


@measuring(own=True, arrivals=AT_RANDOM)
def bench(
    asked: Asked,
    variants: cli.VariantsOrImages = None,
    questions: Annotated[
        bool,
        typer.Option(
            "--questions",
            help="Measure the cost of a request, the rate where the application is the limit, and how near the rate comes to"
            " what waiting allows:"
            " six conditions of each implementation.",
        ),
    ] = False,
) -> None:
    """Measure implementations: fresh starts, a closed and an open loop each, verified, judged and recorded."""
    kind: type[Study[Any]] = Questions if questions else Bench
    catalog, statements = Catalog(cli.ROOT), read_statements(cli.ROOT)
    request = asked.request(kind.name, catalog, asked.variants(variants))
    names = list(dict.fromkeys(variant.implementation for variant in request.variants))

    def known(*_: Any) -> list[RenderableType]:
        sessions = kept_sessions(cli.RESULTS)
        return known_lines(names, asked.scenario, sessions, catalog, statements.implementations)

    asked.measure(kind, request, closing=None if asked.image else known)

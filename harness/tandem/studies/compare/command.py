"""`tandem compare`."""

import re
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.cli import options as cli
from tandem.cli.measure import kept_sessions
from tandem.cli.shared import Asked, Default, measuring
from tandem.engine.run import blocks_s
from tandem.errors import TandemError, UsageError
from tandem.facts.statement import beside
from tandem.record.result import Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.report.sessions import beside_lines
from tandem.studies.compare.comment import beyond_budget
from tandem.studies.compare.conclusions import Compared
from tandem.studies.compare.detecting import PILOT, CompareOptions
from tandem.studies.compare.session import session_of
from tandem.studies.compare.study import Compare
from tandem.wording import lasts

BUDGET = "2h"
"""The budget where a difference to detect is given, but no time."""


def read_looks(text: str) -> tuple[int, ...]:
    """`6,9,12` as numbers. Raises UsageError for anything else."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--looks takes numbers of blocks, such as 6,9,12, not '{text}'") from None


def read_effect(text: str, option: str = "--detect") -> float:
    """`3%` as a share. Raises UsageError for anything else."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?%", text.strip())
    if match is None:
        raise UsageError(f"{option} takes a difference such as 3% or 1.5%, not '{text}'")
    return float(match[1]) / 100


def enough_for_the_first(expected_s: float, budget_s: float | None) -> None:
    """Raises UsageError for a budget that the blocks before the first look exceed. expected_s: their estimate."""
    if budget_s is not None and budget_s < expected_s:
        raise UsageError(
            f"--budget {lasts(budget_s)} is too short: the first {PILOT} blocks alone take about {lasts(expected_s)}"
        )


@measuring(own=True, plan=Default("quick", r"Plan. Its table \[compare] sets blocks, slices and rounds."))
def compare(
    asked: Asked,
    variants: cli.VariantsOrImages = None,
    primary: Annotated[
        str | None,
        typer.Option(
            help="Metric that decides. Default: CPU per request of all roles at an equal rate, if the plan has one."
        ),
    ] = None,
    looks: Annotated[
        str | None,
        typer.Option(
            help="Look after these numbers of blocks, such as 6,9,12, and end once it is decided. Default: the plan's blocks."
        ),
    ] = None,
    detect: Annotated[
        str | None,
        typer.Option(
            help="Difference in the primary metric to detect, such as 3%. After the first blocks, say how many that takes, and go on to there."
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time for all blocks, such as 45m. Default with --detect: 2h.")
    ] = None,
    fail_over: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 where a variant is decided to be worse than the baseline by more than this in the primary"
            " metric, such as 5%."
        ),
    ] = None,
) -> None:
    """Say which variant is better and by how much, in blocks of fresh starts: loaded in turn in short slices, and each at equal rates.

    The first variant is the baseline, which takes part twice. A single variant is compared with itself.
    """
    limit = read_effect(fail_over, "--fail-over") if fail_over else None
    options = CompareOptions.of(
        primary=primary or None,
        looks=read_looks(looks) if looks else None,
        detect=read_effect(detect) if detect else None,
        budget_s=cli.parse_budget_s(budget or BUDGET) if detect or budget else None,
    )
    catalog = Catalog(cli.ROOT)
    request = asked.request(Compare.name, catalog, asked.variants(variants), options.as_options())
    enough_for_the_first(blocks_s(Compare(catalog, request), cli.RESULTS), options.budget_s)
    result = asked.measure(Compare, request, beside_others)
    if limit is not None and (worse := beyond_budget(result.conclusions, limit)):
        raise TandemError("; ".join(worse))


def beside_others(result: Result[Compared], trials: Sequence[Trial]) -> list[RenderableType]:
    """Each ratio beside what other sessions say of it, or that they say nothing; nothing where this one may not be believed."""
    if result.conclusions.session is not Verdict.OK or result.request.scenario == OWN_SERVICE:
        return []
    record = session_of(Catalog(cli.ROOT), result, trials)
    found = beside(record, kept_sessions(cli.RESULTS))
    if record.contrasts and not found:
        under = f"{record.scenario}, {record.topology}, {record.placement}"
        return [Text(f"no two other sessions have one of these contrasts on {under}", style="dim")]
    return beside_lines(found)

"""Ceilings for people. Pure."""

import math

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.engine import stand_ins
from tandem.facts.metric import CEILING_SHARE, GOODPUT
from tandem.record.conclusion import Position
from tandem.record.request import StandIn
from tandem.record.result import Result
from tandem.report.parts import findings, spent
from tandem.report.table import Column, figure, table
from tandem.studies.ceiling.conclusions import AT_EQUAL_LOAD, Ceilings
from tandem.wording import counted, limited_by, number

MEANINGS: dict[StandIn, str] = {
    "proxy": "generator to HAProxy, which answers itself",
    "null": "generator through HAProxy to the null application",
    "database": "pgbench with the scenario's statements through PgBouncer, on the application's CPUs",
}
NOTE = "mean ± half-width of the 95 % interval over the rounds; a dash below two good rounds"


def _ceilings(result: Result[Ceilings]) -> Table:
    found = result.conclusions
    return table(
        f"ceilings for {result.request.scenario}, {counted(found.rounds, 'rounds')}",
        [kind for kind in MEANINGS if found.estimate_of(GOODPUT, stand_ins.variant(kind).position)],
        Column("ceiling", str, text=True),
        Column("what", lambda kind: MEANINGS[kind], text=True),
        Column("1/s", lambda kind: figure(found, GOODPUT, stand_ins.variant(kind).position)),
    )


def _variants(result: Result[Ceilings]) -> Table:
    found = result.conclusions

    def cost(position: Position) -> float:
        mean = found.mean_of(AT_EQUAL_LOAD, position)
        return math.inf if mean is None else mean

    def limit(position: Position) -> str:
        one = found.estimate_of(GOODPUT, position)
        return limited_by(one.limit if one is not None else None)

    return table(
        f"variants; CPU per request at {number(found.equal_load_rps)}/s for all",
        sorted((variant.position for variant in result.request.variants), key=cost),
        Column("variant", lambda position: position.variant, text=True),
        Column("goodput, 1/s", lambda position: figure(found, GOODPUT, position)),
        Column("nearest ceiling", lambda _: found.nearest or "–", text=True),
        Column("share of it, %", lambda position: figure(found, CEILING_SHARE, position)),
        Column("app CPU, µs/request", lambda position: figure(found, AT_EQUAL_LOAD, position)),
        Column("limited by", limit, text=True),
    )


def report(result: Result[Ceilings]) -> Group:
    """The tables, then why rounds do not count and their warnings."""
    return Group(
        _ceilings(result),
        _variants(result),
        Text(NOTE, style="dim"),
        *([spent(result)] if result.phases_s else []),
        *(Text(reason, style="yellow") for reason in result.reasons),
        *findings(result),
    )

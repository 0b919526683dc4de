"""Ceilings for people. Pure."""

import math

from rich.console import Group
from rich.text import Text

from tandem.engine import stand_ins
from tandem.facts.metric import CEILING_SHARE, GOODPUT
from tandem.record.request import StandIn
from tandem.record.result import Result
from tandem.report.parts import ending
from tandem.report.table import Column, figure, limit, table
from tandem.studies.ceiling.conclusions import AT_EQUAL_LOAD, Ceilings
from tandem.wording import counted, number

MEANINGS: dict[StandIn, str] = {
    "proxy": "generator to HAProxy, which answers itself",
    "null": "generator through HAProxy to the null application",
    "database": "pgbench with the scenario's statements through PgBouncer, on the application's CPUs",
}
NOTE = "mean ± half-width of the 95 % interval over the rounds; a dash below two good rounds"


def report(result: Result[Ceilings]) -> Group:
    """The tables, then why rounds do not count and their warnings."""
    found = result.conclusions
    places = {kind: stand_ins.variant(kind).position for kind in MEANINGS}
    variants = [variant.position for variant in result.request.variants]
    variants.sort(key=lambda position: found.mean_of(AT_EQUAL_LOAD, position) or math.inf)
    return Group(
        table(
            f"ceilings for {result.request.scenario}, {counted(found.rounds, 'rounds')}",
            [kind for kind, position in places.items() if found.estimate_of(GOODPUT, position)],
            Column("ceiling", str, text=True),
            Column("what", lambda kind: MEANINGS[kind], text=True),
            Column("1/s", lambda kind: figure(found, GOODPUT, places[kind])),
        ),
        table(
            f"variants; CPU per request at {number(found.equal_load_rps)}/s for all",
            variants,
            Column("variant", lambda position: position.variant, text=True),
            Column("goodput, 1/s", lambda position: figure(found, GOODPUT, position)),
            Column("nearest ceiling", lambda _: found.nearest or "–", text=True),
            Column("share of it, %", lambda position: figure(found, CEILING_SHARE, position)),
            Column("app CPU, µs/request", lambda position: figure(found, AT_EQUAL_LOAD, position)),
            Column("limited by", lambda position: limit(found, position), text=True),
        ),
        Text(NOTE, style="dim"),
        *ending(result),
    )

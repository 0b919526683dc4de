"""Ceilings for people. Pure."""

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.report.parts import findings, spent, table
from tandem.studies.ceiling.conclusions import Ceilings
from tandem.wording import limited_by, number, with_interval

MEANINGS = {
    "proxy": "generator to HAProxy, which answers itself",
    "null": "generator through HAProxy to the null application",
    "database": "pgbench with the scenario's statements through PgBouncer, on the application's CPUs",
}
COLUMNS = (
    "variant",
    "goodput, 1/s",
    "nearest ceiling",
    "share of it, %",
    "app CPU, µs/request",
    "limited by",
)
TEXTS = ("variant", "nearest ceiling", "limited by")
NOTE = "mean ± half-width of the 95 % interval over the rounds; a dash below two good rounds"


def _ceilings(result: Result[Ceilings]) -> Table:
    found = result.conclusions
    title = f"ceilings for {result.request.scenario}, {found.rounds} rounds"
    out = table(title, "ceiling", "what", "1/s", left=("ceiling", "what"))
    for name, own in found.ceilings.items():
        out.add_row(name, MEANINGS[name], with_interval(own.goodput_rps, own.interval))
    return out


def _variants(found: Ceilings) -> Table:
    out = table(
        f"variants; CPU per request at {number(found.equal_load_rps)}/s for all", *COLUMNS, left=TEXTS
    )
    ordered = sorted(found.variants.items(), key=lambda item: item[1].app_cpu_us_per_request or 1e9)
    for label, own in ordered:
        low_high = own.share_interval
        share = None if low_high is None else (low_high[0] * 100, low_high[1] * 100)
        out.add_row(
            label,
            with_interval(own.goodput_rps, own.interval),
            own.nearest or "–",
            with_interval(None if own.share is None else own.share * 100, share),
            with_interval(own.app_cpu_us_per_request, own.app_cpu_us_interval),
            limited_by(own.bottleneck),
        )
    return out


def report(result: Result[Ceilings]) -> Group:
    """The tables, then why rounds do not count and their warnings."""
    return Group(
        _ceilings(result),
        _variants(result.conclusions),
        Text(NOTE, style="dim"),
        *([spent(result)] if result.phases_s else []),
        *(Text(reason, style="yellow") for reason in result.reasons),
        *findings(result),
    )


def headline(conclusions: dict[str, Any]) -> str:
    """How near each variant comes to its ceiling. conclusions: as result.json has them."""
    found = [(label, one) for label, one in conclusions["variants"].items() if one["share"] is not None]
    return ", ".join(f"{label} {one['share']:.0%} of {one['nearest']}" for label, one in found)

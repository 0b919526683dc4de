"""A sweep for people. Pure."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.cost import APP
from tandem.analysis.ratios import ALPHA
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Position
from tandem.record.result import Result
from tandem.report.parts import ceilings, ending
from tandem.report.table import Column, figure, limit, table
from tandem.studies.sweep.conclusions import AXES, Curve, Swept, coordinate
from tandem.wording import counted, number, times

CUT_OFF = "the peak is at {}: the ceiling shapes the peak, c90, the loss and the law as much as the application does"
TESTED = "in brackets: 95 % intervals; a loss is reported where Dunnett's test finds the largest value behind another one"
NOTE = (
    "mean ± half-width of the 95 % interval over the rounds, each a fresh start; a dash below two good rounds"
)


def _table(result: Result[Swept], curve: Curve) -> Table:
    found = result.conclusions
    positions = [found.position(curve, value) for value in found.values]
    peak_rps, first_rps = found.peak_rps(curve), found.mean_of(GOODPUT, positions[0])

    def rounds(position: Position) -> str:
        one = found.estimate_of(GOODPUT, position)
        return str(one.n if one is not None else 0)

    def by(position: Position, rate_rps: float | None) -> float | None:
        own_rps = found.mean_of(GOODPUT, position)
        return own_rps / rate_rps if own_rps is not None and rate_rps else None

    def limits(position: Position) -> str:
        return "; ".join(filter(None, (limit(found, position), found.context(position).near_ceiling)))

    def of(heading: str, metric: str, digits: int) -> Column[Position]:
        return Column(heading, lambda position: figure(found, metric, position, digits))

    faster = Column[Position]("speed-up", lambda position: times(by(position, first_rps)))
    return table(
        f"{curve.variant}, {result.request.scenario}: {AXES.get(found.axis, 'its environment')}; {counted(found.rounds, 'rounds')}",
        positions,
        Column(found.axis, lambda position: str(position.coordinates[coordinate(found.axis)])),
        Column("rounds", rounds),
        of("goodput, 1/s", GOODPUT, 0),
        Column("% of peak", lambda position: number(by(position, peak_rps and peak_rps / 100))),
        *([faster] if found.axis == "cores" else []),
        of("app CPU, µs/request", APP, 0),
        of("mean service time, ms", "service_time_mean_ms", 2),
        Column("limited by", limits, text=True),
    )


def _between(positions: tuple[int, int] | None) -> str:
    if positions is None:
        return ""
    first, last = positions
    return f" ({first} to {last})" if first < last else f" ({first} alone)"


def _loss(curve: Curve, last: int) -> str:
    """What is lost at the largest value: only where the test shows it is it called a loss."""
    if curve.loss_p is None or curve.loss_interval is None:
        return f"{curve.retrograde_loss:.0%} lost at {last}"  # of single rounds
    low, high = curve.loss_interval
    if curve.loss_p >= ALPHA:
        return f"no loss shown at {last} (at most {high:.0%})"
    least = f"{low:.0%}" if low >= 0.005 else "less than 1%"
    return f"{curve.retrograde_loss:.0%} lost at {last} ({least} to {high:.0%})"


def _words(found: Swept, curve: Curve) -> list[Text]:
    out = []
    if curve.peak_at is not None:
        peak = number(found.peak_rps(curve))
        text = f"{curve.variant}: peak {peak}/s at {found.axis} {curve.peak_at}{_between(curve.peak_between)}"
        if curve.c90 is not None:
            text += f"; 90 % of it from {curve.c90} on{_between(curve.c90_between)}"
        if curve.retrograde_loss is not None:
            text += f"; {_loss(curve, max(found.values))}"
        out.append(Text(text, style="bold"))
        if (near := found.context(found.position(curve, curve.peak_at)).near_ceiling) is not None:
            out.append(Text(CUT_OFF.format(near), style="yellow"))
    usl = curve.usl
    if usl is not None and usl.reason is None:
        law = f"λ {number(usl.lambda_rps)}/s, σ {usl.sigma:.3g}, κ {usl.kappa:.3g}, R² {usl.r2:.3f}"
        out.append(Text(f"Universal Scalability Law: {law}; its peak is at {number(usl.peak_at)}"))
    elif usl is not None:
        out.append(Text(f"no Universal Scalability Law: {usl.reason}", style="dim"))
    return out


def report(result: Result[Swept]) -> Group:
    """One table for each variant, the sentences under it, then why trials do not count and their warnings."""
    found, parts = result.conclusions, list[Table | Text]()
    for curve in found.curves:
        parts += [_table(result, curve), *_words(found, curve)]
    highest = max((found.peak_rps(curve) or 0.0 for curve in found.curves), default=0.0)
    parts += ceilings(result.baselines, [one.ceiling_shares for one in found.contexts], highest)
    return Group(*parts, Text(NOTE, style="dim"), Text(TESTED, style="dim"), *ending(result))


def headline(found: Swept) -> str:
    """The highest point of each curve."""
    return ", ".join(
        f"{one.variant} {number(rate_rps)}/s at {found.axis} {one.peak_at}"
        for one in found.curves
        if (rate_rps := found.peak_rps(one)) is not None
    )

"""A sweep for people. Pure."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.cost import APP
from tandem.analysis.ratios import ALPHA
from tandem.facts.metric import GOODPUT
from tandem.record.result import Result
from tandem.report.parts import ceilings, ending
from tandem.report.table import Column, figure, table
from tandem.studies.sweep.conclusions import AXES, Curve, Swept
from tandem.wording import counted, limited_by, number, times

CUT_OFF = "the peak is at {}: the ceiling shapes the peak, c90, the loss and the law as much as the application does"
TESTED = "in brackets: 95 % intervals; a loss is reported where Dunnett's test finds the largest value behind another one"
NOTE = (
    "mean ± half-width of the 95 % interval over the rounds, each a fresh start; a dash below two good rounds"
)


def _table(result: Result[Swept], curve: Curve) -> Table:
    found, peak = result.conclusions, result.conclusions.peak_rps(curve)

    def rounds(value: int) -> str:
        one = found.at(curve, value)
        return str(one.n if one is not None else 0)

    def share(value: int) -> str:
        one = found.at(curve, value)
        return number(one.mean / peak * 100 if one is not None and one.mean is not None and peak else None)

    def limits(value: int) -> str:
        one = found.at(curve, value)
        told = limited_by(one.limit if one is not None else None)
        return "; ".join(filter(None, (told, found.context(found.position(curve, value)).near_ceiling)))

    def of(metric: str, digits: int) -> Column[int]:
        headings = {GOODPUT: "goodput, 1/s", APP: "app CPU, µs/request"}
        heading = headings.get(metric, "mean service time, ms")
        return Column(heading, lambda value: figure(found, metric, found.position(curve, value), digits))

    first = found.at(curve, found.values[0])

    def speed_up(value: int) -> str:
        one = found.at(curve, value)
        both = (one.mean if one else None, first.mean if first else None)
        return times(both[0] / both[1] if both[0] and both[1] else None)

    faster = [Column("speed-up", speed_up)] if found.axis == "cores" else []
    return table(
        f"{curve.variant}, {result.request.scenario}: {AXES.get(found.axis, 'its environment')}; {counted(found.rounds, 'rounds')}",
        found.values,
        Column(found.axis, str),
        Column("rounds", rounds),
        of(GOODPUT, 0),
        Column("% of peak", share),
        *faster,
        of(APP, 0),
        of("service_time_mean_ms", 2),
        Column("limited by", limits, text=True),
    )


def _between(positions: tuple[int, int] | None) -> str:
    if positions is None:
        return ""
    return (
        f" ({positions[0]} to {positions[1]})" if positions[0] < positions[1] else f" ({positions[0]} alone)"
    )


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
    peaks = [(one, found.peak_rps(one)) for one in found.curves]
    return ", ".join(
        f"{one.variant} {number(rate)}/s at {found.axis} {one.peak_at}"
        for one, rate in peaks
        if rate is not None
    )

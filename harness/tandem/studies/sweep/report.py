"""A sweep for people. Pure."""

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.ceilings import cut_off
from tandem.analysis.ratios import ALPHA
from tandem.record.result import Result
from tandem.report.parts import ceilings, ending, table
from tandem.studies.sweep.axis import AXES
from tandem.studies.sweep.conclusions import Curve, Level, MeanOfRounds, Swept
from tandem.wording import limited_by, number, with_interval

COLUMNS = (
    "rounds",
    "goodput, 1/s",
    "% of peak",
    "app CPU, µs/request",
    "mean service time, ms",
    "limited by",
)
"""After the one of the axis."""
CUT_OFF = "the peak is at {}: the ceiling shapes the peak, c90, the loss and the law as much as the application does"


def _with(found: MeanOfRounds, digits: int = 0) -> str:
    return with_interval(found.mean, found.interval, digits)


def _highest(found: Result[Swept]) -> float:
    return max((curve.peak_rps or 0.0 for curve in found.conclusions.curves), default=0.0)


def _near(found: Result[Swept], level: Level) -> str | None:
    return cut_off(level.near_ceiling, level.goodput_rps.mean, found.baselines, _highest(found))


def _table(found: Result[Swept], curve: Curve) -> Table:
    asked = found.conclusions
    title = f"{curve.label}, {found.request.scenario}: {AXES[asked.axis]}; {asked.rounds} rounds"
    out = table(title, asked.axis, *COLUMNS, left=COLUMNS[-1:])
    for level in curve.levels:
        rate = level.goodput_rps.mean
        share = None if rate is None or not curve.peak_rps else rate / curve.peak_rps * 100
        out.add_row(
            str(level.value),
            str(level.rounds),
            _with(level.goodput_rps),
            number(share),
            _with(level.app_cpu_us_per_request),
            _with(level.service_time_mean_ms, 2),
            "; ".join(filter(None, (limited_by(level.bottleneck), _near(found, level)))),
        )
    return out


def _between(places: tuple[int, int] | None) -> str:
    if places is None:
        return ""
    return f" ({places[0]} to {places[1]})" if places[0] < places[1] else f" ({places[0]} alone)"


def _loss(curve: Curve, last: int) -> str:
    """What is lost at the largest value: only where the test shows it is it called a loss."""
    if curve.loss_p is None or curve.loss_interval is None:
        return f"{curve.retrograde_loss:.0%} lost at {last}"  # of single rounds
    low, high = curve.loss_interval
    if curve.loss_p >= ALPHA:
        return f"no loss shown at {last} (at most {high:.0%})"
    least = f"{low:.0%}" if low >= 0.005 else "less than 1%"
    return f"{curve.retrograde_loss:.0%} lost at {last} ({least} to {high:.0%})"


def _words(found: Result[Swept], curve: Curve) -> list[Text]:
    out = []
    if curve.peak_at is not None:
        text = f"{curve.label}: peak {number(curve.peak_rps)}/s at {found.conclusions.axis} {curve.peak_at}{_between(curve.peak_between)}"
        if curve.c90 is not None:
            text += f"; 90 % of it from {curve.c90} on{_between(curve.c90_between)}"
        if curve.retrograde_loss is not None:
            text += f"; {_loss(curve, max(found.conclusions.values))}"
        out.append(Text(text, style="bold"))
        top = next(level for level in curve.levels if level.value == curve.peak_at)
        if (near := _near(found, top)) is not None:
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
    parts: list[Table | Text] = []
    for curve in result.conclusions.curves:
        parts += [_table(result, curve), *_words(result, curve)]
    tested = "in brackets: 95 % intervals; a loss is reported where Dunnett's test finds the largest value behind another one"
    note = "mean ± half-width of the 95 % interval over the rounds, each a fresh start; a dash below two good rounds"
    shares = [level.ceiling_shares for curve in result.conclusions.curves for level in curve.levels]
    parts += ceilings(result.baselines, shares, _highest(result))
    return Group(*parts, Text(note, style="dim"), Text(tested, style="dim"), *ending(result))


def headline(conclusions: dict[str, Any]) -> str:
    """Where each curve is highest. conclusions: as result.json has them."""
    found = [curve for curve in conclusions["curves"] if curve["peak_rps"] is not None]
    axis = conclusions["axis"]
    return ", ".join(
        f"{one['label']} {number(one['peak_rps'])}/s at {axis} {one['peak_at']}" for one in found
    )

"""The tables of a comparison. Pure: a result in, renderables out."""

import math
import statistics
from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis import ratios
from tandem.analysis.ceilings import cut_off
from tandem.analysis.cost import APP, TOTAL, at
from tandem.analysis.ratios import Better
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.parts import ceilings, conditions_line, findings, settings, spent
from tandem.report.parts import table as empty
from tandem.studies.compare.conclusions import (
    GOODPUT,
    METRICS,
    P99,
    TAILS,
    Compared,
    ComparedRatio,
    ComparedVariant,
    CostPoint,
    bottleneck_in,
    is_shared,
    named,
    second,
)
from tandem.studies.compare.detecting import PILOT, percent
from tandem.wording import ROLES, limited_by, number, ratio_with_interval

COLUMNS = {
    TOTAL: ("total CPU, alone and at full load", "µs/request"),
    APP: ("app CPU, alone and at full load", "µs/request"),
    **{
        at(metric, share): (
            f"{words}, alone at {share:.0%} of what the slowest reaches".replace("%", " %"),
            unit,
        )
        for metric, words, unit in (
            (TOTAL, "total CPU", "µs/request"),
            (APP, "app CPU", "µs/request"),
            (P99, "response time p99", "ms"),
        )
        for share in EQUAL_SHARES
        if at(metric, share) in METRICS
    },
    GOODPUT: ("goodput", "1/s"),
    "duet_cpu_us_per_request": ("app CPU, all at once and at one rate", "µs/request"),
    "saturated_cpu_us_per_request": (
        "app CPU, all at once at one rate, four fifths of their joint limit",
        "µs/request",
    ),
}
ALWAYS = (GOODPUT, APP)
TOGETHER = (TOTAL, APP, P99)
"""Metrics whose figures at equal rates stand in one table each, beside that of the one that decides."""
HEADS = ("ratio", "verdict (95 % interval)", "p, Holm", "p, sign flips", "blocks", "limited by")
RIGHT = {1, 2, 4, 5, 6}
"""Columns of figures."""
NOTE = (
    "ratio: variant divided by baseline, geometric mean over blocks of fresh starts. A difference is reported with its size,"
    f" even within the margin of {ratios.MARGIN * 100:.0f} %; equivalent: within the margin, and no difference found."
    " The line ~2 is the baseline against itself: its interval should contain 0. Not ranked: a shared resource or a ceiling"
    " limited the variant or the baseline, so the ratio says little about the programs."
)
_COLOURS = {"faster": "green", "cheaper": "green", "slower": "red", "dearer": "red"}


def told(compared: ComparedRatio | None, better: Better) -> str:
    """Direction and size: `dearer by 1.8 % (1.3 to 2.3), within the margin of 3 %`; from twice on as a factor."""
    if compared is None:
        return "–"
    ratio, interval = compared.ratio.ratio, compared.ratio.interval
    if ratio is None or interval is None:
        return str(compared.verdict)
    word, within = str(compared.verdict), compared.within_margin
    if word == "equivalent":
        within = True
        if compared.p_adjusted is not None and compared.p_adjusted < ratios.ALPHA:
            word = ratios.words(better)[0 if ratio > 1 else 1]  # an older record, which said one of both
    least, most = sorted((bound - 1) * 100 for bound in interval)
    if word in ("equivalent", "inconclusive"):
        size = f"{word}: {_signed((ratio - 1) * 100)} % ({_signed(least)} to {_signed(most)})"
    elif ratio >= 2:
        size = f"{word}: × {ratio:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"
    elif ratio > 1:
        size = f"{word} by {(ratio - 1) * 100:.1f} % ({least:.1f} to {most:.1f})"
    else:
        size = f"{word} by {(1 - ratio) * 100:.1f} % ({-most:.1f} to {-least:.1f})"
    return f"{size}, within the margin of {ratios.MARGIN * 100:.0f} %" if within else size


def _signed(percent: float) -> str:
    return f"{percent:+.1f}".replace("-", "−")


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _row(
    label: str,
    metric: str,
    compared: ComparedRatio | None,
    line: ComparedVariant | None,
    near: str | None = None,
    shared: bool = False,
) -> list[str]:
    """near: the ceiling that cuts its goodput off. shared: whether the figure is of something that all share."""
    word = told(compared, METRICS[metric].better)
    if line is not None and line.verdict is not Verdict.OK:
        word = str(line.verdict)
    if (near or shared) and compared:
        word = "not ranked"
    ratio = compared.ratio if compared else None
    mean = line.means.get(metric) if line else None
    limit = limited_by(bottleneck_in(line, metric)) if line else ""
    return [
        label,
        number(mean, 0 if metric == GOODPUT else 1),
        "–" if ratio is None or ratio.ratio is None else f"{ratio.ratio:.3f}",
        word,
        _p(compared.p_adjusted if compared else None),
        _p(ratio.p_sign_flip if ratio else None),
        _blocks(ratio.n if ratio else None, line),
        "; ".join(filter(None, (limit, near))),
    ]


def _blocks(used: int | None, line: ComparedVariant | None) -> str:
    void = line.void_blocks if line else 0
    return f"{number(used)}, {void} void" if void else number(used)


def _highest(found: Compared) -> float:
    return max((line.means[GOODPUT] or 0.0 for line in found.entries), default=0.0)


def _near(result: Result[Compared], line: ComparedVariant) -> str | None:
    return cut_off(line.near_ceiling, line.means[GOODPUT], result.baselines, _highest(result.conclusions))


def rows(result: Result[Compared], metric: str) -> Iterator[list[str]]:
    """The cells of a metric's table; the reference has a second line, against itself."""
    found = result.conclusions
    for line in found.entries:
        near = _near(result, line) if metric == GOODPUT else None
        if line.variant == found.reference:
            yield _row(f"{line.variant} (baseline)", metric, None, line, near)
            yield _row(second(line.variant), metric, found.same_against_itself.get(metric), None)
        else:
            shared = metric == GOODPUT and is_shared(found, line)
            yield _row(line.variant, metric, line.against_reference.get(metric), line, near, shared)


def _effect(found: Compared, metric: str) -> str:
    effects = [
        (line.variant, compared.ratio.detectable_ratio)
        for line in found.entries
        if (compared := line.against_reference.get(metric)) is not None
    ]
    again = found.same_against_itself.get(metric)
    if again is not None and len(found.entries) == 1:
        effects = [(second(found.reference), again.ratio.detectable_ratio)]
    sizes = [f"{name} {(effect - 1) * 100:.1f} %" for name, effect in effects if effect]
    blocks = f"up to {found.looks[-1]} blocks" if found.looks else f"{found.blocks} such blocks"
    by = ", with the corrections of this verdict" if found.primary else ""
    return f"smallest difference that {blocks} can detect (80 % power{by}): {', '.join(sizes) or '–'}"


def _shown(found: Compared) -> list[str]:
    """The metrics that have a table of their own, the one that decides first: of those at equal rates no other."""
    own = [metric for metric in COLUMNS if METRICS[metric].of != "equal" and metric != found.primary]
    order = [metric for metric in (found.primary, *own) if metric in COLUMNS]
    return [
        metric
        for metric in order
        if metric in ALWAYS or any(line.means.get(metric) is not None for line in found.entries)
    ]


# ---- at equal rates ----


def _shares(found: Compared) -> list[float]:
    return [
        one for one in EQUAL_SHARES if any(point.share == one for e in found.entries for point in e.costs)
    ]


def _of_share(line: ComparedVariant, share: float | None) -> CostPoint | None:
    return next((point for point in line.costs if point.share == share), None)


def _with_ratio(line: ComparedVariant, metric: str, digits: int) -> str:
    mean, compared = line.means.get(metric), line.against_reference.get(metric)
    if mean is None:
        return "–"
    figure = number(mean, digits)
    if compared is None or compared.ratio.ratio is None:
        return figure
    if metric in TAILS:
        return f"{figure}; {told(compared, METRICS[metric].better)}"
    return f"{figure}; {ratio_with_interval(compared.ratio.ratio, compared.ratio.interval)}"


def curves(found: Compared) -> list[tuple[str, list[list[str]]]]:
    """Title and cells, with their heads, of a table for each of TOGETHER: a line for each variant, a column for each rate.
    Full load, where each has a rate of its own, is the last one of a cost."""
    heads: list[tuple[str, float | None]] = []
    for share in _shares(found):
        rates = [one.rate_rps for line in found.entries if (one := _of_share(line, share))]
        heads.append((f"{share * 100:.0f} %, {number(statistics.fmean(rates))}/s", share))
    tables = []
    for metric in TOGETHER:
        columns = {
            name: head
            for head, share in (*heads, ("full load", None))
            if any(line.means.get(name := named(metric, share)) is not None for line in found.entries)
        }
        if not heads or not columns:
            continue
        first = COLUMNS[next(iter(columns))]
        title = f"{first[0].partition(',')[0]} at equal rates, {first[1]}; shares of what the slowest reaches"
        rows = [
            [
                line.variant + (" (baseline)" if line.variant == found.reference else ""),
                *(_with_ratio(line, name, 1 if metric == P99 else 0) for name in columns),
            ]
            for line in found.entries
        ]
        tables.append((title, [["variant", *columns.values()], *rows]))
    return tables


def by_role(found: Compared) -> tuple[str, list[list[str]]] | None:
    """Title and cells of the table of each role's part at full load."""
    points = {line.variant: point for line in found.entries if (point := _of_share(line, None))}
    roles = [role for role in ROLES if any(role in point.by_role_us for point in points.values())]
    if not roles:
        return None
    rows = [
        [label, number(one.total_us), *(number(one.by_role_us.get(role)) for role in roles)]
        for label, one in points.items()
    ]
    title = "CPU of each role at full load, µs/request"
    return title, [["variant", "total", *(ROLES[role] for role in roles)], *rows]


def _compact(found: Compared) -> list[tuple[str, list[list[str]]]]:
    return [*curves(found), *([own] if (own := by_role(found)) else [])]


def _title(result: Result[Compared], metric: str) -> str:
    found = result.conclusions
    rank = "; the primary metric, named beforehand" if metric == found.primary else ""
    looks = f" (looks at {', '.join(map(str, found.looks))})" if found.looks else ""
    return f"{COLUMNS[metric][0]}: {conditions_line(result.request)}, {found.blocks} blocks{looks}{rank}"


def tables(result: Result[Compared]) -> list[Table | Text]:
    """One table for each metric, its minimum detectable effect under it."""
    out: list[Table | Text] = []
    for metric in _shown(result.conclusions):
        table = Table(title=_title(result, metric), title_justify="left")
        for place, head in enumerate(("variant", COLUMNS[metric][1], *HEADS)):
            table.add_column(head, justify="right" if place in RIGHT else "left", no_wrap=place == 0)
        for row in rows(result, metric):
            table.add_row(*row[:3], Text(row[3], style=_COLOURS.get(row[3].split()[0], "")), *row[4:])
        out += [table, Text(_effect(result.conclusions, metric), style="dim")]
        if metric == _shown(result.conclusions)[0]:
            for title, (heads, *further) in _compact(result.conclusions):
                compact = empty(title, *heads, left=heads[:1])
                for cells in further:
                    compact.add_row(*cells)
                out.append(compact)
    return out


def excluded(found: Compared) -> list[str]:
    """Where a difference to detect or a budget was named: what the blocks found needed, and what they can exclude."""
    if found.design is None or found.primary is None:
        return []
    name = COLUMNS[found.primary][0]
    ended_early = found.blocks <= PILOT < found.design.blocks
    lines = [] if ended_early else [found.design.told]
    for line in found.entries:
        compared = line.against_reference.get(found.primary)
        if compared is None or compared.ratio.interval is None:
            continue
        sizes = [math.expm1(abs(math.log(end))) * 1e3 for end in compared.ratio.interval]
        found_one = compared.ratio.interval[0] > 1 or compared.ratio.interval[1] < 1
        # Rounded to the safe side, to a tenth of a percent.
        below = f" and below {percent(math.floor(min(sizes)) / 1e3)}" if found_one else ""
        least = compared.ratio.detectable_ratio
        smallest = (
            f"; the smallest that these blocks can detect is {(least - 1) * 100:.1f} %" if least else ""
        )
        lines.append(
            f"{line.variant}, {name}, {found.blocks} blocks: differences above {percent(math.ceil(max(sizes)) / 1e3)}{below}"
            f" are excluded{smallest}"
        )
    return lines


def failed_control(found: Compared) -> str | None:
    """What is said before the tables of a session whose control failed; None of any other."""
    if found.control is None or found.control.verdict == "passed":
        return None
    differing = [
        f"{COLUMNS[name][0]} × {one.ratio:.3f} (p {_p(one.p_adjusted)})"
        for name, one in found.control.differing.items()
    ]
    metrics = found.control.metrics
    holm = f", p by Holm over {metrics} metrics" if metrics > 1 else ""
    said = f"The control failed: the baseline differs from itself: {'; '.join(differing)}{holm}."
    if len(found.entries) > 1:
        said += (
            " Any program may be off by as much in this session, so each interval below is wider on both sides by what the"
            " baseline shows in that metric, and the verdicts follow it."
        )
    return said


def report(result: Result[Compared]) -> RenderableType:
    """All that a comparison says at its end."""
    found = result.conclusions
    again = second(found.reference)  # its settings are the reference's
    named = {label: e for label, e in result.environments.items() if label != again}
    failed = failed_control(found)
    lines: list[RenderableType] = [Text(failed, style="bold red")] if failed else []
    lines += [*tables(result), Text(NOTE, style="dim")]
    lines.append(settings(result.model_copy(update={"environments": named})))
    lines += [
        Text(f"{line.variant}: {line.verdict}: {reason}", style="red")
        for line in found.entries
        for reason in line.reasons
    ]
    lines += [
        Text(
            f"{line.variant}: measured in alternating windows, not in slices: {line.in_turns}", style="yellow"
        )
        for line in found.entries
        if line.in_turns
    ]
    lines += ceilings(result.baselines, [line.ceiling_shares for line in found.entries], _highest(found))
    lines += findings(result)
    lines += [Text(said, style="bold") for said in excluded(found)]
    if found.session is not Verdict.OK:
        lines += [
            Text(f"the session is {found.session}: {reason}", style="bold red") for reason in result.reasons
        ]
    lines.append(spent(result))
    return Group(*lines)


def headline(conclusions: dict[str, Any]) -> str:
    """The named metric of each variant. conclusions: as result.json has them."""
    metric = conclusions.get("primary") or GOODPUT
    found = [
        (entry["variant"], entry["against_reference"][metric])
        for entry in conclusions["entries"]
        if metric in entry["against_reference"]
    ]
    parts = [_against(label, one) for label, one in found if one["ratio"]["ratio"] is not None]
    if not parts:
        return ""
    control = conclusions.get("control")
    failed = "; the control failed" if control and control["verdict"] == "failed" else ""
    return f"{metric.removesuffix('_rps')} against {conclusions['reference']}: {'; '.join(parts)}{failed}"


def _against(label: str, found: dict[str, Any]) -> str:
    ratio, interval = found["ratio"]["ratio"], found["ratio"]["interval"]
    span = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    return f"{label} × {ratio:.2f}{span}, {found['verdict']}"

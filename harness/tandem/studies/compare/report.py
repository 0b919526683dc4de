"""The tables of a comparison. Pure: a result in, renderables out."""

import math
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis import ratios
from tandem.analysis.ceilings import cut_off
from tandem.analysis.cost import APP, AT, TOTAL, at
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.engine.side_by_side import second
from tandem.facts.metric import GOODPUT, OFFERED, P99, metric
from tandem.record.conclusion import Contrast
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.chart import DASHED, HUES, SOLID, choice, lines, names, quantity
from tandem.report.parts import ceilings, conditions_line, findings, settings, spent
from tandem.report.picture import Picture
from tandem.report.table import classes, statements, texts
from tandem.studies.compare.conclusions import METRICS, TAILS, Compared
from tandem.studies.compare.detecting import PILOT
from tandem.wording import ROLES, counted, limited_by, number, percent, ratio_with_interval

WHOLE, OWN = "all roles", "application"


def pictures(found: Compared) -> list[Picture]:
    """Nothing where there were no windows at equal rates."""
    rows = curve_rows(found)
    if all(row["share"] is None for row in rows):
        return []
    x = quantity("rate_rps", "offered rate, 1/s (last: full load)")
    y = quantity("us_per_request", "CPU, µs/request")
    spread = any(row["low"] is not None for row in rows)
    layers = lines(x, y, choice("cost", {WHOLE: SOLID, OWN: DASHED}), spread=spread)
    layers.append(names(x, y, "datum._last", field="_names"))
    says = (
        "CPU time for one request against the offered rate, mean over fresh starts with its 95 % interval: solid of all roles"
        " (application, PgBouncer, database, HAProxy), dashed of the application alone. The last point of each line is its full"
        " load. A line that falls shares a fixed cost among more requests. It says nothing about rates beyond those that were"
        " measured."
    )
    spec = {"data": {"values": rows}, "height": 320, "layer": layers}
    title = "What a request costs at each rate"
    return [Picture("cost", title, says, spec, section="why", read="reference/comparing")]


def curve_rows(found: Compared) -> list[dict[str, Any]]:
    """A row for each variant, rate and cost; full load is the last rate."""
    out = []
    for place, label in enumerate(found.variants):
        own = [share for share in EQUAL_SHARES if found.mean(label, at(OFFERED, share)) is not None]
        for share in (*own, None):
            rate_rps = found.mean(label, GOODPUT if share is None else at(OFFERED, share))
            for cost, key in ((WHOLE, TOTAL), (OWN, APP)):
                one = found.estimate(label, key if share is None else at(key, share))
                if one is None or one.mean is None:
                    continue
                low, high = one.interval or (None, None)
                row = {"variant": label, "cost": cost, "share": share, "rate_rps": rate_rps}
                row |= {"us_per_request": one.mean, "low": low, "high": high, "blocks": one.n}
                row |= {"hue": HUES[place % len(HUES)], "_last": share is None and cost == WHOLE}
                out.append(row)
    name_ends(out)
    return out


APART = 0.08
"""Share of the picture's height that a name needs for itself."""


def name_ends(rows: list[dict[str, Any]]) -> None:
    """Names the end of each line; lines that end side by side have their names one below the other."""
    kept: dict[str, Any] | None = None
    highest = max((row["us_per_request"] for row in rows), default=0.0)
    for row in sorted((one for one in rows if one["_last"]), key=lambda one: -one["us_per_request"]):
        room = APART * highest * (1 + kept["_names"].count("\n")) if kept else 0.0
        if kept and kept["us_per_request"] - row["us_per_request"] < room:
            kept["_names"] += f"\n{row['variant']}"
            row["_last"] = False
        else:
            kept, row["_names"] = row, row["variant"]


DUET, SATURATED = "duet_cpu_us_per_request", "saturated_cpu_us_per_request"
EVERY_RATE = "{}, alone at {:.0f} % of what the slowest reaches"
COLUMNS = {
    **{name: (f"{metric(name).title}, alone and at full load", metric(name).unit) for name in (TOTAL, APP)},
    **{
        at(name, share): (EVERY_RATE.format(metric(name).title, share * 100), metric(name).unit)
        for name in (TOTAL, APP, P99)
        for share in EQUAL_SHARES
        if at(name, share) in METRICS
    },
    **{name: (metric(name).title, metric(name).unit) for name in (GOODPUT, DUET)},
    SATURATED: ("app CPU, all at once at one rate, four fifths of their joint limit", metric(SATURATED).unit),
}
ALWAYS = (GOODPUT, APP)
TOGETHER = (TOTAL, APP, P99)
"""Metrics whose figures at equal rates stand in one table each, beside that of the one that decides."""
HEADS = ("ratio", "verdict (95 % interval)", "p, Holm", "p, sign flips", "blocks", "limited by")
WORDS = ("variant", HEADS[1], HEADS[-1])
"""Columns that are no figures."""
NOTE = (
    "ratio: variant divided by baseline, geometric mean over blocks of fresh starts. A difference is reported with its size,"
    f" even within the margin of {ratios.MARGIN * 100:.0f} %; equivalent: within the margin, and no difference found."
    " The line ~2 is the baseline against itself: its interval should contain 0. Not ranked: a shared resource or a ceiling"
    " limited the variant or the baseline, so the ratio says little about the programs."
)
_COLOURS = {"faster": "green", "cheaper": "green", "slower": "red", "dearer": "red"}


def told(one: Contrast | None) -> str:
    """Direction and size: `dearer by 1.8 % (1.3 to 2.3), within the margin of 3 %`; from twice on as a factor."""
    if one is None:
        return "–"
    ratio, interval, word, within = one.ratio, one.interval, str(one.word), one.within_margin
    if ratio is None or interval is None or word == "not ranked":
        return word
    if word == "equivalent":
        within = True
        if one.p is not None and one.p < ratios.ALPHA:
            # an older record, which said one of both
            word = ratios.WORDS[metric(one.metric).kind][0 if ratio > 1 else 1]
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


def rows(result: Result[Compared], name: str) -> Iterator[list[str | Text]]:
    """The cells of a metric's table; the reference has a second line, against itself."""
    found = result.conclusions
    for label in found.variants:
        if label == found.reference:
            yield _row(result, label, name, f"{label} (baseline)")
            yield _row(result, second(label), name)
        else:
            yield _row(result, label, name)


def _row(result: Result[Compared], label: str, name: str, shown: str = "") -> list[str | Text]:
    found = result.conclusions
    one, own = found.contrast(label, name), found.variants.get(label)
    estimate, (verdict, _) = found.estimate(label, name), found.verdict(label)
    limit = limited_by(estimate.limit if estimate else found.limit(label)) if own else ""
    mean, near = found.mean(label, name), None
    if own and name == GOODPUT:
        near = cut_off(own.near_ceiling, mean, result.baselines, _highest(found))
    void = f", {own.void_blocks} void" if own and own.void_blocks else ""
    word = told(one) if verdict is Verdict.OK else str(verdict)
    return [
        shown or label,
        number(mean, 0 if name == GOODPUT else 1),
        "–" if one is None or one.ratio is None else f"{one.ratio:.3f}",
        Text(word, style=_COLOURS.get(word.split()[0], "")),
        _p(one.p if one else None),
        _p(one.p_sign_flip if one else None),
        f"{number(one.n if one else None)}{void}",
        "; ".join(filter(None, (limit, near))),
    ]


def _highest(found: Compared) -> float:
    return max((found.mean(label, GOODPUT) or 0.0 for label in found.variants), default=0.0)


def effect(found: Compared, name: str) -> str:
    """The smallest difference of a metric that the blocks can detect, of each variant."""
    every = [found.contrast(label, name) for label in found.others or [second(found.reference)]]
    sizes = [
        f"{one.of} {(one.detectable_ratio - 1) * 100:.1f} %" for one in every if one and one.detectable_ratio
    ]
    blocks = f"up to {found.looks[-1]} blocks" if found.looks else f"{found.blocks} such blocks"
    by = ", with the corrections of this verdict" if found.primary else ""
    return f"smallest difference that {blocks} can detect (80 % power{by}): {', '.join(sizes) or '–'}"


def _is_told(found: Compared, name: str) -> bool:
    return any(one.ratio is not None for one in found.contrasts if one.metric == name)


def _shown(found: Compared) -> list[str]:
    """The metrics that have a table of their own, the one that decides first: of those at equal rates no other."""
    own = [name for name in COLUMNS if AT not in name and name != found.primary]
    order = [name for name in (found.primary, *own) if name in COLUMNS]
    return [name for name in order if name in ALWAYS or _is_told(found, name)]


# ---- at equal rates ----


def _with_ratio(found: Compared, label: str, name: str, digits: int) -> str:
    mean, one = found.mean(label, name), found.contrast(label, name)
    figure = number(mean, digits)
    if mean is None or one is None or one.ratio is None:
        return figure
    return f"{figure}; {told(one) if name in TAILS else ratio_with_interval(one.ratio, one.interval)}"


def curves(found: Compared) -> list[Table]:
    """A table for each of TOGETHER: a line for each variant, a column for each rate. Full load, where each has a rate of its own,
    is the last one of a cost."""
    heads: dict[float | None, str] = {}
    for share in EQUAL_SHARES:
        rates = [rate for label in found.variants if (rate := found.mean(label, at(OFFERED, share)))]
        if rates:
            heads[share] = f"{share * 100:.0f} %, {number(fmean(rates))}/s"
    out = []
    for name in TOGETHER if heads else ():
        columns = {
            key: head
            for share, head in (*heads.items(), (None, "full load"))
            if (key := name if share is None else at(name, share)) in COLUMNS
            and any(found.mean(label, key) is not None for label in found.variants)
        }
        rows = [
            [
                label + (" (baseline)" if label == found.reference else ""),
                *(_with_ratio(found, label, key, 1 if name == P99 else 0) for key in columns),
            ]
            for label in found.variants
        ]
        if columns:
            title, unit = COLUMNS[next(iter(columns))]
            title = f"{title.partition(',')[0]} at equal rates, {unit}; shares of what the slowest reaches"
            out.append(texts(title, rows, "variant", *columns.values(), left=("variant",)))
    return out


def by_role(found: Compared) -> list[Table]:
    """The table of each role's part at full load; none in a record without the cost of all roles."""
    labels = [label for label in found.variants if found.mean(label, TOTAL) is not None]
    if not _is_told(found, TOTAL) or not labels:
        return []
    heads = {TOTAL: "total", **{f"{role}_cpu_us_per_request": name for role, name in ROLES.items()}}
    keys = [key for key in heads if any(found.mean(label, key) is not None for label in labels)]
    rows = [[label, *(number(found.mean(label, key)) for key in keys)] for label in labels]
    title = "CPU of each role at full load, µs/request"
    return [texts(title, rows, "variant", *(heads[key] for key in keys), left=("variant",))]


def pairs(found: Compared) -> list[Table]:
    """The table of pairs without the baseline; none where there are none."""
    ratio = {(one.of, one.to, one.metric): one for one in found.contrasts if one.to != found.reference}
    metrics = [name for name in (TOTAL, APP, GOODPUT) if any(key[2] == name for key in ratio)]
    rows = [
        [f"{of} by {to}", *(told(ratio.get((of, to, name))) for name in metrics)]
        for of, to in dict.fromkeys((one.of, one.to) for one in ratio.values())
    ]
    heads = (COLUMNS[name][0] for name in metrics)
    return [texts("Pairs without the baseline", rows, "pair", *heads, left=("pair",))] if rows else []


def _title(result: Result[Compared], metric: str) -> str:
    found = result.conclusions
    rank = "; the primary metric, named beforehand" if metric == found.primary else ""
    looks = f" (looks at {', '.join(map(str, found.looks))})" if found.looks else ""
    return f"{COLUMNS[metric][0]}: {conditions_line(result.request)}, {counted(found.blocks, 'blocks')}{looks}{rank}"


def tables(result: Result[Compared]) -> list[Table | Text]:
    """One table for each metric, its minimum detectable effect under it; behind the first one those of all rates and roles."""
    out: list[Table | Text] = []
    found = result.conclusions
    for name in (shown := _shown(found)):
        own = texts(_title(result, name), rows(result, name), "variant", COLUMNS[name][1], *HEADS, left=WORDS)
        own.columns[0].no_wrap = True
        out += [own, Text(effect(found, name), style="dim")]
        if name == shown[0]:
            out += [*curves(found), *by_role(found), *pairs(found)]
    return out


def excluded(found: Compared) -> list[str]:
    """What the blocks found needed and what they can exclude, where a difference to detect or a budget was named."""
    if found.design is None or found.primary is None:
        return []
    name = COLUMNS[found.primary][0]
    ended_early = found.blocks <= PILOT < found.design.blocks
    lines = [] if ended_early else [found.design.told]
    for label in found.variants:
        one = found.contrast(label, found.primary)
        if one is None or one.interval is None:
            continue
        sizes = [math.expm1(abs(math.log(end))) * 1e3 for end in one.interval]
        found_one = one.interval[0] > 1 or one.interval[1] < 1
        # Rounded to the safe side, to a tenth of a percent.
        below = f" and below {percent(math.floor(min(sizes)) / 1e3)}" if found_one else ""
        least = one.detectable_ratio
        smallest = (
            f"; the smallest that these blocks can detect is {(least - 1) * 100:.1f} %" if least else ""
        )
        lines.append(
            f"{label}, {name}, {counted(found.blocks, 'blocks')}: differences above {percent(math.ceil(max(sizes)) / 1e3)}{below}"
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
    if len(found.variants) > 1:
        said += (
            " Any program may be off by as much in this session, so each interval below is wider on both sides by what the"
            " baseline shows in that metric, and the verdicts follow it."
        )
    return said


def report(result: Result[Compared]) -> RenderableType:
    """All that a comparison says at its end."""
    found = result.conclusions
    again = second(found.reference)  # its settings are the reference's
    named = {label: one for label, one in result.environments.items() if label != again}
    failed = failed_control(found)
    lines: list[RenderableType] = [Text(failed, style="bold red")] if failed else []
    lines += [*tables(result), Text(NOTE, style="dim"), *statements(found), *classes(found)]
    lines.append(settings(result.model_copy(update={"environments": named})))
    for label in found.variants:
        verdict, reasons = found.verdict(label)
        lines += [Text(f"{label}: {verdict}: {reason}", style="red") for reason in reasons]
    lines += [
        Text(f"{label}: measured in alternating windows, not in slices: {own.in_turns}", style="yellow")
        for label, own in found.variants.items()
        if own.in_turns
    ]
    lines += ceilings(
        result.baselines, [own.ceiling_shares for own in found.variants.values()], _highest(found)
    )
    lines += findings(result)
    lines += [Text(said, style="bold") for said in excluded(found)]
    if found.session is not Verdict.OK:
        lines += [
            Text(f"the session is {found.session}: {reason}", style="bold red") for reason in result.reasons
        ]
    return Group(*lines, spent(result), *pictures(found))


def headline(found: Compared) -> str:
    """The named metric of each variant."""
    name = found.primary or GOODPUT
    every = filter(None, (found.contrast(label, name) for label in found.others))
    parts = [
        f"{one.of} {ratio_with_interval(one.ratio, one.interval)}, {one.word}"
        for one in every
        if one.ratio is not None
    ]
    if not parts:
        return ""
    failed = "; the control failed" if found.control and found.control.verdict == "failed" else ""
    return f"{name.removesuffix('_rps')} against {found.reference}: {'; '.join(parts)}{failed}"

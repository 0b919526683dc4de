"""The tables of a comparison. Pure: a result in, renderables out."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.parts import conditions_line, host_line, settings
from tandem.studies.compare.conclusions import Compared, ComparedRatio, ComparedVariant, second
from tandem.wording import ceilings, limited_by, number, time_spent

COLUMNS = {
    "goodput_rps": ("goodput", "1/s"),
    "app_cpu_us_per_request": ("app CPU, alone and at full load", "µs/request"),
    "duet_cpu_us_per_request": ("app CPU, all at once and at one rate", "µs/request"),
    "saturated_cpu_us_per_request": (
        "app CPU, all at once at one rate, four fifths of their joint limit",
        "µs/request",
    ),
}
ALWAYS = ("goodput_rps", "app_cpu_us_per_request")
HEADS = ("ratio (95 % interval)", "verdict", "p, Holm", "p, sign flips", "blocks", "limited by")
RIGHT = {1, 2, 4, 5, 6}
"""Columns of figures."""
NOTE = (
    "ratio: variant by reference, geometric mean over blocks of fresh starts; equivalent: within 3 %."
    " The line ~2 is the reference against itself: its interval should contain 1."
)
_COLOURS = {"faster": "green", "cheaper": "green", "slower": "red", "dearer": "red"}


def _ratio(compared: ComparedRatio | None) -> str:
    if compared is None or compared.ratio.ratio is None:
        return "–"
    interval = compared.ratio.interval
    bounds = f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else ""
    return f"{compared.ratio.ratio:.3f}{bounds}"


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _row(label: str, metric: str, compared: ComparedRatio | None, line: ComparedVariant | None) -> list[str]:
    word = str(compared.verdict) if compared else "–"
    if line is not None and line.verdict is not Verdict.OK:
        word = str(line.verdict)
    bound = metric == "goodput_rps" and line is not None and line.censored
    if bound and compared:
        word = "not ranked"
    ratio = compared.ratio if compared else None
    mean = line.means.get(metric) if line else None
    return [
        label,
        ("≥ " if bound else "") + number(mean, 0 if metric == "goodput_rps" else 1),
        _ratio(compared),
        word,
        _p(compared.p_adjusted if compared else None),
        _p(ratio.p_sign_flip if ratio else None),
        number(ratio.n if ratio else None),
        limited_by(line.bottleneck) if line else "",
    ]


def rows(found: Compared, metric: str) -> Iterator[list[str]]:
    """The cells of a metric's table; the reference has a second line, against itself."""
    for line in found.entries:
        if line.variant == found.reference:
            yield _row(f"{line.variant} (reference)", metric, None, line)
            yield _row(second(line.variant), metric, found.same_against_itself.get(metric), None)
        else:
            yield _row(line.variant, metric, line.against_reference.get(metric), line)


def _effect(found: Compared, metric: str) -> str:
    effects = [
        (line.variant, compared.ratio.detectable_ratio)
        for line in found.entries
        if (compared := line.against_reference.get(metric)) is not None
    ]
    again = found.same_against_itself.get(metric)
    if again is not None and len(found.entries) == 1:
        effects = [(second(found.reference), again.ratio.detectable_ratio)]
    told = [f"{name} {(effect - 1) * 100:.1f} %" for name, effect in effects if effect]
    return f"smallest difference that {found.blocks} such blocks would find (80 % power): {', '.join(told) or '–'}"


def _shown(found: Compared) -> list[str]:
    """The metrics that have a table: those of duets only where there was one."""
    return [
        metric
        for metric in COLUMNS
        if metric in ALWAYS or any(line.means.get(metric) is not None for line in found.entries)
    ]


def _title(result: Result[Compared], metric: str) -> str:
    return f"{COLUMNS[metric][0]}: {conditions_line(result.request)}, {result.conclusions.blocks} blocks"


def tables(result: Result[Compared]) -> list[Table | Text]:
    """One table for each metric, its minimum detectable effect under it."""
    out: list[Table | Text] = []
    for metric in _shown(result.conclusions):
        table = Table(title=_title(result, metric), title_justify="left")
        for place, head in enumerate(("variant", COLUMNS[metric][1], *HEADS)):
            table.add_column(head, justify="right" if place in RIGHT else "left", no_wrap=place == 0)
        for row in rows(result.conclusions, metric):
            table.add_row(*row[:3], Text(row[3], style=_COLOURS.get(row[3], "")), *row[4:])
        out += [table, Text(_effect(result.conclusions, metric), style="dim")]
    return out


def markdown(result: Result[Compared]) -> str:
    """The tables for a page."""
    lines = []
    for metric in _shown(result.conclusions):
        heads = ("variant", COLUMNS[metric][1], *HEADS)
        rule = ("---:" if place in RIGHT else "---" for place in range(len(heads)))
        cells = (heads, rule, *rows(result.conclusions, metric))
        lines += [f"{_title(result, metric)}.", "", *(f"| {' | '.join(row)} |" for row in cells), ""]
        lines += [f"{_effect(result.conclusions, metric).capitalize()}.", ""]
    return "\n".join([*lines, f"{host_line(result)}; seed {result.request.seed}."])


def report(result: Result[Compared]) -> RenderableType:
    """All that a comparison says at its end."""
    found = result.conclusions
    again = second(found.reference)  # its settings are the reference's
    named = {label: e for label, e in result.environments.items() if label != again}
    lines: list[RenderableType] = [*tables(result), Text(NOTE, style="dim")]
    lines.append(settings(result.model_copy(update={"environments": named})))
    lines += [
        Text(f"{line.variant}: {line.verdict}: {reason}", style="red")
        for line in found.entries
        for reason in line.reasons
    ]
    lines += [
        Text(f"{line.variant}: measured in windows in turn, not in slices: {line.in_turns}", style="yellow")
        for line in found.entries
        if line.in_turns
    ]
    reached_rps = max(line.means["goodput_rps"] or 0.0 for line in found.entries)
    lines += ceilings(result.baselines.ceilings_rps, reached_rps=reached_rps)
    lines += [Text(f"{finding.text} [{finding.code}]", style="yellow") for finding in result.findings]
    if found.session is not Verdict.OK:
        lines += [
            Text(f"the session is {found.session}: {reason}", style="bold red") for reason in result.reasons
        ]
    lines.append(Text(time_spent(result.phases_s), style="dim"))
    return Group(*lines)

"""Renders a comparison for a terminal. Pure."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.compare.comparison import Compared, Comparison, Entry, second
from tandem.record.window import Verdict
from tandem.wording import BOTTLENECKS, ceilings, number, time_spent

COLUMNS = {
    "goodput_rps": ("goodput", "1/s"),
    "app_cpu_us_per_request": ("app CPU, alone and at full load", "µs/request"),
    "duet_cpu_us_per_request": ("app CPU, all at once and at one rate", "µs/request"),
}
_COLOURS = {"faster": "green", "cheaper": "green", "slower": "red", "dearer": "red"}


def _ratio(compared: Compared | None) -> str:
    if compared is None or compared.ratio.ratio is None:
        return "–"
    interval = compared.ratio.interval
    bounds = f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else ""
    return f"{compared.ratio.ratio:.3f}{bounds}"


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _rows(found: Comparison, metric: str, table: Table) -> None:
    def add(label: str, mean: float | None, compared: Compared | None, entry: Entry | None) -> None:
        words: str = str(compared.verdict) if compared else "–"
        if entry is not None and entry.verdict is not Verdict.OK:
            words = str(entry.verdict)
        bound = metric == "goodput_rps" and entry is not None and entry.censored
        if bound and compared:
            words = "not ranked"
        ratio = compared.ratio if compared else None
        limit = BOTTLENECKS.get(entry.bottleneck or "", "–") if entry else ""
        table.add_row(
            label,
            ("≥ " if bound else "") + number(mean, 0 if metric == "goodput_rps" else 1),
            _ratio(compared),
            Text(words, style=_COLOURS.get(words, "")),
            _p(compared.p_adjusted if compared else None),
            _p(ratio.p_sign_flip if ratio else None),
            number(ratio.n if ratio else None),
            limit,
        )

    for entry in found.findings.entries:
        if entry.entrant == found.findings.reference:
            add(f"{entry.entrant} (reference)", entry.means.get(metric), None, entry)
            add(second(entry.entrant), None, found.findings.same_against_itself.get(metric), None)
        else:
            add(entry.entrant, entry.means.get(metric), entry.against_reference.get(metric), entry)


def _effect(found: Comparison, metric: str) -> str:
    effects = [
        (entry.entrant, compared.ratio.detectable_ratio)
        for entry in found.findings.entries
        if (compared := entry.against_reference.get(metric)) is not None
    ]
    again = found.findings.same_against_itself.get(metric)
    if again is not None and len(found.findings.entries) == 1:
        effects = [(second(found.findings.reference), again.ratio.detectable_ratio)]
    told = [f"{name} {(effect - 1) * 100:.1f} %" for name, effect in effects if effect]
    return f"smallest difference that {found.blocks} such blocks would find (80 % power): {', '.join(told) or '–'}"


def tables(found: Comparison) -> list[Table | Text]:
    """One table for each metric, its minimum detectable effect under it."""
    out: list[Table | Text] = []
    for metric, (what, unit) in COLUMNS.items():
        if all(entry.means.get(metric) is None for entry in found.findings.entries) and "duet" in metric:
            continue
        title = f"{what}: {found.scenario}, topology {found.topology}, placement {found.placement}, {found.blocks} blocks"
        table = Table(title=title, title_justify="left")
        table.add_column("entrant", no_wrap=True)
        table.add_column(unit, justify="right")
        table.add_column("ratio (95 % interval)", justify="right")
        table.add_column("verdict")
        table.add_column("p, Holm", justify="right")
        table.add_column("p, sign flips", justify="right")
        table.add_column("blocks", justify="right")
        table.add_column("limited by")
        _rows(found, metric, table)
        out += [table, Text(_effect(found, metric), style="dim")]
    return out


def report(found: Comparison) -> Group:
    """All that a comparison says at its end."""
    lines: list[Table | Text] = tables(found)
    note = (
        "ratio: entrant by reference, geometric mean over blocks of fresh starts; equivalent: within 3 %."
        " The line ~2 is the reference against itself: its interval should contain 1."
    )
    lines.append(Text(note, style="dim"))
    shared = {
        name: value
        for name, value in found.findings.entries[0].knobs.items()
        if value and all(entry.knobs.get(name) == value for entry in found.findings.entries)
    }
    lines.append(Text("knobs: " + ", ".join(f"{n}={v}" for n, v in shared.items()), style="dim"))
    for entry in found.findings.entries:
        own = ", ".join(f"{n}={v}" for n, v in entry.knobs.items() if v and n not in shared)
        if own:
            lines.append(Text(f"{entry.entrant} has {own}", style="dim"))
        lines += [
            Text(f"{entry.entrant}: {entry.verdict}: {reason}", style="red") for reason in entry.reasons
        ]
    reached_rps = max(entry.means["goodput_rps"] or 0.0 for entry in found.findings.entries)
    lines += ceilings(found.findings.ceilings_rps, reached_rps=reached_rps)
    lines += [Text(warning, style="yellow") for warning in found.warnings]
    if found.findings.verdict is not Verdict.OK:
        lines += [
            Text(f"the session is {found.findings.verdict}: {reason}", style="bold red")
            for reason in found.findings.reasons
        ]
    lines.append(Text(time_spent(found.phases_s), style="dim"))
    return Group(*lines)

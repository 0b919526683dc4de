"""Renders a self-test for a terminal. Pure."""

from rich.table import Table
from rich.text import Text

from tandem.record.selftest import Selftest, good


def _mark(value: bool | None) -> Text:
    if value is None:
        return Text("–", style="dim")
    return Text("yes", style="green") if value else Text("NO", style="bold red")


def report(found: Selftest) -> Table:
    """One row per check: the known answer, the measured one, and the negative control."""
    table = Table(title=f"self-test, {found.kind}", title_justify="left", show_lines=True)
    for column in ("check", "expected", "measured", "tolerance", "ok", "broken on purpose", "caught"):
        table.add_column(column, overflow="fold")
    group = None
    for outcome in found.outcomes:
        if outcome.group != group:
            group = outcome.group
            table.add_section()
        table.add_row(
            Text(outcome.name),
            Text(outcome.expected),
            Text(outcome.measured),
            Text(outcome.tolerance),
            _mark(outcome.passed),
            Text(outcome.negative_control or "–", style="dim"),
            _mark(outcome.negative_control_failed),
        )
    return table


def sentence(found: Selftest) -> str:
    """The outcome in one sentence."""
    right = sum(map(good, found.outcomes))
    seconds = found.duration_s or (found.finished_at - found.started_at).total_seconds()
    return f"{right} of {len(found.outcomes)} checks hold ({found.kind}), in {seconds:.0f} s"

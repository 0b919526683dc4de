"""What a capacity session found: capacity.json, and how it is told. Pure."""

from datetime import datetime
from typing import Literal

from pydantic import Field
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.ceilings import reaches_ceiling
from tandem.capacity.probe import Probe, State
from tandem.capacity.search import Slo
from tandem.old.run import Environment
from tandem.record.part import Number, Part
from tandem.record.window import Finding, Times, Verdict
from tandem.wording import BOTTLENECKS, bound, ceilings, number, time_spent

NOTHING = "above it no resource was exhausted in the mean: the objective alone was not met"


class Recovery(Part):
    """What came right after an overload: half the capacity."""

    gap_s: Number
    """From the end of the overload's schedule to the first request of what came after."""
    per_second_ms: list[Number | None]
    """The objective's percentile of each second's requests."""
    recovery_s: Number | None
    """From the end of the overload's schedule to the first of three seconds in a row within the objective, at the
    most: the gap counts in full. Null: not within the window."""


class Behaviour(Part):
    """One load, as a share of the capacity."""

    share: Number
    offered_rps: int
    seconds: int
    goodput_rps: Number
    service_time_ms: Times
    response_time_ms: Times | None
    failed_share: Number
    unsent_share: Number
    bottleneck: str
    verdict: Verdict
    findings: list[Finding]
    recovery: Recovery | None = None


class Capacity(Part):
    """capacity.json"""

    schema_version: Literal[1] = 1
    started_at: datetime
    finished_at: datetime
    implementation: str
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    knobs: dict[str, str]
    """Those that were chosen."""
    slo: Slo
    verdict: Verdict
    """ok: confirmed. void: the host disturbed too much. invalid: not confirmed, or no rate meets the objective."""
    reasons: list[str]
    closed_goodput_rps: Number
    """Of a short closed window: the search begins at half of it."""
    search: list[Probe]
    search_starts: int = 1
    """Fresh starts that the search measured in: more than one where it was interrupted and went on."""
    decided: bool
    """Is the bracket narrow, with at least two probes that agree at both edges?"""
    bracket_rps: tuple[int | None, int | None]
    """The search's own."""
    confirmations: list[Probe]
    confirmed: int
    fresh_starts: int
    capacity_rps: int | None
    """The confirmed lower edge."""
    refused_rps: int | None
    """The upper edge after the confirmation."""
    limited_by: str | None
    """The bottleneck of the last probe that was refused at the upper edge or above it."""
    behaviour: list[Behaviour]
    behaviour_starts: int = 1
    """The same for these loads."""
    ceilings_rps: dict[str, Number | None] = Field(default_factory=dict)
    """What the parts around the application reached in the same session; empty where the plan has no such look."""
    phases_s: dict[str, Number] = Field(default_factory=dict)
    """Where the time went, of the last part where it was resumed."""
    environment: Environment | None


def limited_by(probes: list[Probe], capacity_rps: int | None) -> str | None:
    """What was exhausted at the lowest refused rate above the capacity."""
    refused = [p for p in probes if p.state is State.FAILED and p.rate_rps > (capacity_rps or 0)]
    if not refused:
        return None
    lowest = min(refused, key=lambda probe: probe.rate_rps)
    return "generator" if lowest.stalled else lowest.bottleneck


def _starts(number: int) -> str:
    return "one fresh start" if number <= 1 else f"{number} fresh starts"


def sentences(found: Capacity) -> list[Text]:
    """What was found, in words."""
    out = []
    if found.capacity_rps is not None:
        cut_off = found.limited_by == "generator" or reaches_ceiling(found.capacity_rps, found.ceilings_rps)
        at_least = "≥ " if cut_off else ""
        refused = f", not at {number(found.refused_rps)}" if found.refused_rps else ""
        out.append(
            Text(
                f"{found.implementation}: capacity {at_least}{found.capacity_rps:,}/s: {found.slo} held at"
                f" {found.capacity_rps:,}{refused}; {found.confirmed} of {found.fresh_starts} fresh starts confirmed it",
                style="bold",
            )
        )
        if found.limited_by:
            what = BOTTLENECKS.get(found.limited_by, found.limited_by)
            exhausted = f"above it, {what} was exhausted" if found.limited_by != "offered-load" else NOTHING
            out.append(Text(exhausted))
    out += [Text(f"{found.verdict}: {reason}", style="yellow") for reason in found.reasons]
    if found.search_starts > 1:
        out.append(Text(f"the search was interrupted: its probes are of {_starts(found.search_starts)}"))
    if not found.decided and None not in found.bracket_rps:
        out.append(Text("the probes ran out before both edges were decided", style="yellow"))
    for load in found.behaviour:
        if load.recovery is not None:
            seconds = load.recovery.recovery_s
            within = "not within the window" if seconds is None else f"{seconds:.1f} s at the most"
            out.append(
                Text(f"after {load.share:.0%}: back within {found.slo} at half the capacity: {within}")
            )
    return out


def report(found: Capacity) -> Group:
    """The tables that a person reads."""
    probes = Table(title=f"probes for {found.slo}, {found.scenario}", title_justify="left")
    loads = Table(title=f"behaviour by load, {_starts(found.behaviour_starts)}", title_justify="left")
    for column in ("offered 1/s", "window s", "p50 ms", f"{found.slo.percentile} ms"):
        probes.add_column(column, justify="right")
    probes.add_column("outcome")
    kinds = [("search", found.search), ("confirmation", found.confirmations)]
    for kind, made in kinds:
        for probe in made:
            times = probe.response_time_ms
            asked = getattr(times, found.slo.percentile, None)
            told = f"{kind}: {probe.state}{': ' if probe.reasons else ''}{'; '.join(probe.reasons)}"
            probes.add_row(
                number(probe.rate_rps),
                str(probe.seconds),
                number(times.p50 if times else None, 1),
                number(asked, 1),
                told,
            )
    for column in (
        "load %",
        "offered 1/s",
        "goodput 1/s",
        "p50 ms",
        "p99 ms",
        "failed %",
        "unsent %",
        "recovery s",
    ):
        loads.add_column(column, justify="right")
    loads.add_column("limited by")
    for load in found.behaviour:
        times = load.response_time_ms
        loads.add_row(
            number(load.share * 100),
            number(load.offered_rps),
            bound(number(load.goodput_rps), load.goodput_rps, found.ceilings_rps),
            number(times.p50 if times else None, 1),
            number(times.p99 if times else None, 1),
            number(load.failed_share * 100, 2),
            number(load.unsent_share * 100, 2),
            number(load.recovery.recovery_s if load.recovery else None, 1),
            BOTTLENECKS.get(load.bottleneck, load.bottleneck)
            + ("" if load.verdict is not Verdict.VOID else " (void)"),
        )
    note = Text(
        "response times are those of the requests that were answered; unsent ones have none", style="dim"
    )
    behaviour: list[Table | Text] = [loads, note] if found.behaviour else []
    around = ceilings(found.ceilings_rps, "a lower bound")
    spent = Text(time_spent(found.phases_s), style="dim")
    return Group(probes, *behaviour, *sentences(found), *around, spent)

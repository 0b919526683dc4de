"""Tables, lines and sentences that the reports of all studies share. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from tandem.analysis.ceilings import passed
from tandem.analysis.stack import OFF
from tandem.record.request import Request
from tandem.record.result import Baselines, Result
from tandem.record.window import Verdict
from tandem.wording import number, time_spent

STYLES = {Verdict.OK: "green", Verdict.INVALID: "red", Verdict.VOID: "yellow", Verdict.FAILED: "red"}


def conditions_line(request: Request) -> str:
    """The conditions that a study ran under."""
    under = request.conditions
    distance = "" if under.db_rtt_ms is None else f", database {under.db_rtt_ms} ms away"
    where = f"placement {under.placement}" if under.lab is None else f"lab {under.lab}"
    shared = "" if under.generators == 1 else f", load from {under.generators} generators"
    arriving = "" if under.arrivals is None else f", {under.arrivals.told}"
    clients = {one.clients for one in request.variants if one.stand_in is None}
    if len(clients) == 1 and (told := clients.pop()):
        arriving += f", {told}"
    newer = "" if under.services is None else f", services of {under.services}"
    return f"scenario {request.scenario}, topology {under.topology}, {where}{distance}{newer}{shared}{arriving}, plan {request.plan}"


def machine(result: Result[Any]) -> str:
    """The machine that measured, or each of them, in words; empty where it was not recorded."""
    environments = result.environments.values()
    if hosts := next((one.hosts for one in environments if one.hosts), None):
        return "; ".join(f"{host['roles']}: {_machine(host)}" for host in hosts.values())
    return next((_machine(one.host) for one in environments if one.host.get("cpu_model")), "")


def _machine(host: Mapping[str, str | int | float | None]) -> str:
    memory_gib = int(host.get("memory_bytes") or 0) / 2**30
    return f"{host.get('cpus')} × {host.get('cpu_model')}, {memory_gib:.0f} GiB, Linux {host.get('kernel')}"


def host_line(result: Result[Any]) -> str:
    """The day and the machine of a measurement."""
    return f"{result.started_at:%Y-%m-%d}, {machine(result) or 'host not recorded'}"


def settings(result: Result[Any]) -> Text:
    """The settings, and in what the variants differ: a difference is never silent."""
    environments = result.environments.items()
    by_label = {label: one.settings for label, one in environments if not label.startswith("ceiling ")}
    names = sorted({name for own in by_label.values() for name in own})
    values = {name: {own.get(name) for own in by_label.values()} for name in names}
    same = {name: of.pop() for name, of in values.items() if len(of) == 1}
    lines = ["settings: " + ", ".join(f"{name}={value}" for name, value in same.items() if value)]
    for label, own in by_label.items():
        if different := [f"{name}={value}" for name, value in own.items() if name not in same and value]:
            lines.append(f"{label} has {', '.join(different)}")
    return Text("\n".join(lines), style="dim")


def ceilings(baselines: Baselines, shares: Iterable[Mapping[str, float]], reached_rps: float) -> list[Text]:
    """Rates of the parts around the applications, and which of them proved to be no ceiling. shares: of all that was measured, within
    the blocks; reached_rps: the highest rate, for a record without them."""
    found = baselines.ceilings_rps
    if not found:
        return []
    if shares := [own for own in shares if own]:
        how, none = "in the blocks", passed(shares)
    else:
        how, none = "one look", {name for name, rate in found.items() if rate and rate < reached_rps}
    told = ", ".join(f"{name} {number(rate)}/s" for name, rate in found.items())
    lines = [Text(f"ceilings ({how}): {told}", style="dim")]
    if none:
        text = f"applications exceeded {' and '.join(sorted(none))}, so it is no ceiling and censors nothing"
        lines.append(Text(text, style="yellow"))
    return lines


FEW = 6
"""Variants whose interrupts are told one by one."""


def host_told(result: Result[Any]) -> list[str]:
    """CPU time of interrupts, and the host gates that had nothing to judge by. Empty where no window was made."""
    seen, lines = result.host, list[str]()
    if seen is None:
        return lines
    shares = seen.softirq_share
    if shares:
        all_ = (min(low for low, _ in shares.values()), max(high for _, high in shares.values()))
        each = shares if len(shares) <= FEW else {"all variants": all_}
        told = "; ".join(f"{label} {_percents(*share)}" for label, share in each.items())
        lines.append(f"softirq time, of all CPUs, by window: {told}")
    if seen.cannot_judge:
        each_why = ", ".join(f"{gate} ({why})" for gate, why in seen.cannot_judge.items())
        lines.append(f"{len(seen.cannot_judge)} of {seen.gates} host gates cannot judge here: {each_why}")
    return lines


def _percents(low: float, high: float) -> str:
    least, most = f"{low * 100:.1f}", f"{high * 100:.1f}"
    return f"{least} %" if least == most else f"{least} to {most} %"


def checked(result: Result[Any]) -> list[Text]:
    """Number of compared answers and of repeated starts of each variant, and the checks of the host."""
    lines = []
    if result.compared:
        each = "; ".join(f"{label} {told}" for label, told in result.compared.items())
        lines.append(Text(f"read on the wire: {each}", style="dim"))
    if result.made_again:
        each = ", ".join(f"{label} {number}" for label, number in result.made_again.items())
        lines.append(Text(f"starts repeated because the host disturbed their block: {each}"))
    return [*lines, *(Text(line, style="dim") for line in host_told(result))]


def findings(result: Result[Any]) -> list[Text]:
    """Warnings and notes that a reader has to know."""
    return [Text(f"{finding.text} [{finding.code}]", style="yellow") for finding in result.findings]


def spent(result: Result[Any]) -> Text:
    """The time of each phase."""
    return Text(time_spent(result.phases_s), style="dim")


def far_off(predictions: Iterable[tuple[str, float | None, Sequence[str]]]) -> list[Text]:
    """The predictions of a closed network that are more than 10 % off. predictions: of what, by how much, what may explain it."""
    return [
        Text(f"the model is {off:+.0%} off for {name}: {'; '.join(likely)}", style="yellow")
        for name, off, likely in predictions
        if off is not None and abs(off) > OFF
    ]


def ending(result: Result[Any]) -> list[Text]:
    """The last lines of a report: where the time went, why trials do not count, what else a reader has to know."""
    return [spent(result), *(Text(reason, style="yellow") for reason in result.reasons), *findings(result)]

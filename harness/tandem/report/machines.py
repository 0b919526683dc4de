"""The report of a lab's hosts, on one page of 100 columns. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.catalog.labs import Lab
from tandem.judge.fitness import Check, Link, Machine, bits, offset

COLOURS = {"good": "green", "limited": "yellow", "bad": "red"}


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    out = Table(*columns, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for row in rows:
        out.add_row(*row)
    return out


def _hosts(machines: list[Machine]) -> Table:
    rows = []
    for one in machines:
        told: tuple[str, ...] = ("–",) * 5
        if (seen := one.told) is not None:
            counts = str(seen.cpus), f"{seen.open_files:,}", f"{seen.free_bytes / 1e9:.0f} GB"
            told = (seen.engine, offset(seen), *counts)
        rows.append((one.host.name, ", ".join(one.host.roles), *told))
    return _table(("host", "roles", "engine", "clock", "cpus", "open files", "disk free"), rows)


def _links(links: list[Link]) -> Table:
    rows = []
    for one in links:
        trip, width = "–", "–"
        if (network := one.network) is not None:
            trip = f"{network.round_trip_ms:.2f}, {network.round_trip_p99_ms:.2f} ms"
            width = f"{bits(network.there_bps)}, {bits(network.back_bps)}"
        used = ", ".join(f"{asking} {asked}" for asking, asked in one.used)
        rows.append((f"{one.one} - {one.other}", used, trip, width))
    return _table(("between", "who asks whom", "round trip, p99", "bandwidth, each way"), rows)


def _problems(found: list[Check]) -> Iterator[Text]:
    """Lines for what is wrong, the worst first; what several hosts have in common once."""
    for state in ("bad", "limited"):
        told: dict[tuple[str, str, str], list[str]] = {}
        for one in found:
            if one.state == state:
                told.setdefault((one.name, one.found, one.means), []).append(str(one.about))
        for (name, what, means), about in told.items():
            yield Text.assemble((f"{state}: ", COLOURS[state]), f"{', '.join(about)}: {name} {what}: {means}")


def checked(found: list[Check]) -> Table:
    """All that was looked at on one machine."""
    rows = Table(box=None, show_header=False, padding=(0, 2))
    for check in found:
        rows.add_row(check.name, f"[{COLOURS[check.state]}]{check.state}[/]", check.found, check.means)
    return rows


def mapped(seats: Iterable[Sequence[str]]) -> Table:
    """Who sits where, and why (tandem.lab.doctor.seats)."""
    return _table(("CPUs", "who", "why"), seats)


def page(lab: Lab, machines: list[Machine], links: list[Link], found: list[Check], fit: list[str]) -> Group:
    """The hosts, the network between them, what is wrong or limits, and what the lab is fit for."""
    parts: list[Table | Text] = [Text(f"lab {lab.name}", style="bold"), _hosts(machines)]
    if links:
        parts += [Text(), _links(links)]
    problems = [*_problems(found)]
    if problems:
        parts += [Text(), *problems]
    return Group(*parts, Text(), *(Text(sentence) for sentence in fit))


def data(
    lab: Lab, machines: list[Machine], links: list[Link], found: list[Check], fit: list[str]
) -> dict[str, Any]:
    """The report for a program; null where nothing was measured."""
    return {
        "lab": lab.name,
        "hosts": {
            machine.host.name: {
                **{name: getattr(machine.host, name) for name in ("engine", "address", "roles")},
                "told": machine.told,
                "problem": machine.problem,
            }
            for machine in machines
        },
        "links": [
            {"hosts": [one.one, one.other], "used": one.used, "network": one.network, "problem": one.problem}
            for one in links
        ],
        "checks": found,
        "fit": fit,
    }

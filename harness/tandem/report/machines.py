"""The report of a lab's hosts, on one page of 100 columns. Pure."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.catalog.labs import Lab
from tandem.judge.fitness import Link, Machine, Remark, bits, offset

COLOURS = {"good": "green", "limited": "yellow", "bad": "red"}


def _table(*columns: str) -> Table:
    out = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in columns:
        out.add_column(column, header_style="bold")
    return out


def _hosts(machines: list[Machine]) -> Table:
    out = _table("host", "roles", "engine", "clock", "cpus", "open files", "disk free")
    for machine in machines:
        told = machine.told
        figures = (
            (
                told.engine,
                offset(told),
                str(told.cpus),
                f"{told.open_files:,}",
                f"{told.free_bytes / 1e9:.0f} GB",
            )
            if told
            else ("–",) * 5
        )
        out.add_row(machine.host.name, ", ".join(machine.host.roles), *figures)
    return out


def _links(links: list[Link]) -> Table:
    out = _table("between", "who asks whom", "round trip, p99", "bandwidth, each way")
    for link in links:
        network = link.network
        figures = (
            (
                f"{network.round_trip_ms:.2f}, {network.round_trip_p99_ms:.2f} ms",
                f"{bits(network.there_bps)}, {bits(network.back_bps)}",
            )
            if network
            else ("–", "–")
        )
        used = ", ".join(f"{asking} {asked}" for asking, asked in link.used)
        out.add_row(f"{link.one} - {link.other}", used, *figures)
    return out


def _problems(found: list[Remark]) -> Iterator[Text]:
    """Lines for what is wrong, the worst first; what several hosts have in common once."""
    for state in ("bad", "limited"):
        told: dict[tuple[str, str, str], list[str]] = {}
        for one in found:
            if one.state == state:
                told.setdefault((one.name, one.found, one.means), []).append(one.about)
        for (name, what, means), about in told.items():
            yield Text.assemble((f"{state}: ", COLOURS[state]), f"{', '.join(about)}: {name} {what}: {means}")


def page(lab: Lab, machines: list[Machine], links: list[Link], found: list[Remark], fit: list[str]) -> Group:
    """The hosts, the network between them, what is wrong or limits, and what the lab is fit for."""
    parts: list[Table | Text] = [Text(f"lab {lab.name}", style="bold"), _hosts(machines)]
    if links:
        parts += [Text(), _links(links)]
    problems = [*_problems(found)]
    if problems:
        parts += [Text(), *problems]
    return Group(*parts, Text(), *(Text(sentence) for sentence in fit))


def data(
    lab: Lab, machines: list[Machine], links: list[Link], found: list[Remark], fit: list[str]
) -> dict[str, Any]:
    """The report for a program; null where nothing was measured."""
    return {
        "lab": lab.name,
        "hosts": {
            machine.host.name: {
                "engine": machine.host.engine,
                "address": machine.host.address,
                "roles": machine.host.roles,
                "told": machine.told,
                "problem": machine.problem,
            }
            for machine in machines
        },
        "links": [
            {
                "hosts": [link.one, link.other],
                "used": link.used,
                "network": link.network,
                "problem": link.problem,
            }
            for link in links
        ],
        "checks": found,
        "fit": fit,
    }

"""What grows with the number of hosts, on paper: counts that follow from a lab's file, bytes and seconds that were measured. Pure."""

import json
import re
from collections.abc import Callable

from documents.records import BENCHMARKS, Records
from tandem.catalog.labs import ROLES, Lab

NUMBERS = (3, 10, 50)
NETWORK_BPS = 1e9
UNKNOWN = "not measured"
PRINTED = re.compile(
    r"all stages +([\d.]+) s\n([\d,]+) rows of (\d+) generators; at (?:the )?most ([\d.]+) GiB"
)
"""The end of what harness/benchmarks/merging.py prints."""


def lab(hosts: int) -> Lab:
    """Database, application with its proxy, and generators on all other hosts."""
    roles = [["db", "pgbouncer"], ["app", "proxy"], *[["loadgen"]] * (hosts - 2)]
    tables = {
        f"h{number}": {"engine": f"ssh://h{number}", "address": f"192.0.2.{number}", "roles": its}
        for number, its in enumerate(roles, start=1)
    }
    return Lab.model_validate({"name": "paper", "hosts": tables})


def _images(records: Records) -> dict[str, int] | None:
    """Bytes of each image by role, as harness/benchmarks/images.py printed them."""
    file = records.root / BENCHMARKS / "images.json"
    return json.loads(file.read_text())["bytes"] if file.is_file() else None


def copied_bytes(of: Lab, images: dict[str, int]) -> int:
    """What has to be copied to hosts that have nothing: the image of each role and the agent's; layers that two of them share
    count twice, as `docker save` writes them twice."""
    each = {role: images[role] for role in ROLES}
    return sum(images["agent"] + sum(each[role] for role in host.roles) for host in of.hosts.values())


def table(records: Records) -> str:
    """A column for each number of hosts."""
    labs, images = [lab(number) for number in NUMBERS], _images(records)

    def copies(of: Lab) -> str:
        return f"{copied_bytes(of, images) / 1e9:.1f} GB" if images else UNKNOWN

    def seconds(of: Lab) -> str:
        return f"{copied_bytes(of, images) * 8 / NETWORK_BPS:.0f} s" if images else UNKNOWN

    rows: list[tuple[str, Callable[[Lab], str]]] = [
        ("SSH connections, and agents", lambda of: str(len(of.hosts))),
        ("generators", lambda of: str(len(of.hosts_of("loadgen")))),
        (
            "pairs of hosts that `just doctor --lab` measures, one after the other",
            lambda of: str(len(of.links())),
        ),
        ("images copied to hosts that have none", copies),
        ("time to copy them at 1 Gbit/s from the machine that has them, no layer shared", seconds),
    ]
    lines = [f"| hosts | {' | '.join(map(str, NUMBERS))} |", f"| --- |{' ---: |' * len(NUMBERS)}"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(map(told, labs))} |" for name, told in rows)])


def visit(records: Records) -> str:
    """What a visit over several hosts costs besides its loads, as harness/benchmarks/lab_visit.py printed it."""
    file = records.root / BENCHMARKS / "lab-visit.json"
    if not file.is_file():
        return UNKNOWN
    printed = json.loads(file.read_text())
    here, far, hosts = printed["median"]["here"], printed["median"]["three hosts"], printed["hosts"]
    return (
        f"{far['overhead_s']:.1f} s over {hosts} hosts, {here['overhead_s']:.1f} s without a lab; the harness uses"
        f" {far['harness_cores'] / hosts:.1%} of a core on each host, {here['harness_cores']:.1%} without a lab"
    )


def merging(records: Records) -> str:
    """How long the rows of one window of many generators take, as harness/benchmarks/merging.py printed it."""
    file = records.root / BENCHMARKS / "merging.txt"
    found = PRINTED.search(file.read_text()) if file.is_file() else None
    if not found:
        return UNKNOWN
    seconds, rows, generators, gib = found.groups()
    return (
        f"{float(seconds):.0f} s for {rows} rows of {generators} generators, with {gib} GiB of memory at most"
    )

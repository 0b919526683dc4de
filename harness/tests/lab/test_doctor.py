"""tandem.lab.doctor: the map of recorded machines, and what it says of their cores and their clock."""

from io import StringIO

import pytest
from harness_machines import RECORDED, machine
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.lab import doctor
from tandem.report.machines import mapped

PHONE = 45


def drawn(real: Catalog, name: str) -> list[str]:
    """The map as a narrow terminal shows it."""
    where = machine(name)
    console = Console(width=PHONE, file=StringIO())
    console.print(mapped(doctor.seats(real.default_placement(where.places), where)))
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize("name", RECORDED)
def test_a_map_is_short_and_has_each_cpu_once(real: Catalog, name: str) -> None:
    where = machine(name)
    lines = drawn(real, name)
    assert (len(lines) <= 18, max(map(len, lines)) <= PHONE, lines[0].split()) == (
        True,
        True,
        ["CPUs", "who", "why"],
    )
    whole = "\n".join(" ".join(row) for row in doctor.seats(real.default_placement(where.places), where))
    assert "application" in whole or " all " in whole
    assert ("nobody offline" in whole) == bool(where.offline)


def test_maps_as_they_are_drawn(real: Catalog) -> None:
    assert drawn(real, "old-laptop") == [
        "CPUs  who          why",
        "1     application  1 core; sibling 3 idle",
        "0     all others   1 core; sibling 2 idle",
    ]
    hybrid = drawn(real, "hybrid-laptop")
    assert [line.split()[:2] for line in hybrid[1:3]] == [["8,10", "application"], ["siblings", "9,11"]]
    assert hybrid[-2:] == ["14-19  nobody             6 more cores: not", "                          needed"]
    assert drawn(real, "one-core-with-smt")[1] == "1     application  1 core; sibling 0 taken"
    assert drawn(real, "one-cpu")[1:] == ["0     all  1 core"]
    assert "node 0" in drawn(real, "sixty-four")[1]
    assert "2 not ours" in " ".join(" ".join(drawn(real, "set-of-3-to-6")[1:3]).split())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("vm-of-two", [("cpus", "limited", "2")]),
        ("one-cpu", [("cpus", "bad", "1")]),
        ("nosmt", [("cpus", "good", "16")]),
        ("one-core-with-smt", [("cpus", "limited", "2 on 1 core"), ("SMT", "limited", "on")]),
        ("hybrid-laptop", [("cpus", "good", "20 on 14 cores"), ("SMT", "good", "on")]),
        ("set-of-3-to-6", [("cpus", "good", "4"), ("SMT", "limited", "0-2,7")]),
    ],
)
def test_what_the_cores_are_enough_for(name: str, found: list[tuple[str, str, str]]) -> None:
    assert [(one.name, one.state, one.found) for one in doctor.cpus(machine(name))] == found


def test_only_what_the_host_shows_is_judged() -> None:
    told = {"governor": "powersave", "turbo": None, "battery": "charging", "throttled": 0}
    found = [(one.name, one.state) for one in doctor.power(told)]
    assert found == [("governor", "limited"), ("battery", "good"), ("throttled", "good")]
    worse = {"governor": None, "turbo": "on", "battery": "discharging", "throttled": 7}
    assert {one.state for one in doctor.power(worse)} == {"limited"}

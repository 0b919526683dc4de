"""tandem.catalog.placement: which CPUs each role has on machines that others recorded."""

import re

import pytest
from harness_machines import RECORDED, machine
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import SIZES, EnvFile, fitted, seated, widened
from tandem.catalog.ranges import expand, folded
from tandem.errors import UsageError

PLACED = {
    "hybrid-laptop": ("eight-cores", "8,10", "4,6", "0,2", "13", "12"),
    "old-laptop": ("two-cores", "1", "0", "0", "0", "0"),
    "two-sockets": ("eight-cores", "6-7", "4-5", "2-3", "1", "0"),
    "nosmt": ("eight-cores", "6-7", "4-5", "2-3", "1", "0"),
    "four-core-arm": ("four-cores", "3", "2", "1", "0", "0"),
    "arm-of-two-kinds": ("eight-cores", "16-17", "9,15", "7-8", "6", "5"),
    "arm-of-four-kinds": ("eight-cores", "6-7", "4-5", "2-3", "1", "0"),
    "vm-of-two": ("two-cores", "1", "0", "0", "0", "0"),
    "one-core-with-smt": ("two-cores", "1", "0", "0", "0", "0"),
    "one-cpu": ("shared", "", "", "", "", ""),
    "sixty-four": ("eight-cores", "6-7", "4-5", "2-3", "1", "0"),
    "dealt-out": ("eight-cores", "24,28", "16,20", "8,12", "4", "0"),
    "epyc": ("eight-cores", "6-7", "4-5", "2-3", "1", "0"),
    "set-of-3-to-6": ("four-cores", "6", "5", "4", "3", "3"),
    "offline": ("eight-cores", "16,18", "12,14", "8,10", "6", "4"),
    "gaps": ("four-cores", "11", "10", "7", "6", "6"),
}
"""Machine -> its placement, and the CPUs of application, database, generator, proxy and PgBouncer."""


@pytest.mark.parametrize("name", PLACED)
def test_each_recorded_machine_has_its_placement(real: Catalog, name: str) -> None:
    where = machine(name)
    found = fitted(real.default_placement(where.places), where)
    roles = [found.variables[f"{role}_CPUSET"] for role in ("APP", "DB", "LOADGEN", "PROXY", "PGBOUNCER")]
    assert (found.name, *roles) == PLACED[name]


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("size", SIZES)
def test_no_two_places_are_one_core(real: Catalog, name: str, size: str) -> None:
    where = machine(name)
    if len(where.cores) < SIZES[size]:
        return
    cores = seated(where, SIZES[size])
    assert len({core.cpus for core in cores}) == SIZES[size]
    assert cores[-1].kind == min(core.kind for core in cores), "the application's last core is a fastest"
    here = fitted(real.placements[size], where).variables
    assert {role: len(expand(cpus)) for role, cpus in here.items()} == {
        role: len(expand(cpus)) for role, cpus in real.placements[size].variables.items()
    }


def test_the_only_core_gives_its_threads(real: Catalog) -> None:
    [app, others] = reversed(seated(machine("one-core-with-smt"), 2))
    assert (app.cpus, app.others, others.cpus, others.others) == ((1,), (0,), (0,), (1,))


def test_two_of_one_kind_are_what_the_file_says(real: Catalog) -> None:
    """On a machine of two CPUs that are two cores nothing was moved: its sessions stay comparable."""
    file = real.placements["two-cores"]
    assert fitted(file, machine("vm-of-two")) == file


def own(cpuset: str) -> EnvFile:
    return EnvFile(name="mine", summary="", variables={"APP_CPUSET": cpuset, "DB_CPUSET": "3"})


@pytest.mark.parametrize(("cpuset", "wrong"), [("2-4", "2"), ("7", "7"), ("0-9", "0-2,7-9")])
def test_an_own_file_names_cpus_that_are_allowed(cpuset: str, wrong: str) -> None:
    where = machine("set-of-3-to-6")
    assert fitted(own("4-6"), where) == own("4-6")
    told = re.escape(f"may not use ({wrong}; it has 3-6): change compose/placements/mine.env, or leave")
    with pytest.raises(UsageError, match=told):
        fitted(own(cpuset), where)
    with pytest.raises(UsageError, match="the placement mine: a CPU set is such as 0,2-3"):
        fitted(own(f"{cpuset}-x"), where)


def test_further_cores_are_those_of_the_others() -> None:
    variables = {"APP_CPUSET": "4-5", "DB_CPUSET": "2", "PROXY_CPUSET": "2", "LOADGEN_CPUSET": "0"}
    assert [widened(variables, cores) for cores in (1, 2, 3, 4)] == ["4", "4-5", "2,4-5", "0,2,4-5"]
    with pytest.raises(UsageError, match="goes to 4 here"):
        widened(variables, 5)


@given(st.sets(st.integers(0, 300)))
def test_ranges_are_written_as_they_are_read(numbers: set[int]) -> None:
    assert expand(folded(numbers)) == sorted(numbers)

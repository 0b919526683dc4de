"""tandem.judge.fitness and tandem.report.machines: what doctor says of a lab, from readings that were made up."""

import io
import json
from dataclasses import replace

import pytest
from pydantic_core import to_json
from rich.console import Console

from tandem.catalog.labs import Lab
from tandem.judge import fitness
from tandem.judge.fitness import Between, Link, Machine, Readings, Remark
from tandem.record.store import NEEDED_BYTES
from tandem.report import machines as report

ROLES = {"database": ["db", "pgbouncer"], "application": ["app", "proxy"], "generator": ["loadgen"]}
CPUS = {"database": {"db": "1-3", "pgbouncer": "0"}, "application": {"app": "2-3", "proxy": "0-1"}}
TOLD = Readings("26.1.5", offset_ms=0.2, bound_ms=0.4, cpus=4, open_files=1_048_576, free_bytes=80 * 10**9)
NETWORK = Between(round_trip_ms=0.12, round_trip_p99_ms=0.31, there_bps=9.41e9, back_bps=9.38e9)


def lab(cpus: dict[str, dict[str, str]] = CPUS) -> Lab:
    hosts = {
        name: {
            "engine": f"ssh://me@{name}.example",
            "address": f"192.0.2.{number}",
            "roles": roles,
            "cpus": cpus.get(name, {}),
        }
        for number, (name, roles) in enumerate(ROLES.items(), start=1)
    }
    return Lab.model_validate({"name": "three", "hosts": hosts})


def machines(**changed: Readings | str) -> list[Machine]:
    """changed: what a host told instead, or why it told nothing."""
    out = []
    for name, host in lab().hosts.items():
        told = changed.get(name, TOLD)
        out.append(Machine(host, problem=told) if isinstance(told, str) else Machine(host, told))
    return out


def links(network: Between | None = NETWORK, problem: str | None = None) -> list[Link]:
    return [Link(*pair, tuple(used), network, problem) for pair, used in lab().links().items()]


def states(found: list[Remark]) -> dict[tuple[str, str], str]:
    return {(one.about, one.name): one.state for one in found if one.state != "good"}


def test_three_machines_of_a_rack_are_fit_for_every_plan() -> None:
    found = fitness.remarks(machines(), links())
    assert states(found) == {}
    said = fitness.fit(lab(), found, links())
    assert said[0].startswith("fit for every plan")
    # The proxy is beside the application, PgBouncer beside the database: two ways over the network.
    assert said[1] == "0.24 ms of a response with one query are round trips between hosts (topology full)"


@pytest.mark.parametrize(
    ("changed", "name", "told"),
    [
        ({"cpus": 2}, "cpus", "the lab file gives db CPU 3, but the last CPU there is 1"),
        ({"free_bytes": NEEDED_BYTES}, "disk", "make room there"),
    ],
)  # fmt: skip
def test_a_host_that_cannot_measure_is_bad_and_told_the_remedy(
    changed: dict[str, object], name: str, told: str
) -> None:
    found = fitness.remarks(machines(database=replace(TOLD, **changed)), links())  # type: ignore[arg-type]
    assert states(found) == {("database", name): "bad"}
    assert any(told in one.means for one in found)
    assert fitness.fit(lab(), found, links()) == [f"not fit for measuring: database ({name})"]


@pytest.mark.parametrize("offset_ms", [300.0, -300.0])
def test_a_clock_that_nobody_sets_is_told(offset_ms: float) -> None:
    found = fitness.remarks(machines(database=replace(TOLD, offset_ms=offset_ms)), links())
    assert states(found) == {("database", "clock"): "limited"}
    assert [one.means for one in found if one.state == "limited"] == [
        "corrected and recorded, but not synchronized: run an NTP client (chrony) on it and on this machine"
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"offset_ms": 100.3},  # within what it is known to
        {"offset_ms": -99.0},
        {"free_bytes": NEEDED_BYTES + 1},
    ],
)
def test_a_host_at_a_limit_is_good(changed: dict[str, object]) -> None:
    told = replace(TOLD, **changed)  # type: ignore[arg-type]
    assert states(fitness.remarks(machines(database=told), links())) == {}


def test_a_host_that_was_not_reached_is_told_with_its_reason() -> None:
    found = fitness.remarks(machines(generator="no answer within 10 s"), [])
    assert states(found) == {("generator", "host"): "bad"}
    assert fitness.fit(lab(), found, []) == ["not fit for measuring: generator (host)"]


def test_few_descriptors_limit_connections() -> None:
    found = fitness.remarks(machines(application=replace(TOLD, open_files=20_000)), links())
    assert states(found) == {("application", "open files"): "limited"}
    assert "9,900 connections" in next(one.means for one in found if one.state == "limited")


def test_roles_without_cpu_sets_share_cpus() -> None:
    shared = lab(cpus={})
    found = fitness.remarks([Machine(host, TOLD) for host in shared.hosts.values()], links())
    assert states(found) == {("database", "cpus"): "limited", ("application", "cpus"): "limited"}
    assert "on database, application roles share CPUs" in fitness.fit(shared, found, links())[0]


def test_a_long_way_and_a_narrow_one_are_limits() -> None:
    far = links(replace(NETWORK, round_trip_ms=1.5, back_bps=94.1e6))
    found = fitness.remarks(machines(), far)
    pairs = ("generator - application", "application - database")
    assert states(found) == {
        (pair, name): "limited" for pair in pairs for name in ("round trip", "bandwidth")
    }
    said = fitness.fit(lab(), found, far)
    assert said[-1].endswith(
        "carries 1,176 answers of 10 kB a second: it may be the limit before an application is"
    )
    assert "3.00 ms of a response" in said[1]


def test_a_link_that_could_not_be_measured_is_bad() -> None:
    broken = links(None, "connection refused")
    found = fitness.remarks(machines(), broken)
    assert {one.means for one in found if one.state == "bad"} == {"connection refused"}
    assert fitness.fit(lab(), found, broken)[0].startswith(
        "not fit for measuring: application - database (network)"
    )


@pytest.mark.parametrize(
    ("bps", "told"),
    [(9.414e9, "9.41 Gbit/s"), (1e9, "1 Gbit/s"), (94.06e6, "94.1 Mbit/s")],
)
def test_bandwidth_is_told_in_three_digits(bps: float, told: str) -> None:
    assert fitness.bits(bps) == told


def printed(them: list[Machine], between: list[Link]) -> list[str]:
    found = fitness.remarks(them, between)
    to = io.StringIO()
    Console(file=to, width=100).print(
        report.page(lab(), them, between, found, fitness.fit(lab(), found, between))
    )
    return to.getvalue().splitlines()


def test_the_page_has_100_columns_and_cuts_nothing() -> None:
    told = replace(TOLD, engine="20.10.24+dfsg1", offset_ms=-312.4, open_files=20_000)
    lines = printed(machines(database=told, generator="no answer within 10 s"), links())
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert "…" not in text
    for part in ("database", "-312.4 ± 0.4 ms", "20,000", "0.12, 0.31 ms", "9.41 Gbit/s, 9.38 Gbit/s"):
        assert part in text
    assert "bad: generator: host cannot be used: no answer within 10 s" in lines
    assert lines[-1] == "not fit for measuring: generator (host)"


def test_a_network_that_nobody_was_there_to_measure_is_not_told_again() -> None:
    found = fitness.remarks(machines(generator="gone"), links(None))
    assert states(found) == {("generator", "host"): "bad"}


def test_a_clock_is_never_behind_by_nothing() -> None:
    assert fitness.offset(replace(TOLD, offset_ms=-0.04)) == "+0.0 ± 0.4 ms"


def test_the_same_of_several_hosts_is_told_once() -> None:
    few = replace(TOLD, open_files=20_000)
    lines = printed(machines(database=few, application=few, generator=few), links())
    assert (
        len([line for line in lines if line.startswith("limited: database, application, generator: open")])
        == 1
    )


def test_json_has_all_figures_and_null_for_what_was_not_measured() -> None:
    them, between = machines(generator="gone"), links(None, "gone")
    found = fitness.remarks(them, between)
    told = json.loads(to_json(report.data(lab(), them, between, found, ["not fit"])))
    assert told["hosts"]["database"]["told"]["offset_ms"] == TOLD.offset_ms
    assert told["hosts"]["generator"]["told"] is None
    assert told["hosts"]["generator"]["problem"] == "gone"
    assert told["links"][0]["network"] is None
    assert told["links"][0]["used"] == [["loadgen", "proxy"], ["loadgen", "app"]]
    assert len(told["checks"]) == len(found)

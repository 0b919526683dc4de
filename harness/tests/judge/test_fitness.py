"""tandem.judge.fitness and tandem.report.machines: what doctor says of a lab, from readings that were made up."""

import json
from dataclasses import replace
from typing import Any

import pytest
from harness_engine import text
from pydantic_core import to_json

from tandem.catalog.labs import Lab, LabHost
from tandem.judge import fitness
from tandem.judge.fitness import Between, Check, Link, Machine, Readings
from tandem.record.store import NEEDED_BYTES
from tandem.report import machines as report

ROLES = {"database": ["db", "pgbouncer"], "application": ["app", "proxy"], "generator": ["loadgen"]}
CPUS = {"database": {"db": "1-3", "pgbouncer": "0"}, "application": {"app": "2-3", "proxy": "0-1"}}
TOLD = Readings("26.1.5", offset_ms=0.2, bound_ms=0.4, cpus=4, open_files=1_048_576, free_bytes=80 * 10**9)
NETWORK = Between(round_trip_ms=0.12, round_trip_p99_ms=0.31, there_bps=9.41e9, back_bps=9.38e9)
FAR = replace(NETWORK, round_trip_ms=1.5, back_bps=94.1e6)
PAIRS = ("generator - application", "application - database")


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


def machines(of: Lab | None = None, **changed: Any) -> list[Machine]:
    """changed: what a host told otherwise, or why it told nothing."""

    def machine(host: LabHost, told: Any) -> Machine:
        return Machine(host, problem=told) if isinstance(told, str) else Machine(host, replace(TOLD, **told))

    return [machine(host, changed.get(name, {})) for name, host in (of or lab()).hosts.items()]


def links(network: Between | None = NETWORK, problem: str | None = None) -> list[Link]:
    return [Link(*pair, tuple(used), network, problem) for pair, used in lab().links().items()]


def states(found: list[Check]) -> dict[tuple[str | None, str], str]:
    return {(one.about, one.name): one.state for one in found if one.state != "good"}


FIT, UNFIT = "fit for", "not fit for measuring: "
LIMITED = {(pair, name): "limited" for pair in PAIRS for name in ("round trip", "bandwidth")}
CLOCK = {("database", "clock"): "limited"}


@pytest.mark.parametrize(
    ("changed", "between", "state", "means", "fit"),
    [
        ({}, links(), {}, "", "fit for every plan"),
        ({"database": {"cpus": 2}}, links(), {("database", "cpus"): "bad"}, "gives db CPU 3, but the last CPU there is 1", UNFIT),
        ({"database": {"free_bytes": NEEDED_BYTES}}, links(), {("database", "disk"): "bad"}, "make room there", UNFIT),
        ({"database": {"free_bytes": NEEDED_BYTES + 1}}, links(), {}, "", FIT),
        ({"database": {"offset_ms": 300.0}}, links(), CLOCK, "run an NTP client (chrony)", FIT),
        ({"database": {"offset_ms": -300.0}}, links(), CLOCK, "run an NTP client (chrony)", FIT),
        ({"database": {"offset_ms": 100.3}}, links(), {}, "", FIT),  # within what it is known to
        ({"database": {"offset_ms": -99.0}}, links(), {}, "", FIT),
        ({"generator": "no answer within 10 s"}, [], {("generator", "host"): "bad"}, "no answer within 10 s", UNFIT),
        ({"generator": "gone"}, links(None), {("generator", "host"): "bad"}, "gone", UNFIT),
        ({"application": {"open_files": 20_000}}, links(), {("application", "open files"): "limited"}, "9,900 connections", FIT),
        ({}, links(FAR), LIMITED, "", FIT),
        ({}, links(None, "refused"), {(pair, "network"): "bad" for pair in PAIRS}, "refused", UNFIT),
    ],
)  # fmt: skip
def test_what_a_lab_is_fit_for(
    changed: dict[str, Any], between: list[Link], state: dict[tuple[str, str], str], means: str, fit: str
) -> None:
    found = fitness.checks(machines(**changed), between)
    assert states(found) == state
    assert any(means in one.means for one in found)
    said = fitness.fit(lab(), found, between)[0]
    assert said.startswith(fit)
    assert fit != UNFIT or "{} ({})".format(*min(state)) in said


def test_the_way_between_hosts_is_told() -> None:
    """The proxy is beside the application, PgBouncer beside the database: two ways over the network."""
    said = fitness.fit(lab(), fitness.checks(machines(), links()), links())
    assert said[1] == "0.24 ms of a response with one query are round trips between hosts (topology full)"
    far = fitness.fit(lab(), fitness.checks(machines(), links(FAR)), links(FAR))
    assert "3.00 ms of a response" in far[1]
    assert "carries 1,176 answers of 10 kB a second" in far[-1]


def test_roles_without_cpu_sets_share_cpus() -> None:
    shared = lab(cpus={})
    found = fitness.checks(machines(shared), links())
    assert states(found) == {("database", "cpus"): "limited", ("application", "cpus"): "limited"}
    assert "on database, application roles share CPUs" in fitness.fit(shared, found, links())[0]


def test_bandwidth_is_told_in_three_digits() -> None:
    told = [fitness.bits(bps) for bps in (9.414e9, 1e9, 94.06e6)]
    assert told == ["9.41 Gbit/s", "1 Gbit/s", "94.1 Mbit/s"]
    assert fitness.offset(replace(TOLD, offset_ms=-0.04)) == "+0.0 ± 0.4 ms", "never behind by nothing"


def printed(**changed: Any) -> list[str]:
    them, between = machines(**changed), links()
    found = fitness.checks(them, between)
    page = report.page(lab(), them, between, found, fitness.fit(lab(), found, between))
    return text(page, 100).splitlines()


def test_the_page_has_100_columns_and_cuts_nothing() -> None:
    told = {"engine": "20.10.24+dfsg1", "offset_ms": -312.4, "open_files": 20_000}
    lines = printed(database=told, generator="no answer within 10 s")
    assert max(map(len, lines)) <= 100
    page = "\n".join(lines)
    assert "…" not in page
    for part in ("database", "-312.4 ± 0.4 ms", "20,000", "0.12, 0.31 ms", "9.41 Gbit/s, 9.38 Gbit/s"):
        assert part in page
    assert "bad: generator: host cannot be used: no answer within 10 s" in lines
    few = {"open_files": 20_000}
    same = printed(database=few, application=few, generator=few)
    assert sum("database, application, generator: open" in line for line in same) == 1, "told once"


def test_json_has_all_figures_and_null_for_what_was_not_measured() -> None:
    them, between = machines(generator="gone"), links(None, "gone")
    found = fitness.checks(them, between)
    told = json.loads(to_json(report.data(lab(), them, between, found, ["not fit"])))
    generator = told["hosts"]["generator"]
    assert (generator["told"], generator["problem"]) == (None, "gone")
    assert told["hosts"]["database"]["told"]["offset_ms"] == TOLD.offset_ms
    assert told["links"][0]["network"] is None
    assert told["links"][0]["used"] == [["loadgen", "proxy"], ["loadgen", "app"]]
    assert len(told["checks"]) == len(found)

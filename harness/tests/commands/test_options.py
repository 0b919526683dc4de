"""The options of the commands: how their texts are read, what --lab asks for, and what goes with what."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main
from harness_places import ROOT

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.catalog.catalog import Catalog
from tandem.cli import measure
from tandem.cli.options import app, app_cpus, parse_arrivals, parse_budget_s, read_variant, read_variants
from tandem.cli.shared import OWN, Asked
from tandem.engine import stand_ins
from tandem.errors import UsageError
from tandem.lab.prepare import VariantConditions, in_a_lab
from tandem.lab.sites import Sites
from tandem.record.request import Request
from tandem.record.selftest import Status
from tandem.record.trial import Arrivals
from tandem.report.parts import conditions_line
from tandem.studies.bench.conclusions import CONDITIONS


def test_a_name_alone_and_with_settings_and_one_named_twice() -> None:
    assert read_variant("node").settings == {}
    found = read_variant("node:DB_POOL_MAX=4,DB_PREPARE=0")
    assert (found.implementation, found.settings) == ("node", {"DB_POOL_MAX": "4", "DB_PREPARE": "0"})
    assert found.label == "node:DB_POOL_MAX=4,DB_PREPARE=0"
    there = read_variant("node@before:DB_POOL_MAX=4")
    assert (there.implementation, there.tag, there.settings) == ("node", "before", {"DB_POOL_MAX": "4"})
    assert [one.label for one in read_variants(["node", "node", "rust-async"])] == ["node", "rust-async"]


NO_SETTING, NO_TAG = r"SETTING=VALUE|twice", "a tag of the image tandem/node"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *((f"node:{own}", NO_SETTING) for own in ("", "DB_POOL_MAX", "DB_POOL_MAX=4,", "A=1,A=2")),
        *((f"node@{own}", NO_TAG) for own in ("", "a/b", "-a")),
    ],
)
def test_what_is_no_setting_and_no_tag_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_variant(text)


def test_each_request_has_data_of_its_own() -> None:
    """Drawn by its seed: the same command with the same seed asks for the same bodies."""
    found = [
        Asked(plan="smoke", seed=seed).request("bench", Catalog(ROOT), read_variants(["node"]))
        for seed in (7, None, None)
    ]
    assert found[0].salt == "7"
    assert found[1].salt == str(found[1].seed) != found[2].salt


def test_a_budget() -> None:
    texts = {"2h": 7200, "90m": 5400, "15min": 900, "600s": 600}
    assert {text: parse_budget_s(text) for text in texts} == texts
    for text in ("", "2", "15", "0h", "0min", "h", "min", "1.5h", "2 h", "-1s"):
        with pytest.raises(UsageError, match="2h, 15min or 600s"):
            parse_budget_s(text)


FIXED = {"topology", "placement", "setting", "db_rtt", "generators", "arrivals", "clients", "services"}
WITHOUT = {
    **{name: set[str]() for name in ("bench", "capacity", "compare", "soak")},
    "start": {"plan", "arrivals", "clients"},
    "sweep": {"arrivals"},
    "explain": {"arrivals", "clients"},
    "crossover": {"db_rtt", "arrivals", "clients"},
    "ceiling": {"topology", "setting", "db_rtt", "arrivals", "clients"},
    "crosscheck": {"topology", "setting", "plan", "seed", "arrivals", "clients"},
    "nightly": FIXED,
    "reproduce": {"scenario", *FIXED},
    "session": {"scenario", "plan", *FIXED},
}
"""Command -> the shared options that it has a reason to do without."""


def test_every_measuring_command_has_the_shared_options() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shared = {one.name for one in fields(Asked)} - {*OWN}
    assert {name: shared - {one.name for one in commands[name].params} for name in WITHOUT} == WITHOUT


def test_who_measures_for_the_record_needs_a_passed_selftest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "line", lambda *of: (Status.PASSED, "self-test: passed"))
    measure.refuse_untested(untested=False)
    monkeypatch.setattr(measure, "line", lambda *of: (Status.STALE, "self-test: stale"))
    with pytest.raises(UsageError, match="just selftest first"):
        measure.refuse_untested(untested=False)
    measure.refuse_untested(untested=True)


LAB = "three-hosts"


def asked(catalog: Catalog, **options: Any) -> Request:
    variants = read_variants(["rust-async"])
    return Asked(plan="smoke", seed=1, **options).request("bench", catalog, variants)


def test_a_request_names_its_lab_and_is_not_that_of_another(real: Catalog) -> None:
    here, there = asked(real), asked(real, lab=LAB)
    assert (here.conditions.lab, there.conditions.lab) == (None, LAB)
    assert not here.same_but_for_the_seed(there)
    assert there.same_but_for_the_seed(asked(real, lab=LAB))
    assert f"lab {LAB}" in conditions_line(there)
    assert "placement" not in conditions_line(there)
    assert "lab" not in conditions_line(here)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"lab": "three"}, "there is no lab 'three'.* Did you mean 'three-hosts'"),
        ({"lab": LAB, "placement": "shared"}, "--lab and --placement both say which CPUs"),
    ],
)
def test_what_does_not_go_together_is_told_before_anything_is_reached(
    real: Catalog, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        asked(real, **options)


def test_some_studies_have_to_know_the_applications_cpus_before(real: Catalog, tmp_path: Path) -> None:
    assert app_cpus(real.lab(LAB)) == 2
    text = (real.root / "loadgen/labs/three-hosts.toml").read_text()
    (file := tmp_path / "no-cpus.toml").write_text(text.replace('cpus = {app = "2-3", proxy = "0-1"}', ""))
    with pytest.raises(UsageError, match="give application a CPU set for each of its roles"):
        app_cpus(real.lab(str(file)))


def test_each_host_for_generators_has_one_and_none_is_left_idle(real: Catalog, tmp_path: Path) -> None:
    text = (real.root / "loadgen/labs/three-hosts.toml").read_text()
    two = text.replace('roles = ["app", "proxy"]', 'roles = ["app", "proxy", "loadgen"]')
    two = two.replace('cpus = {app = "2-3", proxy = "0-1"}', "")
    (file := tmp_path / "generators.toml").write_text(two)
    assert asked(real, lab=LAB).conditions.generators == 1
    assert asked(real, lab=str(file)).conditions.generators == 2
    assert asked(real, lab=str(file), generators=5).conditions.generators == 5
    three = two.replace('roles = ["db", "pgbouncer"]\n', 'roles = ["db", "pgbouncer", "loadgen"]\n')
    file.write_text(three.replace('cpus = {db = "1-3", pgbouncer = "0"}', ""))
    with pytest.raises(
        UsageError, match=r"loadgen is on .*, and 2 generators would leave a host idle: use 3"
    ):
        asked(real, lab=str(file), generators=2)


def test_a_lab_has_the_same_ceilings(real: Catalog) -> None:
    assert stand_ins.looked_at(real, asked(real, lab=LAB)) == ["null", "database"]


def test_a_host_is_told_every_way_that_requests_take_in_a_study(real: Catalog) -> None:
    here, there = asked(real), asked(real, lab=LAB)
    variants = [condition.of(there.variants[0], real) for condition in CONDITIONS]
    assert in_a_lab(real, here, variants, 2) == {}
    assert in_a_lab(real, there, variants, 1) == {
        "ROUTES": "app:8080>db:5432 proxy:8080>faults:6433 proxy:8080>pgbouncer:6432"
    }
    assert in_a_lab(real, there, there.variants, 2)["SLOTS"] == "2"


@pytest.mark.parametrize(("cpuset", "workers"), [("0-2", 3), ("", 8)])
def test_the_application_starts_for_the_cpus_that_it_has_there(
    real: Catalog, tmp_path: Path, cpuset: str, workers: int
) -> None:
    class There(Sites):
        def settings(self) -> dict[str, str]:
            return {"APP_CPUSET": cpuset}

        def of(self, service: str) -> Any:
            return type("P", (), {"host": type("H", (), {"cpus": 8})})

    wanted = asked(real, lab=LAB)
    conditions = VariantConditions(real, wanted, wanted.variants[0], There())
    assert conditions.app_cpus == workers
    assert conditions.effective_settings()["WORKERS"] == str(workers)


def test_services_of_another_release_are_a_condition_of_a_request(real: Catalog) -> None:
    now, next_one = asked(real), asked(real, services="forky")
    assert now.same_but_for_the_seed(asked(real, services="trixie"))
    assert not now.same_but_for_the_seed(next_one)
    assert "services" not in conditions_line(now)
    assert "services of forky" in conditions_line(next_one)
    with pytest.raises(UsageError, match=r"no release of --services 'sid'.*trixie"):
        asked(real, services="sid")


def test_clients_are_changes_of_the_scenario_that_its_line_tells(real: Catalog) -> None:
    found = asked(real, clients="timeout=1s,retries=1,requests-per-connection=10,connections=400")
    [variant] = found.variants
    assert variant.scenario_changes == {
        **{"timeout_s": 1, "retries": 1},
        **{"requests_per_connection": 10, "connections": 400},
    }
    told = (
        "requests: 400 connections, given up after 1 s, sent up to 2 times, one in 10 closes its connection"
    )
    assert told in conditions_line(found)
    assert "each on a connection of its own" in conditions_line(
        asked(real, clients="requests-per-connection=1")
    )
    assert "requests: 400 connections, plan" in conditions_line(asked(real, clients="connections=400"))
    assert "requests:" not in conditions_line(asked(real))
    for text in ("", "patience=1s", "timeout=1", "retries=1s", "retries=1,retries=2", "timeout=1s;retries=1"):
        with pytest.raises(UsageError, match=r"--clients takes connections=N, timeout=Ns"):
            asked(real, clients=text)


def test_how_requests_arrive_is_a_condition_of_a_request(real: Catalog) -> None:
    found = [parse_arrivals(text) for text in ("paced", "poisson", "bursts:50/200ms")]
    assert found == [None, Arrivals(process="poisson"), Arrivals(process="bursts", size=50, pause_ms=200)]
    for text in ("", "random", "bursts", "bursts:0/5ms", "bursts:5/0ms", "bursts:5/5s", "bursts:-1/5ms"):
        with pytest.raises(UsageError, match="paced, poisson or bursts:SIZE/PAUSE"):
            parse_arrivals(text)
    evenly, randomly = asked(real), asked(real, arrivals="poisson")
    assert not evenly.same_but_for_the_seed(randomly)
    assert "arrivals" not in conditions_line(evenly)
    assert "Poisson arrivals" in conditions_line(randomly)
    assert "bursts of 5 with pauses of 20 ms" in conditions_line(asked(real, arrivals="bursts:5/20ms"))

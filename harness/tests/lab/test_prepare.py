"""tandem.lab.prepare: what may be asked for, and what a variant of a request is started with."""

from pathlib import Path
from typing import Any

import pytest
from harness_engine import request

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.errors import UsageError
from tandem.hosts import Here
from tandem.lab.prepare import check, prepare
from tandem.record.request import Conditions, Request, Variant


def variant(implementation: str = "rust-async", **changes: Any) -> Variant:
    return Variant(label="x", implementation=implementation, **changes)


def asked(of: Variant, **changes: Any) -> Request:
    return request(variants=[of], **changes)


def full(**changes: Any) -> Conditions:
    return Conditions(**{"topology": "full", "placement": "shared", **changes})


# ---- what may be asked for ----


def test_what_fits_together_is_let_through(real: Catalog) -> None:
    of = request(*real.implementations, scenario="index")
    check(real, of, of.variants)


@pytest.mark.parametrize(
    ("of", "changes", "told"),
    [
        (variant("rust-asink"), {}, "Did you mean 'rust-async'"),
        (variant(scenario="recipez"), {}, "Did you mean 'recipe'"),
        (variant(topology="ful"), {}, "Did you mean 'full'"),
        (variant(placement="two-core"), {}, "Did you mean 'two-cores'"),
        (variant(settings={"WORKER": "1"}), {}, "Did you mean 'WORKERS'"),
        (variant(settings={"WORKERS": "0"}), {}, "WORKERS must be a whole number from 1"),
        (variant(), {"settings": {"WORKERS": "x"}}, "WORKERS must be a whole number from 1"),
        (variant(scenario_changes={"conections": 4}), {}, "a scenario has no field 'conections'"),
        (variant(scenario_changes={"connections": 0}), {}, "the scenario's connections: .* greater than"),
        (variant(scenario_changes={"timeout_s": "soon"}), {}, "the scenario's timeout_s: .* valid integer"),
        (variant(), {"scenario": "index", "conditions": full(db_rtt_ms=15)}, "index never asks the database"),
        (variant(scenario="index", db_rtt_ms=15), {}, "index never asks the database"),
        (variant("rust-hyper"), {}, "rust-hyper does not support recipes: "),
    ],
)
def test_what_does_not_is_told(real: Catalog, of: Variant, changes: dict[str, Any], told: str) -> None:
    wanted = asked(of, **changes)
    with pytest.raises(UsageError, match=told):
        check(real, wanted, wanted.variants)


def test_a_placement_that_does_not_fit_the_host(real: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Here, "cpus", 2)
    of = request(conditions=full(placement="eight-cores"))
    with pytest.raises(UsageError, match="eight-cores needs 8 CPUs, but this host has 2"):
        check(real, of, of.variants)


# ---- what a variant is started with ----


def test_a_variant_has_the_request_s_and_what_it_says_otherwise(real: Catalog, tmp_path: Path) -> None:
    of = variant(
        settings={"DB_POOL_MAX": "4"},
        scenario="recipe",
        scenario_changes={"connections": 7},
        topology="direct",
        variables={"FAULT": "cached", "APP_MAXCONN": "9"},
    )
    wanted = asked(of, settings={"DB_POOL_MAX": "8", "WORKERS": "3"})
    made = prepare(real, wanted, of, tmp_path)
    assert (made.case.settings["DB_POOL_MAX"], made.case.settings["WORKERS"]) == ("4", "3")
    assert (made.case.scenario.name, made.case.scenario.connections) == ("recipe", 7)
    assert real.scenarios["recipe"].connections != 7, "that of the repository is left as it is"
    assert (made.case.load_address, made.case.proxied) == ("app:8080", False)
    assert made.case.admitted == 9
    assert made.case.db_pool_usable == 4
    assert made.stack.variables["FAULT"] == "cached"
    written = (tmp_path / "compose.env").read_text()
    assert "DB_POOL_MAX=4\n" in written
    assert "IMPL=rust-async\n" in written


@pytest.mark.parametrize(("of", "told"), [(variant(db_rtt_ms=0), "0"), (variant(), "15")])
def test_a_distance_of_the_variant_wins(real: Catalog, tmp_path: Path, of: Variant, told: str) -> None:
    wanted = asked(of, conditions=full(db_rtt_ms=15))
    assert prepare(real, wanted, of, tmp_path).stack.variables["DB_RTT_MS"] == told


@pytest.mark.parametrize(
    ("implementation", "scenario", "settings", "threads", "usable"),
    [
        # Each is told, whichever is scarce; no more workers start than there are connections, and each has as many.
        ("rust-sync", "recipes", {"WORKERS": "2", "THREADS": "3", "DB_POOL_MAX": "20"}, 6, 20),
        ("python-sync", "recipes", {"WORKERS": "8", "THREADS": "5", "DB_POOL_MAX": "3"}, 15, 3),
        ("falcon-sync", "recipes", {"WORKERS": "3", "THREADS": "20", "DB_POOL_MAX": "20"}, 60, 18),
        ("rust-async", "recipes", {"WORKERS": "2", "DB_POOL_MAX": "20"}, None, 20),
        ("rust-async", "index", {}, None, None),
        # A page waits for nothing.
        ("rust-sync", "index", {"WORKERS": "1", "THREADS": "3"}, None, None),
        ("rust-sync", "users", {"WORKERS": "1", "THREADS": "3"}, None, None),
        ("rust-sync", "work", {"WORKERS": "1", "THREADS": "3"}, 3, None),
    ],
)
def test_how_many_handlers_and_connections_there_are(
    real: Catalog,
    tmp_path: Path,
    implementation: str,
    scenario: str,
    settings: dict[str, str],
    threads: int | None,
    usable: int | None,
) -> None:
    of = variant(implementation, settings=settings)
    case = prepare(real, asked(of, scenario=scenario), of, tmp_path).case
    assert (case.handler_threads, case.db_pool_usable) == (threads, usable)


# ---- stand-ins ----


@pytest.mark.parametrize("kind", ["null", "proxy"])
def test_a_stand_in_answers_with_as_many_bytes_as_the_scenario(
    real: Catalog, tmp_path: Path, kind: Any
) -> None:
    wanted = request(scenario="index")
    made = prepare(real, wanted, stand_ins.variant(kind), tmp_path)
    [length] = made.case.answers.lengths()
    [asked_for] = prepare(real, wanted, wanted.variants[0], tmp_path).case.answers.lengths()
    assert length == asked_for

"""tandem.engine.stand_ins and what they are made of: which ceilings there are, and under what they are measured."""

from pathlib import Path

import pytest
from harness_samples import good_window
from harness_trials import request, trial, void_window

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.estimate import Overheads, estimate_s
from tandem.errors import UsageError
from tandem.lab.prepare import check, prepare
from tandem.record.request import Request, StandIn


def asked(topology: str = "full", scenario: str = "recipes", **settings: str) -> Request:
    under = {"topology": topology, "placement": "shared"}
    return request("bench", "rust-async", scenario=scenario, conditions=under, settings=settings)


@pytest.mark.parametrize(
    ("topology", "scenario", "names"),
    [
        ("full", "recipes", {"null", "proxy", "database"}),
        ("full", "index", {"null", "proxy"}),
        ("pooled", "recipes", {"null", "database"}),
        ("proxied", "recipes", {"null", "proxy"}),
        ("direct", "recipes", {"null"}),
    ],
)
def test_only_what_stands_in_the_path_is_a_ceiling(
    real: Catalog, topology: str, scenario: str, names: set[StandIn]
) -> None:
    assert {*stand_ins.fitting(real, asked(topology, scenario))} == names


def test_settings_of_the_database_are_not_the_null_applications(real: Catalog, tmp_path: Path) -> None:
    wanted = asked(DB_POOL_MAX="7", DB_RESET="0", WORKERS="3")
    default = real.settings["DB_POOL_MAX"].default
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path)
    assert (null.settings["WORKERS"], null.stack.variables["DB_POOL_MAX"]) == ("3", default)
    database = prepare(real, wanted, stand_ins.variant("database"), tmp_path)
    assert database.settings["DB_POOL_MAX"] == "7", "pgbench has as many connections as the applications"
    without = prepare(real, asked(), stand_ins.variant("database"), tmp_path)
    assert without.settings["DB_POOL_MAX"] == default
    with pytest.raises(UsageError, match="WORKERS must be a whole number"):
        prepare(real, asked(WORKERS="0"), stand_ins.variant("null"), tmp_path)


def test_a_stand_in_answers_about_as_much_as_the_application(real: Catalog, tmp_path: Path) -> None:
    wanted = asked()
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path).cell
    proxy = prepare(real, wanted, stand_ins.variant("proxy"), tmp_path).cell
    assert null.scenario.path.startswith("/null/")
    assert (null.load_address, null.proxied) == ("proxy:8080", True)
    assert (proxy.load_address, proxy.proxied) == ("proxy:8081", False)
    sizes = {*null.answers.lengths(), *proxy.answers.lengths()}
    assert max(sizes) < 3 * min(sizes)
    for cell in (null, proxy):
        assert (cell.scenario.connections, cell.scenario.statements) == (
            real.scenarios["recipes"].connections,
            [],
        )
    check(real, wanted, stand_ins.variants(real, wanted))


def test_what_was_disturbed_is_no_ceiling() -> None:
    looks = [
        trial("ceiling null", 0, good_window(goodput_rps=2000.0)),
        trial("ceiling proxy", 0, void_window(goodput_rps=9000.0)),
        trial("ceiling database", 0),
    ]
    assert stand_ins.ceilings_rps(looks) == {"null": 2000.0, "proxy": None, "database": None}


def test_which_plans_look(real: Catalog) -> None:
    """Where every second counts they do not: plans that only prove, and those of the tests."""
    looking = {name for name, plan in real.plans.items() if plan.ceilings}
    assert looking == {"capacity", "ceiling", "claim", "headline", "nightly", "quick"}
    plans = (real.root / "harness/tests/plans").iterdir()
    assert all(not real.plan(str(file)).ceilings for file in plans)
    assert estimate_s([stand_ins.specs(real, asked())], Overheads()) > 30

"""tandem.engine.stand_ins: what replaces the application, where, and for how long."""

from pathlib import Path

import pytest
from harness_engine import made_trial, request, trial_spec

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.estimate import Overheads, estimate_s
from tandem.errors import UsageError
from tandem.lab.prepare import Ground, check, prepare
from tandem.record.request import Conditions
from tandem.record.window import Verdict


@pytest.mark.parametrize(
    ("topology", "scenario", "expected"),
    [
        ("full", "recipes", ["null", "proxy", "database"]),
        ("pooled", "recipes", ["null", "database"]),
        ("proxied", "recipes", ["null", "proxy"]),
        ("direct", "recipes", ["null"]),
        ("full", "index", ["null", "proxy"]),
    ],
)
def test_only_what_stands_in_the_path_bounds_it(
    topology: str, scenario: str, expected: list[str], real: Catalog
) -> None:
    under = Conditions(topology=topology, placement="shared")
    asked = request(scenario=scenario, conditions=under)
    assert stand_ins.fitting(real, asked) == expected
    assert [variant.stand_in for variant in stand_ins.variants(real, asked)] == expected


def test_the_looks_are_one_block_before_all_others(real: Catalog) -> None:
    looks = stand_ins.specs(real, request())
    assert [(spec.name, spec.block) for spec in looks] == [
        ("look-null", 0),
        ("look-proxy", 0),
        ("look-database", 0),
    ]
    assert [spec.windows[0].generator for spec in looks] == ["oha", "oha", "pgbench"]
    assert all(spec.warm_up.steady_buckets == 0 for spec in looks)


def test_a_look_in_each_block_voids_none(real: Catalog) -> None:
    blocks = [[trial_spec(f"{n}-{label}", label, block=n) for label in ("one", "two")] for n in (1, 2, 3)]
    asked = request()
    mixed = stand_ins.in_each_block(real, asked, blocks)
    for number, block in enumerate(mixed, start=1):
        looks = [spec for spec in block if stand_ins.is_look(spec)]
        assert {spec.name for spec in looks} == {
            f"look-{number}-{kind}" for kind in ("null", "proxy", "database")
        }
        assert [spec for spec in block if spec not in looks] == blocks[number - 1], (
            "the order of the others stays"
        )
        assert all(spec.block == number and not spec.windows[0].counts for spec in looks)
    assert mixed == stand_ins.in_each_block(real, asked, blocks)
    places = {tuple(map(stand_ins.is_look, block)) for block in mixed}
    assert len(places) > 1, "they are not always first"
    # The mean of those that count: a disturbed look is left out by its window.
    made = [made_trial(spec, open=None) for block in mixed for spec in block if spec.name.endswith("null")]
    for trial, rate in zip(made, (300.0, 500.0, 9000.0), strict=True):
        trial.windows[0].only.goodput_rps = rate
    made[2].windows[0].only.verdict = Verdict.VOID
    assert stand_ins.ceilings_rps(made) == {"null": 400.0}


def test_what_they_reached(real: Catalog) -> None:
    looks = stand_ins.specs(real, request())
    made = [made_trial(spec, open=None) for spec in looks]
    made[1].verdict = Verdict.VOID
    made[2].windows = []
    assert stand_ins.ceilings_rps(made) == {"null": 400.0, "proxy": None, "database": None}
    assert stand_ins.ceilings_rps([]) == {}


def test_a_stand_in_has_those_settings_that_it_can_have(real: Catalog) -> None:
    asked = request(settings={"WORKERS": "1", "DB_POOL_MAX": "8"})
    null = stand_ins.variant("null")
    assert Ground.of(real, asked, null).settings == {"WORKERS": "1"}
    assert Ground.of(real, asked, asked.variants[0]).settings == asked.settings


def test_settings_of_the_database_are_not_the_null_applications(real: Catalog, tmp_path: Path) -> None:
    wanted = request(settings={"DB_POOL_MAX": "7", "DB_RESET": "0", "WORKERS": "3"})
    default = real.settings["DB_POOL_MAX"].default
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path)
    assert (null.settings["WORKERS"], null.stack.variables["DB_POOL_MAX"]) == ("3", default)
    database = prepare(real, wanted, stand_ins.variant("database"), tmp_path)
    assert database.cell.scenario.name == "recipes"
    assert database.settings["DB_POOL_MAX"] == "7", "pgbench has as many connections as the applications"
    without = prepare(real, request(), stand_ins.variant("database"), tmp_path)
    assert without.settings["DB_POOL_MAX"] == default
    with pytest.raises(UsageError, match="WORKERS must be a whole number"):
        prepare(real, request(settings={"WORKERS": "0"}), stand_ins.variant("null"), tmp_path)


def test_a_stand_in_answers_about_as_much_as_the_application(real: Catalog, tmp_path: Path) -> None:
    wanted = request()
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path).cell
    proxy = prepare(real, wanted, stand_ins.variant("proxy"), tmp_path).cell
    assert null.scenario.path.startswith("/null/")
    assert (null.load_address, null.proxied) == ("proxy:8080", True)
    assert (proxy.load_address, proxy.proxied) == ("proxy:8081", False)
    sizes = {*null.answers.lengths(), *proxy.answers.lengths()}
    assert max(sizes) < 3 * min(sizes)
    for own in (null.scenario, proxy.scenario):
        assert (own.connections, own.statements) == (real.scenarios["recipes"].connections, [])
    check(real, wanted, stand_ins.variants(real, wanted))


def test_which_plans_look(real: Catalog) -> None:
    """Where every second counts they do not: plans that only prove, and those of the tests."""
    looking = {name for name, plan in real.plans.items() if plan.ceilings}
    assert looking == {"capacity", "ceiling", "claim", "headline", "nightly", "quick"}
    plans = (real.root / "harness/tests/plans").iterdir()
    assert all(not real.plan(str(file)).ceilings for file in plans)
    assert estimate_s([stand_ins.specs(real, request())], Overheads()) > 30

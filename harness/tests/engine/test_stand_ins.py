"""tandem.engine.stand_ins: what replaces the application, where, and for how long."""

import pytest
from harness_engine import made_trial, request

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.lab.prepare import Ground
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

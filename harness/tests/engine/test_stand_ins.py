"""tandem.engine.stand_ins: what replaces the application, where, and for how long."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from harness_engine import made_trial, request, trial_spec
from harness_samples import good_window

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.blocks import Blocks
from tandem.engine.estimate import Overheads, estimate_s
from tandem.engine.run import drive
from tandem.errors import UsageError
from tandem.lab.prepare import check, prepare
from tandem.record.request import Conditions, Variant
from tandem.record.result import CeilingLook
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Verdict
from tandem.studies.bench.study import Bench


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
    binding = [stand_in for stand_in in expected if stand_in != "proxy"]
    looked_at = stand_ins.wanted(Bench(real, asked.model_copy(update={"plan": "quick"})))
    assert [variant.stand_in for variant in looked_at] == binding


@pytest.mark.parametrize("own", [{"topology": "direct"}, {"variables": {"DB_IMAGE": ":0123"}}])
def test_what_runs_elsewhere_is_not_looked_at(own: dict[str, Any], real: Catalog) -> None:
    one = Variant(label="a", implementation="node")
    asked = request(plan="quick", variants=[one, one.model_copy(update={"label": "b", **own})])
    assert stand_ins.wanted(Bench(real, asked)) == []
    alike = asked.model_copy(update={"variants": [one]})
    assert len(stand_ins.wanted(Bench(real, alike))) == 2, "the control"


BLOCKS = [[trial_spec(f"{n}-{label}", label, block=n) for label in ("one", "two")] for n in (1, 2, 3, 4)]


def answered(spec: TrialSpec, rates: dict[str, float], void: Collection[str] = ()) -> Trial:
    """rates: of the stand-ins; the variants reach 1000/s. void: names of looks that the host disturbs."""
    rate = rates[stand_ins.kind_of(spec)] if stand_ins.is_look(spec) else 1000.0
    verdict = Verdict.VOID if spec.name in void else Verdict.OK
    closed = good_window(goodput_rps=rate, verdict=verdict)
    return made_trial(spec, closed=closed, open=None, verdict=verdict)


def followed(
    real: Catalog, rates: dict[str, float], void: Collection[str] = (), seed: int = 1
) -> tuple[list[Sequence[TrialSpec]], list[Trial], list[list[Trial]]]:
    """The blocks that were asked for, all trials, and what the plan was told."""
    told, asked = list[list[Trial]](), list[Sequence[TrialSpec]]()

    def plan() -> Blocks:
        for block in BLOCKS:
            told.append((yield block))

    with_looks = stand_ins.in_each_block(real, request(seed=seed), plan())
    made = drive(with_looks, lambda spec: answered(spec, rates, void), before=asked.append)
    return asked, made, told


def kinds(block: Sequence[TrialSpec]) -> set[str]:
    return {stand_ins.kind_of(spec) for spec in block if stand_ins.is_look(spec)}


def test_each_block_looks_at_what_can_bind(real: Catalog) -> None:
    near = {"null": 1200.0, "database": 900.0}
    asked, made, told = followed(real, near)
    for number, block in enumerate(asked, start=1):
        own = [spec for spec in block if not stand_ins.is_look(spec)]
        assert own == BLOCKS[number - 1], "their order stays"
        looks = {spec.name for spec in block if stand_ins.is_look(spec)}
        assert looks == {f"look-{number}-{kind}" for kind in near}
        assert all(spec.block == number for spec in block)
    assert asked == followed(real, near)[0], "fixed by the seed"
    assert asked != followed(real, near, seed=2)[0]
    assert len({tuple(map(stand_ins.is_look, block)) for block in asked}) > 1, "they are not always first"
    assert not stand_ins.is_look(asked[0][0].model_copy()), "a figure of what was asked for comes first"
    assert [[trial.spec for trial in own] for own in told] == BLOCKS, "the plan hears of its own trials only"
    assert stand_ins.ceilings_rps(stand_ins.looks_of(made)) == near


def test_what_nothing_comes_near_is_looked_at_once(real: Catalog) -> None:
    asked, _, _ = followed(real, {"null": 20_000.0, "database": 1000.0 / 0.71})
    assert [kinds(block) for block in asked] == [{"null", "database"}, *[{"database"}] * 3]
    asked, _, _ = followed(real, {"null": 20_000.0, "database": 1000.0 / 0.69})
    assert [kinds(block) for block in asked] == [{"null", "database"}, set(), set(), set()]


def test_a_look_that_the_host_disturbed_tells_nothing_and_voids_nothing(real: Catalog) -> None:
    rates = {"null": 20_000.0, "database": 1200.0}
    asked, made, _ = followed(real, rates, void={"look-1-null", "look-2-database"})
    assert [kinds(block) for block in asked] == [{"null", "database"}] * 2 + [{"database"}] * 2
    looks = stand_ins.looks_of(made)
    assert [one.goodput_rps for one in looks["database"]] == [1200.0, None, 1200.0, 1200.0]
    assert stand_ins.ceilings_rps(looks) == rates
    assert stand_ins.ceilings_rps({"null": [CeilingLook(block=1, goodput_rps=None)]}) == {"null": None}


def test_a_block_that_is_made_again_looks_again(real: Catalog) -> None:
    def plan() -> Blocks:
        yield BLOCKS[0]
        yield [spec.again() for spec in BLOCKS[0]]

    found = stand_ins.in_each_block(real, request(), plan())
    rates = {"null": 1100.0, "database": 1100.0}
    again = found.send([answered(spec, rates) for spec in next(found)])
    assert {spec.attempt for spec in again} == {2}
    assert {spec.key for spec in again if stand_ins.is_look(spec)} == {"look-1-null.2", "look-1-database.2"}


def test_settings_of_the_database_are_not_the_null_applications(real: Catalog, tmp_path: Path) -> None:
    wanted = request(settings={"DB_POOL_MAX": "7", "DB_RESET": "0", "WORKERS": "3"})
    default = real.settings["DB_POOL_MAX"].default
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path)
    assert (null.case.settings["WORKERS"], null.stack.variables["DB_POOL_MAX"]) == ("3", default)
    database = prepare(real, wanted, stand_ins.variant("database"), tmp_path)
    assert database.case.scenario.name == "recipes"
    assert database.case.settings["DB_POOL_MAX"] == "7", "pgbench has as many connections as the applications"
    without = prepare(real, request(), stand_ins.variant("database"), tmp_path)
    assert without.case.settings["DB_POOL_MAX"] == default
    with pytest.raises(UsageError, match="WORKERS must be a whole number"):
        prepare(real, request(settings={"WORKERS": "0"}), stand_ins.variant("null"), tmp_path)


def test_a_stand_in_answers_about_as_much_as_the_application(real: Catalog, tmp_path: Path) -> None:
    wanted = request()
    null = prepare(real, wanted, stand_ins.variant("null"), tmp_path).case
    proxy = prepare(real, wanted, stand_ins.variant("proxy"), tmp_path).case
    assert null.scenario.path.startswith("/null/")
    assert (null.load_address, null.proxied) == ("proxy:8080", True)
    assert (proxy.load_address, proxy.proxied) == ("proxy:8081", False)
    sizes = {*null.answers.lengths(), *proxy.answers.lengths()}
    assert max(sizes) < 3 * min(sizes)
    for own in (null.scenario, proxy.scenario):
        assert (own.connections, own.statements) == (real.scenarios["recipes"].connections, [])
    check(real, wanted, [stand_ins.variant("null"), stand_ins.variant("database")])


def test_which_plans_look(real: Catalog) -> None:
    """Where every second counts they do not: plans that only prove, and those of the tests."""
    looking = {name for name, plan in real.plans.items() if plan.ceilings}
    assert looking == {"capacity", "ceiling", "claim", "headline", "nightly", "quick"}
    plans = (real.root / "harness/tests/plans").iterdir()
    assert all(not real.plan(str(file)).ceilings for file in plans)
    looks = stand_ins.expected(real, request(), BLOCKS)
    told = ["look-1-null", *(f"look-{number}-database" for number in (1, 2, 3, 4))]
    assert [spec.name for spec in looks] == told
    assert 30 < estimate_s([looks], Overheads()) < 60

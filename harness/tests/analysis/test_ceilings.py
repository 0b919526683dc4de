"""tandem.analysis.ceilings: what cuts a rate off."""

from typing import Any

import pytest
from harness_places import ROOT
from harness_samples import good_window, quiet_roles, role

from tandem.analysis.ceilings import cut_off, holding, in_same_blocks, nearness, reaches_ceiling
from tandem.analysis.cost import cpu_us_per_request_by_role, total_cpu_us_per_request
from tandem.record.result import Baselines, CeilingLook
from tandem.studies.registry import read_folder


def test_what_was_passed_is_no_ceiling() -> None:
    found = {"null": 20_000.0, "database": 770.0, "proxy": None}
    assert holding(found, 924.0) == {"null": 20_000.0}
    assert holding(found, 700.0) == {"null": 20_000.0, "database": 770.0}
    assert reaches_ceiling(924.0, found)
    assert not reaches_ceiling(924.0, holding(found, 924.0))
    assert not reaches_ceiling(None, found)


def test_of_a_block_that_was_made_again_the_last_attempt_counts_in_which_both_are_there() -> None:
    own = {(1, 1): 10.0, (1, 2): 30.0, (2, 1): 10.0, (2, 2): 99.0, (3, 1): 1.0}
    others = {(1, 1): 10.0, (1, 2): 10.0, (2, 1): 20.0}
    assert in_same_blocks(own, others) == [3.0, 0.5]


def test_a_rate_is_compared_with_the_ceiling_of_its_own_blocks() -> None:
    looks = {
        "null": [CeilingLook(block=n, goodput_rps=rate) for n, rate in ((1, 1000.0), (2, 500.0), (3, None))]
    }
    baselines = Baselines(ceilings_rps={"null": 750.0}, looks=looks)
    rates = {"near": {(1, 1): 950.0, (2, 1): 475.0, (3, 1): 9.0}, "far": {(1, 1): 500.0}, "none": {}}
    found = nearness(rates, baselines)
    assert found["near"].shares == {"null": pytest.approx(0.95)}
    assert [one.near for one in found.values()] == ["95 % of the ceiling null", None, None]
    # One that anything passes is none, for nobody.
    over = nearness(rates | {"over": {(1, 1): 1001.0}}, baselines)
    assert over["near"].near is None


def test_an_older_record_is_held_against_its_one_look() -> None:
    old = Baselines(ceilings_rps={"null": 1050.0, "database": 700.0})
    assert cut_off(None, 1000.0, old, 1000.0) == "95 % of the ceiling null"
    assert cut_off(None, 1000.0, old, 1100.0) is None, "both were passed"
    assert cut_off(None, None, old, 1000.0) is None
    new = old.model_copy(update={"looks": {"null": [CeilingLook(block=1, goodput_rps=1050.0)]}})
    assert cut_off(None, 1000.0, new, 1000.0) is None, "the blocks said no"


# ---- CPU per request over all roles ----


ROLES = quiet_roles(
    app=role(0.5), proxy=role(0.1), pgbouncer=role(0.3), db=role(0.4), faults=role(0.2), harness=role(0.1)
)


@pytest.mark.parametrize(
    ("changes", "alone", "told"),
    [
        # Generator, harness and Toxiproxy are not it; a role that does not run is left out.
        ({"roles": ROLES}, True, {"app": 1000.0, "pgbouncer": 600.0, "db": 800.0, "proxy": 200.0}),
        ({"roles": {"app": role(0.5), "db": role(0.5)}}, True, {"app": 1000.0, "db": 1000.0}),
        # What was not measured is null, and what several shared at once is nobody's.
        ({"app_cpu_us_per_request": None}, True, {}),
        ({"roles": {}}, True, {}),
        ({"roles": {"app": role(0.0), "db": role(0.5)}}, True, {}),
        ({"roles": ROLES}, False, {}),
    ],
)
def test_each_role_is_charged_by_its_cores(
    changes: dict[str, Any], alone: bool, told: dict[str, float]
) -> None:
    window = good_window(**{"app_cpu_us_per_request": 1000.0, **changes})
    assert cpu_us_per_request_by_role(window, alone) == pytest.approx(told)
    total = total_cpu_us_per_request(window, alone)
    assert total == (pytest.approx(sum(told.values())) if told else None)


def test_who_is_loaded_beside_others_is_not_alone() -> None:
    """In a committed comparison, whose totals are in test_detecting.py."""
    trials = read_folder(ROOT / "results/comparisons/falcon")[2]
    records = [record for trial in trials for record in trial.windows if record.windows]
    told = {record.spec.name for record in records if not record.alone}
    assert told == {"duet"}, "slices are of one at a time"

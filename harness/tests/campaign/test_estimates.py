"""What a campaign says that it will take."""

import pytest
from tandem.campaign import campaign

from tandem.catalog.catalog import Catalog
from tandem.ceiling.around import look_s


def test_a_night_is_enough_for_all_implementations(real: Catalog) -> None:
    """Six on two scenarios within two hours; one more block of each would still be told."""
    plan = real.plans["nightly"]
    assert 3600 < 2 * campaign.estimate_s(plan, 6) < 7200
    never_steady = plan.model_copy(update={"warm_up_s": plan.warm_up_cap_s})
    assert 2 * campaign.estimate_s(never_steady, 6) < 7200, "where every warm-up reaches the cap as well"
    longer = plan.model_copy(update={"closed_s": 30, "open_s": 30})
    assert 2 * campaign.estimate_s(longer, 6) > 7200, "the warm-up until all is steady is counted"


@pytest.mark.parametrize("name", ["quick", "nightly", "claim", "headline"])
def test_the_look_at_the_ceilings_is_counted(real: Catalog, name: str) -> None:
    plan = real.plans[name]
    blind = plan.model_copy(update={"ceilings": False})
    assert look_s(plan) > 20
    assert campaign.estimate_s(plan, 2) - campaign.estimate_s(blind, 2) == pytest.approx(look_s(plan))

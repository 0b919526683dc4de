"""What a campaign and a comparison say that they will take."""

import pytest
from tandem.campaign import campaign

from tandem.catalog.catalog import Catalog
from tandem.ceiling.around import look_s
from tandem.compare import session as comparison_session


def test_a_night_is_enough_for_all_implementations(real: Catalog) -> None:
    """Six on two scenarios within two hours; one more block of each would still be told."""
    plan = real.plans["nightly"]
    assert plan.compare
    assert 3600 < 2 * comparison_session.estimate_s(plan, 6) < 7200
    longer = plan.model_copy(update={"compare": plan.compare.model_copy(update={"blocks": 12})})
    assert 2 * comparison_session.estimate_s(longer, 6) > 7200
    assert 3600 < 2 * campaign.estimate_s(plan, 6) < 7200
    never_steady = plan.model_copy(update={"warm_up_s": plan.warm_up_cap_s})
    assert 2 * campaign.estimate_s(never_steady, 6) < 7200, "where every warm-up reaches the cap as well"
    longer = plan.model_copy(update={"closed_s": 30, "open_s": 30})
    assert 2 * campaign.estimate_s(longer, 6) > 7200, "the warm-up until all is steady is counted"


def test_two_are_compared_in_a_quarter_of_an_hour(real: Catalog) -> None:
    plan = real.plans["quick"]
    assert plan.compare
    assert plan.compare.duet_s, "what decides on small machines"
    assert 10 * 60 < comparison_session.estimate_s(plan, 2) < 15 * 60


@pytest.mark.parametrize("name", ["quick", "nightly", "claim", "headline"])
def test_the_look_at_the_ceilings_is_counted(real: Catalog, name: str) -> None:
    plan = real.plans[name]
    blind = plan.model_copy(update={"ceilings": False})
    assert look_s(plan) > 20
    assert campaign.estimate_s(plan, 2) - campaign.estimate_s(blind, 2) == pytest.approx(look_s(plan))
    longer = comparison_session.estimate_s(plan, 2) - comparison_session.estimate_s(blind, 2)
    assert longer == pytest.approx(look_s(plan))

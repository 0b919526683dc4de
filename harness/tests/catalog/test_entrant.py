"""tandem.catalog.entrant: an implementation with settings of its own."""

import pytest
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.catalog.entrant import read_entrant, read_entrants
from tandem.errors import UsageError

CATALOG = Catalog(ROOT)


def test_a_name_alone_and_with_settings() -> None:
    assert read_entrant(CATALOG, "node").knobs == {}
    found = read_entrant(CATALOG, "node:DB_POOL_MAX=4,DB_PREPARE=0")
    assert (found.implementation.name, found.knobs) == ("node", {"DB_POOL_MAX": "4", "DB_PREPARE": "0"})
    assert found.label == "node:DB_POOL_MAX=4,DB_PREPARE=0"


def test_one_named_twice_is_one_entrant() -> None:
    assert [entrant.label for entrant in read_entrants(CATALOG, ["node", "node", "rust-async"])] == [
        "node",
        "rust-async",
    ]


@pytest.mark.parametrize("text", ["node:", "node:DB_POOL_MAX", "node:DB_POOL_MAX=4,", "node:A=1,A=2"])
def test_what_is_not_a_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"KNOB=VALUE|twice"):
        read_entrant(CATALOG, text)


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'rust-async'"):
        read_entrant(CATALOG, "rust-asink:DB_POOL_MAX=4")

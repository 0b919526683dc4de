"""tandem.cli.options: the variants of a command line, and the request they make."""

import pytest
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.cli.options import make_request, read_variant, read_variants
from tandem.errors import UsageError


def test_a_name_alone_and_with_settings() -> None:
    assert read_variant("node").settings == {}
    found = read_variant("node:DB_POOL_MAX=4,DB_PREPARE=0")
    assert (found.implementation, found.settings) == ("node", {"DB_POOL_MAX": "4", "DB_PREPARE": "0"})
    assert found.label == "node:DB_POOL_MAX=4,DB_PREPARE=0"


def test_one_named_twice_is_one_variant() -> None:
    assert [one.label for one in read_variants(["node", "node", "rust-async"])] == ["node", "rust-async"]


@pytest.mark.parametrize("text", ["node:", "node:DB_POOL_MAX", "node:DB_POOL_MAX=4,", "node:A=1,A=2"])
def test_what_is_not_a_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"SETTING=VALUE|twice"):
        read_variant(text)


def test_each_request_has_data_of_its_own() -> None:
    """Drawn by its seed: the same command with the same seed asks for the same bodies."""
    found = [
        make_request(
            "bench", Catalog(ROOT), read_variants(["node"]), scenario="recipes", plan="smoke", seed=seed
        )
        for seed in (7, None, None)
    ]
    assert found[0].salt == "7"
    assert found[1].salt == str(found[1].seed) != found[2].salt


def test_an_unknown_name_offers_the_nearest() -> None:
    variants = read_variants(["rust-asink:DB_POOL_MAX=4"])
    with pytest.raises(UsageError, match="Did you mean 'rust-async'"):
        make_request("compare", Catalog(ROOT), variants, scenario="recipes", plan="quick")

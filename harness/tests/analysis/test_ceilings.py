"""tandem.analysis.ceilings: what cuts a rate off."""

from tandem.analysis.ceilings import holding, reaches_ceiling


def test_what_was_passed_is_no_ceiling() -> None:
    found = {"null": 20_000.0, "database": 771.0, "proxy": None}
    assert holding(found, 924.0) == {"null": 20_000.0}
    assert holding(found, 771.0) == {"null": 20_000.0, "database": 771.0}
    assert reaches_ceiling(924.0, found)
    assert not reaches_ceiling(924.0, holding(found, 924.0))

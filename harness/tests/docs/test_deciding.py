"""documents.deciding: how much committed comparisons decide; what was not measured says so."""

from types import SimpleNamespace
from typing import Any

import pytest

from documents.deciding import METRICS, NOT_MEASURED, blocks_needed, decided
from tandem.analysis.ratios import BLOCKS_LEAST, detectable_ratio

type OfRecord = tuple[dict[str, list[float]], float]


def made(scatter: float, blocks: int = 6) -> OfRecord:
    """Blocks of a minute, whose ln ratios are so far from each other."""
    ln = [scatter * (-1) ** n for n in range(blocks)]
    return dict.fromkeys(METRICS.values(), ln), 60.0


def records(*made: OfRecord) -> Any:
    return SimpleNamespace(with_itself=lambda metrics: list(made))


def rows(*made: OfRecord) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in decided(records(*made)).splitlines()[2:]
    ]


def test_what_nobody_measured_is_null() -> None:
    none = [[name, NOT_MEASURED, NOT_MEASURED] for name in METRICS]
    assert rows() == none
    assert rows(made(scatter=0.01, blocks=2)) == none, "two blocks tell no scatter"


def test_the_median_of_the_records_in_slices_is_told() -> None:
    one, far = made(scatter=0.01), made(scatter=0.09)
    assert rows(one)[0] == ["goodput", "1.1 % (one record)", "6 min (one record)"], "six decide at least"
    assert rows(one, made(scatter=0.01), far)[0][1] == "1.1 % (median of 3 records)"


@pytest.mark.parametrize("scatter", [0.012, 0.03, 0.09])
def test_so_many_blocks_are_needed(scatter: float) -> None:
    found = blocks_needed(scatter)
    assert found is not None
    assert found >= BLOCKS_LEAST
    assert (detectable_ratio(scatter, found) or 2) <= 1.03
    assert found == BLOCKS_LEAST or (detectable_ratio(scatter, found - 1) or 0) > 1.03


def test_too_much_scatter_is_told() -> None:
    assert blocks_needed(2.0) is None
    assert rows(made(scatter=2.0))[0][2] == "over 2000 blocks (one record)"

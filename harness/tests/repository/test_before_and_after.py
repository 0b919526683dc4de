"""documents.deciding: what is decided, before and after; what was not measured is null and says so."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.decisions import CAPACITY, NAMES, decisions
from documents.deciding import (
    METRICS,
    NOT_MEASURED,
    before_and_after,
    blocks_needed,
    scatter_by_record,
    slice_lengths,
)
from documents.records import WithItself
from tandem.analysis.ratios import BLOCKS_LEAST, detectable_ratio


def made(name: str, sliced: bool, scatter: float, blocks: int = 6) -> WithItself:
    """Blocks of a minute, whose ln ratios are so far from each other."""
    ln = [scatter * (-1) ** n for n in range(blocks)]
    same = dict.fromkeys(METRICS.values(), ln)
    unlike = dict.fromkeys(METRICS.values(), [2 * scatter, scatter] if blocks > 2 else [])
    return WithItself(name, sliced, same, unlike, 60.0)


def records(*made: WithItself, **found: Any) -> Any:
    return SimpleNamespace(
        with_itself=lambda: list(made),
        decisions=lambda: found.get("decisions", {}),
        first_numbers=lambda: found.get("first", []),
        sliced=lambda: found.get("sliced", []),
    )


def rows(found: Any) -> dict[str, list[str]]:
    cells = [line.strip("|").split(" | ") for line in before_and_after(found).splitlines()[2:]]
    return {cell[0].strip(): [part.strip(" |") for part in cell[1:]] for cell in cells}


def test_what_nobody_measured_is_null() -> None:
    told = rows(records())
    assert len(told) == 2 * len(METRICS) + len(NAMES) + 4
    assert {part for row in told.values() for part in row} == {NOT_MEASURED}
    assert slice_lengths(records()) == "Not measured: no committed comparison was made in slices."
    few = rows(records(made("few", sliced=True, scatter=0.01, blocks=2)))
    assert {part for row in few.values() for part in row} == {NOT_MEASURED}, "two blocks tell no scatter"


def test_turns_are_before_and_slices_after() -> None:
    olds = [made(f"old-{n}", sliced=False, scatter=n / 100) for n in (5, 9, 20)]
    short = dataclasses.replace(made("short", sliced=False, scatter=0.9), plan="settings")
    found = records(*olds, short, made("new", sliced=True, scatter=0.01))
    told = rows(found)
    before, after = told["scatter of a block's ln ratio, a program with itself: goodput"]
    assert (before, after) == ("9.9 % (median of 3 records)", "1.1 % (one record)")
    before, after = told["machine time until `compare A B` finds 3 %: goodput"]
    assert after == "6 min (one record)", "six decide at least"
    assert int(before.split()[0]) > 60


def test_each_record_has_a_row() -> None:
    olds = [made("few", sliced=False, scatter=0.01, blocks=2), made("old", sliced=False, scatter=0.01)]
    lines = scatter_by_record(records(made("new", sliced=True, scatter=0.02), *olds)).splitlines()[2:]
    told = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert [cells[:3] for cells in told] == [
        ["`few`", "turns", "2"],
        ["`old`", "turns", "6"],
        ["`new`", "slices", "6"],
    ]
    assert {*told[0][3:]} == {"–"}, "two blocks tell no scatter"
    assert {*told[1][3:]} == {"1.1 %; 1.0 % to 2.0 %; 6 min"}


@pytest.mark.parametrize("scatter", [0.012, 0.03, 0.09])
def test_so_many_blocks_are_needed(scatter: float) -> None:
    found = blocks_needed(scatter)
    assert found is not None
    assert found >= BLOCKS_LEAST
    assert (detectable_ratio(scatter, found) or 2) <= 1.03
    assert found == BLOCKS_LEAST or (detectable_ratio(scatter, found - 1) or 0) > 1.03


def test_too_much_scatter_is_told() -> None:
    assert blocks_needed(2.0) is None
    told = rows(records(made("wild", sliced=True, scatter=2.0)))
    assert told["machine time until `compare A B` finds 3 %: goodput"][1] == "over 2000 blocks (one record)"


def test_times_are_those_of_benches() -> None:
    first = [
        ("old", False, False, 130.0, 3000.0),
        ("warm", True, False, 60.0, 400.0),
        ("cold", True, True, 500.0, 700.0),
    ]
    told = rows(records(first=first))
    assert told["from the command to the first figure, images already built"] == [
        "old: 2.2 min",
        "warm: 1.0 min",
    ]
    assert told["from the command to the first table, images already built"] == [
        "old: 50.0 min",
        "warm: 6.7 min",
    ]
    assert told["from the command to the first figure, images built from scratch"] == [
        NOT_MEASURED,
        "cold: 8.3 min",
    ]
    assert told["from the command to the first table, images built from scratch"][1] == "cold: 11.7 min"


def test_conclusions_are_simulated() -> None:
    found = decisions(40)
    assert tuple(found) == NAMES
    assert found[CAPACITY]["after"] > 0.8 > 0.6 > found[CAPACITY]["before"]
    shares = {name: (one["before"], one["after"]) for name, one in found.items()}
    assert rows(records(decisions=shares))[CAPACITY.replace("%", " %")][1].endswith(" %")

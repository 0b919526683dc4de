"""The outcome matrix: the newest verdict of each implementation in each scenario. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from tandem.catalog.catalog import Catalog
from tandem.page.lines import Line


@dataclass(frozen=True)
class OutcomeCell:
    """An implementation in a scenario."""

    word: str
    """The newest verdict, `not served`, or `not measured`."""
    why: str = ""
    slug: str = ""


type OutcomeCells = dict[tuple[str, str], OutcomeCell]
"""Implementation and scenario -> what became of it."""


def measured(slug: str, lines: Sequence[Line]) -> OutcomeCells:
    """Those of a result; of several lines the first counts."""
    return {
        (line.implementation, line.scenario): OutcomeCell(line.verdict, "; ".join(line.reasons[:2]), slug)
        for line in reversed(lines)
    }


def matrix(catalog: Catalog, found: OutcomeCells) -> tuple[list[str], list[tuple[str, list[OutcomeCell]]]]:
    """Scenarios, and each implementation with its cells. What is in no catalog any more comes last."""
    cells = {
        (name, scenario): OutcomeCell("not served", why)
        for name, implementation in catalog.implementations.items()
        for scenario, why in implementation.unsupported.scenarios.items()
    } | found
    names = dict.fromkeys([*catalog.implementations, *(name for name, _ in cells)])
    scenarios = dict.fromkeys([*catalog.scenarios, *(scenario for _, scenario in cells)])
    empty = OutcomeCell("not measured")
    return [*scenarios], [(name, [cells.get((name, each), empty) for each in scenarios]) for name in names]

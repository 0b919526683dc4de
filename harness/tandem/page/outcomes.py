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


class Outcomes:
    """Takes lines, those of the newest results first."""

    def __init__(self, catalog: Catalog) -> None:
        self.scenarios, self.implementations = list(catalog.scenarios), list(catalog.implementations)
        self._not_served = {
            (name, scenario): OutcomeCell("not served", why)
            for name, implementation in catalog.implementations.items()
            for scenario, why in implementation.unsupported.scenarios.items()
        }
        self._measured: dict[tuple[str, str], OutcomeCell] = {}

    def add(self, slug: str, lines: Sequence[Line]) -> None:
        """The lines of a result."""
        for line in lines:
            cell = OutcomeCell(line.verdict, "; ".join(line.reasons[:2]), slug)
            self._measured.setdefault((line.implementation, line.scenario), cell)

    def rows(self) -> tuple[list[str], list[tuple[str, list[OutcomeCell]]]]:
        """Scenarios, and each implementation with its cells. What is in no catalog any more comes last."""
        cells = self._not_served | self._measured
        names = dict.fromkeys([*self.implementations, *(name for name, _ in cells)])
        scenarios = dict.fromkeys([*self.scenarios, *(scenario for _, scenario in cells)])
        empty = OutcomeCell("not measured")
        return list(scenarios), [
            (name, [cells.get((name, each), empty) for each in scenarios]) for name in names
        ]

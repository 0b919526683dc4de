"""The first page: what it keeps of all results. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tandem.analysis.cost import TOTAL
from tandem.catalog.catalog import Catalog
from tandem.history.files import History
from tandem.page import nights
from tandem.page.answers import answer, bars
from tandem.page.data import PageData, PageRow
from tandem.page.lines import Line
from tandem.page.pairs import COST, RATE, ModelPair, best, pairs
from tandem.page.plots import OF_RESULTS, PLOTS
from tandem.page.published import MeasuredAgain, measured_again
from tandem.page.read import Header, NotShown
from tandem.page.result import ResultView
from tandem.page.statements import StatementsSection
from tandem.record.result import Publication
from tandem.report.forest import SAYS
from tandem.wording import hit_rate_told, limited_by


@dataclass(frozen=True)
class OutcomeCell:
    """An implementation in a scenario."""

    word: str
    """The newest verdict, `not served`, or `not measured`."""
    why: str = ""
    slug: str = ""


type OutcomeCells = dict[tuple[str, str], OutcomeCell]
"""Implementation and scenario -> what became of it."""


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


LINES_MOST = 10_000
"""The most lines of the table; a result beyond them is one line."""
SAME_MOST = 3
"""The most pictures of each kind that a study adds."""
COLUMNS = {
    "goodput": (RATE, "capacity_rps"),
    "total": (TOTAL,),
    "cpu": (COST,),
    "p50": ("response_time_p50_ms", "p50_ms"),
    "p99": ("response_time_p99_ms", "p99_ms"),
}
"""Column of the table -> the metrics that stand in it, the first that a line has."""
HALVES = {"goodput_half": RATE, "total_half": TOTAL, "cpu_half": COST}
"""Half the width of an interval -> its metric."""


class FirstPage:
    """Takes the results, the newest first."""

    def __init__(self, catalog: Catalog) -> None:
        self.data, self._catalog = PageData(), catalog
        self._outcomes: OutcomeCells = {}
        self._lines: list[PageRow] = []
        self._pairs: list[ModelPair] = []
        self._again: dict[str, MeasuredAgain] = {}
        self._counts = Counter[str]()
        self.older = 0
        self.shown = 0

    def add(self, view: ResultView) -> None:
        """Add a result that was read whole."""
        run, lines = view.run, view.lines
        view.describe(self.data)
        self._outcomes = {
            (line.implementation, line.scenario): OutcomeCell(
                line.verdict, "; ".join(line.reasons[:2]), run.slug
            )
            for line in reversed(lines)  # of several lines the first counts
        } | self._outcomes
        self._pairs += pairs(run, lines)
        # Of an experiment that was made several times, the newest; the others are in the table.
        if again := measured_again(run):
            self._again.setdefault(again.title, again)
        # The newest pictures of each kind; all others are on the pages of their results.
        for figure in view.figures:
            kind = f"{run.kind.name}/{figure.name}"
            self._counts[kind] += 1
            if self._counts[kind] <= SAME_MOST:
                self.data.figures.append(figure)
        for plot in OF_RESULTS:
            if self._counts[plot.name] < plot.most and (rows := view.rows(plot)):
                self._counts[plot.name] += 1
                self.data.sets.setdefault(plot.name, []).extend(rows)
        if lines and len(self._lines) + len(lines) <= LINES_MOST:
            self._lines += [_table_row(run.header, line) for line in lines]
        else:
            self._lines.append(_headline_row(run.header))
        self.shown += 1

    def add_older(self, header: Header) -> None:
        """Add a result of which only the headline is listed."""
        self._lines.append(_headline_row(header))
        self.older += 1

    def add_nights(self, found: History) -> None:
        """Add the nightly histories."""
        if rows := nights.rows(found):
            self.data.sets["history"] = rows
        for slug, text in nights.conditions(found).items():
            self.data.conditions[slug], self.data.names[slug] = text, text.partition(",")[0]

    def values(
        self, statements: StatementsSection, claims: Sequence[Publication], broken: Sequence[NotShown]
    ) -> dict[str, Any]:
        """What the template shows. claims: those that people quote, measured or not. broken: what cannot be shown."""
        self.data.figures += statements.figures
        self.data.conditions |= statements.conditions
        found = best(self._pairs)
        has = set(self.data.sets)
        self.data.sets |= {"lines": self._lines, "hero": bars(found)}
        known = {one.publication.name for one in self._again.values()}
        scenarios, rows = matrix(self._catalog, self._outcomes)
        return {
            "answers": [answer(question, of) for question, of in found.items()],
            "has": has,
            "plots": PLOTS,
            "figures": [figure for figure in self.data.figures if figure.slug],
            "statements": statements,
            "how_to_read": SAYS,
            "hit_rate_told": hit_rate_told,
            "scenarios": scenarios,
            "matrix": rows,
            "experiments": list(self._again.values()),
            "unmeasured": [claim for claim in claims if claim.name not in known],
            "broken": broken,
            "older": self.older,
            "total": self.shown + self.older,
            "empty": not self.data.names and not self.older,
            "built": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        }


def _table_row(header: Header, line: Line) -> PageRow:
    row: PageRow = {
        "label": line.label,
        "scenario": line.scenario,
        "condition": line.condition,
        "verdict": str(line.verdict),
    }
    for column, metrics in COLUMNS.items():
        row[column] = next((line.figures[name].mean for name in metrics if name in line.figures), None)
    for column, name in HALVES.items():
        own = line.figures[name].interval if name in line.figures else None
        row[column] = (own[1] - own[0]) / 2 if own else None
    return {
        **row,
        "limited": limited_by(line.limited),
        "starts": line.starts or None,
        "reasons": "; ".join(line.reasons[:2])[:300],
        **_of_result(header),
    }


def _headline_row(header: Header) -> PageRow:
    entry = header.entry
    return {
        "label": ", ".join(entry.variants[:4]) or header.name,
        "scenario": entry.scenario,
        "condition": entry.headline,
        "verdict": entry.verdict,
        "limited": "–",
        "reasons": "",
        **_of_result(header),
    }


def _of_result(header: Header) -> PageRow:
    return {"study": header.entry.study, "date": header.entry.started_at[:10], "run": header.slug}

"""The outcome matrix and the published experiments, as the page has them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from tandem.catalog.catalog import Catalog
from tandem.facts.metric import METRICS
from tandem.page.lines import Line
from tandem.page.read import Run
from tandem.studies.reproduce.conclusions import JudgedClaim, Reproduced
from tandem.studies.reproduce.report import judgement
from tandem.wording import number, ratio_with_interval


@dataclass(frozen=True)
class OutcomeCell:
    """An implementation in a scenario."""

    word: str
    """The newest verdict, `not served`, or `not measured`."""
    why: str = ""
    slug: str = ""


class Outcomes:
    """Is told lines, the newest results first."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.scenarios, self._cells = list(catalog.scenarios), dict[tuple[str, str], OutcomeCell]()
        self.implementations = list(catalog.implementations)
        for name, found in catalog.implementations.items():
            for scenario, why in found.unsupported.scenarios.items():
                self._cells[name, scenario] = OutcomeCell("not served", why)

    def tell(self, slug: str, lines: Sequence[Line]) -> None:
        for line in lines:
            key = line.implementation, line.scenario
            if self._cells.get(key, OutcomeCell("not served")).word == "not served":
                self._cells[key] = OutcomeCell(line.verdict, "; ".join(line.reasons[:2]), slug)

    def rows(self) -> tuple[list[str], list[tuple[str, list[OutcomeCell]]]]:
        """Scenarios, and each implementation with its cells. What nobody knows any more comes last."""
        names = dict.fromkeys([*self.implementations, *(name for name, _ in self._cells)])
        scenarios = dict.fromkeys([*self.scenarios, *(scenario for _, scenario in self._cells)])
        empty = OutcomeCell("not measured")
        rows = [(name, [self._cells.get((name, each), empty) for each in scenarios]) for name in names]
        return list(scenarios), rows


@dataclass(frozen=True)
class ToldClaim:
    """One claim of a document, for people."""

    text: str
    figure: str
    published: str
    ours: str
    verdict: str
    size: str


@dataclass(frozen=True)
class ToldExperiment:
    """A published experiment that was made again, or a claim that people quote."""

    slug: str
    name: str
    title: str
    origin: str
    published_host: str
    sentence: str
    claims: list[ToldClaim]
    stand: int
    source: str
    """Address of a quoted claim; empty for a published experiment."""
    hypothesis: str


def experiment(run: Run) -> ToldExperiment | None:
    """None for another study."""
    found = run.result.conclusions
    if not isinstance(found, Reproduced):
        return None
    return ToldExperiment(
        slug=run.slug,
        name=found.experiment,
        title=f"{found.title} ({found.plan})",
        origin=found.origin,
        published_host=found.published_host,
        sentence=found.sentence or judgement(found),
        claims=[_claim(claim) for claim in found.judged],
        stand=sum(claim.word == "stands" for claim in found.contrasts),
        source=source if (source := found.source or "").startswith("https://") else "",
        hypothesis=found.hypothesis,
    )


def _claim(one: JudgedClaim) -> ToldClaim:
    claim, found = one
    return ToldClaim(
        text=found.text or "",
        figure=f"{METRICS[found.metric].title}: {claim.of} against {claim.to}",
        published=f"× {number(found.published, 2)}" if found.published else "–",
        ours=ratio_with_interval(found.ratio, found.interval),
        verdict=found.word or "",
        size=claim.size or "",
    )

"""Published experiments that were measured again, and claims that people quote, beside what was found. Pure."""

import math
from collections import Counter
from dataclasses import dataclass

from tandem.analysis.ratios import MARGIN, beside_published
from tandem.facts.metric import metric
from tandem.page.lines import against
from tandem.page.read import Run
from tandem.record.conclusion import Contrast
from tandem.record.result import Publication
from tandem.wording import number, ratio_with_interval


@dataclass(frozen=True)
class MeasuredAgain:
    """What was published, and what became of its claims."""

    slug: str
    """The page of the result."""
    title: str
    publication: Publication
    claims: list[dict[str, str]]
    """Claims in words for people."""
    counts: str
    """How many claims have which verdict."""

    @property
    def source(self) -> str:
        """Address of a quoted claim; empty for an experiment, and where a record, which may come from anywhere, has another."""
        source = self.publication.source or ""
        return source if source.startswith("https://") else ""


def measured_again(run: Run) -> MeasuredAgain | None:
    """What was published and measured again; None for a result of nothing that was published."""
    found = run.result.conclusions
    if found.publication is None:
        return None
    claims = [
        {
            "text": one.text,
            "figure": f"{metric(one.metric).title}: {against(one)}",
            "published": f"× {number(one.published, 2)}" if one.published else "–",
            "ours": ratio_with_interval(one.ratio, one.interval),
            "verdict": one.word or "",
            "size": size(one),
        }
        for one in found.contrasts
        if one.text is not None
    ]
    words = Counter(claim["verdict"] for claim in claims)
    others = "".join(f", {number} {word}" for word, number in words.items() if word != "stands")
    return MeasuredAgain(
        slug=run.slug,
        title=f"{found.publication.title} ({run.result.request.plan})",
        publication=found.publication,
        claims=claims,
        counts=f"{words['stands']} of {len(claims)} claims stand{others}",
    )


def size(one: Contrast) -> str:
    """How a difference that stands compares to the published one; empty for a claim that two are equal."""
    if one.word != "stands" or not one.published or one.interval is None:
        return ""
    equal = abs(math.log(one.published)) <= math.log1p(MARGIN)
    return "" if equal else beside_published(one.published, one.interval)

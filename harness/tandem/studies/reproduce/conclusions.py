"""The conclusions of a reproduction: each row beside what was published, and what became of each claim, which is the ratio of two
rows, block by block. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import scipy
from pydantic import Field

from tandem.analysis.ratios import (
    ALPHA,
    MARGIN,
    Ratio,
    benjamini_hochberg,
    beside_published,
    compare,
    t_interval,
)
from tandem.engine.findings import worst
from tandem.facts.estimate import of_ratio
from tandem.record.conclusion import Contrast, Coordinates, Estimate, Position
from tandem.record.part import Number, Part
from tandem.record.result import Concluded, Conclusions, Described, Publication
from tandem.record.window import Verdict
from tandem.studies.reproduce.experiment import Experiment, PlanName, published_ratio
from tandem.studies.reproduce.rows import PlannedRow
from tandem.studies.reproduce.trials import RowTrial

Says = Literal["more", "less", "same"]
Word = Literal["stands", "reversed", "gone", "not decided"]
Size = Literal["smaller", "as published", "larger"]

type ClaimRatio = Ratio | Contrast
"""A ratio with its interval, its number of blocks and its scatter."""


def implied(published: float | None) -> Says | None:
    """The claim that a published ratio makes: a difference within the margin is none."""
    if published is None:
        return None
    if abs(math.log(published)) <= math.log1p(MARGIN):
        return "same"
    return "more" if published > 1 else "less"


def ratio[Block](of: Mapping[Block, float], to: Mapping[Block, float]) -> Ratio:
    """of / to over the blocks that have both; figures by block, all above 0."""
    return compare([math.log(of[block] / to[block]) for block in of if block in to])


def p_decided(says: Says, found: ClaimRatio) -> float | None:
    """The smallest level at which an interval decides the claim either way; None below two blocks.

    Of the two answers that it may come to, at most one is false whatever the truth is. So the smaller p is no more
    often small by chance than either is.
    """
    if found.ratio is None or found.sd_ln is None:
        return None
    ln, margin, error = abs(math.log(found.ratio)), math.log1p(MARGIN), found.sd_ln / math.sqrt(found.n)
    if not error:
        return 0.0

    def beyond(distance: float) -> float:
        return 2 * float(scipy.stats.t.sf(distance / error, found.n - 1))

    inside = beyond(margin - ln)
    outside = beyond(ln - margin) if says == "same" else beyond(ln)
    return min(1.0, inside, outside)


def adjusted(claims: Sequence[tuple[Says, ClaimRatio]]) -> list[float | None]:
    """Benjamini and Hochberg over all claims of an experiment: of those that are decided 5 % are wrong in the mean."""
    return benjamini_hochberg([p_decided(says, found) for says, found in claims])


def verdict(says: Says, found: ClaimRatio, p_adjusted: float | None = None) -> Word:
    """`stands` where the ratio lies on the claimed side of 1, `reversed` on the other. `gone` where all of its interval
    is within the margin around 1, even if it leaves 1 out: a difference that small is none. A claimed equality stands
    within the margin and is `gone` beyond it. Else `not decided`; so it is below two blocks, and where the adjusted p
    is above 5 %. p_adjusted: of `adjusted`; None: the claim stands alone.
    """
    if p_adjusted is None:
        p_adjusted = p_decided(says, found)
    if p_adjusted is None or p_adjusted > ALPHA or found.interval is None or found.ratio is None:
        return "not decided"
    # The p is at most 5 % also without its adjustment, so the 95 % interval tells which answer it is of.
    low, high = found.interval
    if low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN:
        return "stands" if says == "same" else "gone"
    if says == "same":
        return "gone"
    return "stands" if (found.ratio > 1) == (says == "more") else "reversed"


def size(says: Says, word: Word, published: float | None, found: ClaimRatio) -> Size | None:
    """The size of a difference that stands, beside the published one. None for an equality, which has no size, and without a
    published ratio."""
    if says == "same" or word != "stands" or published is None or found.interval is None:
        return None
    return beside_published(published, found.interval)


class RowFound(Part):
    """A row beside its figures, which are estimates."""

    label: str
    variant: str
    coordinates: Coordinates = Field(default_factory=dict)
    """Coordinates that the row's estimates have."""
    note: str = ""
    settings: dict[str, str]
    """Settings that were run, for people: name -> value."""
    ceilings: dict[str, Number]
    """Model values in requests per second, by name, such as `threads/delay`."""
    published_elsewhere: dict[str, dict[str, Number]] = Field(default_factory=dict)
    good: int
    made: int
    """Trials that were made, the good ones among them."""
    reasons: list[str] = Field(default_factory=list)
    """Why trials do not count."""
    warnings: list[str] = Field(default_factory=list)

    @property
    def position(self) -> Position:
        """Position of the row's estimates."""
        return Position(self.variant, self.coordinates)


class ClaimFound(Part):
    """A claim beside its ratio, which is the contrast in the same place."""

    of: str
    to: str
    """The rows, by their labels."""
    says: Says
    host: str | None
    """The host whose published figures count; None: the main one."""
    size: Size | None
    """Size of a claim that stands: whether the published ratio lies within our interval (up to the margin), or ours is nearer to 1,
    or farther from it. None without a published ratio."""


class JudgedClaim(NamedTuple):
    """A claim beside what we found."""

    claim: ClaimFound
    found: Contrast


class Reproduced(Conclusions, Described):
    """An experiment, made again: an estimate for each row and figure, a contrast for each claim."""

    experiment: str
    plan: PlanName
    starts: int
    """Fresh starts of every row."""
    digest: str
    """A fingerprint of what was measured."""
    columns: list[str]
    """The figures that its table shows."""
    rows: list[RowFound]
    claims: list[ClaimFound]

    @property
    def publication(self) -> Publication:
        return Publication.of(self.experiment, self)

    @property
    def judged(self) -> list[JudgedClaim]:
        """The claims with their contrasts."""
        return [JudgedClaim(*both) for both in zip(self.claims, self.contrasts, strict=True)]


# ---- from trials ----


def good_trials(trials: Sequence[RowTrial]) -> list[RowTrial]:
    """The trials of a row that tell figures: those that are ok; none where one is invalid or failed, because that says
    something about the row and not about the moment. trials: of that row."""
    if any(one.verdict in (Verdict.INVALID, Verdict.FAILED) for one in trials):
        return []
    return [one for one in trials if one.verdict is Verdict.OK]


def _values(trials: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Name -> the values of the trials that tell it."""
    names = dict.fromkeys(name for one in trials for name in one)
    return {name: [one[name] for one in trials if name in one] for name in names}


def row_found(row: PlannedRow, trials: Sequence[RowTrial], main: str) -> tuple[RowFound, list[Estimate]]:
    """A row, and its estimates: what was measured and what was published. trials: of that row. main: the metric that is told of a row
    without either. Ceilings that only a measurement tells are averaged, beside the others."""
    good, bad = good_trials(trials), [one for one in trials if one.verdict is not Verdict.OK]
    reasons = list(dict.fromkeys(one.reason for one in bad if one.reason))
    values, published = _values([one.figures for one in good]), row.row.published
    measured = {
        name: statistics.fmean(known) for name, known in _values([one.ceilings for one in good]).items()
    }
    tags = [one.bottleneck for one in good if one.bottleneck]
    variant, coordinates = row.described.position
    estimates = [
        Estimate(
            metric=metric,
            variant=variant,
            coordinates=coordinates,
            mean=statistics.fmean(known) if known else None,
            interval=t_interval(known),
            n=len(known),
            limit=statistics.mode(tags) if tags else None,
            verdict=Verdict.OK if good else worst(one.verdict for one in bad) if bad else Verdict.VOID,
            reasons=[] if good else reasons,
            published=published.get(metric),
        )
        for metric in values | published or (main,)
        for known in [values.get(metric, [])]
    ]
    found = RowFound(
        label=row.label,
        variant=variant,
        coordinates=coordinates,
        note=row.row.note,
        settings=row.settings,
        ceilings=row.ceilings | measured,
        published_elsewhere=row.row.published_elsewhere,
        good=sum(one.verdict is Verdict.OK for one in trials),
        made=len(trials),
        reasons=reasons,
        warnings=list(dict.fromkeys(text for one in trials for text in one.warnings)),
    )
    return found, estimates


def claims_found(
    experiment: Experiment, rows: Mapping[str, PlannedRow], trials: Mapping[str, Sequence[RowTrial]]
) -> list[JudgedClaim]:
    """The claims with their verdicts; all of them share what may be decided by chance. trials: of each row. A ratio lives within
    its block: a block that was made again counts as a block of its own."""
    claims = [claim for claim in experiment.claims if {claim.of, claim.to} <= rows.keys()]
    measured: list[tuple[Says, Ratio]] = []
    for claim in claims:
        says = claim.says or implied(published_ratio(experiment, claim))
        assert says is not None, "an experiment whose claims claim nothing is refused when it is read"
        by_row = [
            {
                (one.block, one.attempt): one.figures[claim.figure]
                for one in good_trials(trials[label])
                if one.figures.get(claim.figure, 0) > 0
            }
            for label in (claim.of, claim.to)
        ]
        measured.append((says, ratio(*by_row)))
    judged = []
    for claim, (says, found), p in zip(claims, measured, adjusted(measured), strict=True):
        published, word = published_ratio(experiment, claim), verdict(says, found, p)
        large = size(says, word, published, found)
        of, to = rows[claim.of].described, rows[claim.to].described
        alike = of.coordinates == to.coordinates
        contrast = of_ratio(
            found,
            metric=claim.figure,
            of=of.asked if alike else claim.of,
            to=to.asked if alike else claim.to,
            coordinates=of.coordinates if alike else {},
            p=p,
            word=word,
            family="claims",
            published=published,
            text=claim.text,
        )
        kept = ClaimFound(of=claim.of, to=claim.to, says=says, host=claim.host, size=large)
        judged.append(JudgedClaim(kept, contrast))
    return judged


def conclude(
    experiment: Experiment,
    plan: PlanName,
    digest: str,
    rows: Sequence[PlannedRow],
    trials: Sequence[RowTrial],
) -> Concluded[Reproduced]:
    """The answer. digest: of what was measured. rows: in the order of the file. trials: all that were made.

    ok: every row has two good trials, or all of them where the plan has fewer. One invalid trial makes the whole
    invalid: it says something about the program or the load, not about the moment."""
    starts = experiment.plan(plan).starts
    by_row = {row.label: [one for one in trials if one.row == row.label] for row in rows}
    bad = [one for own in by_row.values() for one in own if one.verdict is not Verdict.OK]
    measured = [row_found(row, by_row[row.label], experiment.figures[0]) for row in rows]
    claims = claims_found(experiment, {row.label: row for row in rows}, by_row)
    stand = sum(one.found.word == "stands" for one in claims)
    enough = all(row.good >= min(2, starts) for row, _ in measured)
    gravest = worst(one.verdict for one in bad)
    if gravest in (Verdict.OK, Verdict.VOID):
        gravest = Verdict.OK if enough else Verdict.VOID
    return Concluded(
        headline=f"{stand} of {len(claims)} claims stand",
        verdict=gravest,
        reasons=[
            f"{one.row}, round {one.block}{'' if one.attempt == 1 else ', again'}: {one.verdict}: {one.reason}"
            for one in bad
        ],
        conclusions=Reproduced(
            estimates=[one for _, own in measured for one in own],
            contrasts=[one.found for one in claims],
            **experiment.model_dump(include={*Described.model_fields}),
            experiment=experiment.name,
            plan=plan,
            starts=starts,
            digest=digest,
            columns=experiment.figures,
            rows=[row for row, _ in measured],
            claims=[one.claim for one in claims],
        ),
    )

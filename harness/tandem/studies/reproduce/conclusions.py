"""What a reproduction concludes: each row beside what was published, and what became of each claim. Pure."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from tandem.analysis.ratios import Ratio, t_interval
from tandem.record.part import Number, Part
from tandem.record.result import Concluded, Conclusions
from tandem.record.window import Verdict
from tandem.studies.reproduce.claims import ClaimResult, Says, adjusted, implied, ratio, size, verdict
from tandem.studies.reproduce.experiment import (
    Claim,
    Experiment,
    ExperimentPlan,
    Kind,
    PlanName,
    published_ratio,
)


class RowTrial(Part):
    """One row in one trial. Figures are empty unless the verdict is ok."""

    row: str
    block: int
    """The round: rows that were measured in the same one are compared."""
    attempt: int = 1
    verdict: Verdict
    reason: str | None = None
    figures: dict[str, Number] = Field(default_factory=dict)
    bottleneck: str | None = None
    evidence: list[str] = Field(default_factory=list)
    """The shares that decided the bottleneck."""
    models: dict[str, Number] = Field(default_factory=dict)
    """Ceilings that are known only with the measurement, in requests per second."""
    details: dict[str, str] = Field(default_factory=dict)
    """Texts for people, such as a histogram: name -> text."""
    warnings: list[str] = Field(default_factory=list)
    trial: str | None = None
    """Key of the trial (of its file and of its raw files)."""


@dataclass(frozen=True)
class Facts:
    """What is known of a row without measuring it."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """What was run, for people: name -> value."""
    ceilings: Mapping[str, float] = field(default_factory=dict)
    """Model values, by name."""


class Mean(Part):
    """Over the good trials; the interval is null below two."""

    n: int
    mean: Number
    interval: tuple[Number, Number] | None
    """95 % Student t interval."""


class RowResult(Part):
    """A row: what was published and what we found."""

    label: str
    note: str
    published: dict[str, Number]
    published_elsewhere: dict[str, dict[str, Number]]
    settings: dict[str, str]
    """What was run."""
    figures: dict[str, Mean]
    """Null figures are left out."""
    ceilings: dict[str, Number]
    """Model values in requests per second (or the row's own figure), by name, such as `threads/delay`."""
    bottleneck: str | None
    """Of most good trials."""
    trials: list[RowTrial]


class Reproduced(Conclusions):
    """An experiment, made again."""

    experiment: str
    title: str
    origin: str
    source: str | None = None
    hypothesis: str = ""
    published_host: str
    kind: Kind
    plan: PlanName
    settings: ExperimentPlan
    digest: str
    columns: list[str]
    """The figures that its table shows."""
    rows: list[RowResult]
    claims: list[ClaimResult]
    sentence: str


def mean(values: Sequence[float]) -> Mean | None:
    """Of the good trials; None without any."""
    if not values:
        return None
    return Mean(n=len(values), mean=statistics.fmean(values), interval=t_interval(values))


def good_trials(trials: Sequence[RowTrial], label: str) -> list[RowTrial]:
    """The trials of a row that tell figures: those that are ok; none where one is invalid or failed, because that says
    something about the row and not about the moment."""
    own = [one for one in trials if one.row == label]
    if any(one.verdict in (Verdict.INVALID, Verdict.FAILED) for one in own):
        return []
    return [one for one in own if one.verdict is Verdict.OK]


def row_result(experiment: Experiment, label: str, trials: Sequence[RowTrial], facts: Facts) -> RowResult:
    """trials: of that row. Ceilings that only a measurement tells are averaged, beside the others."""
    row = experiment.row(label)
    good = good_trials(trials, label)
    figures = {
        name: mean([one.figures[name] for one in good if name in one.figures])
        for name in _names(good, "figures")
    }
    models = {
        name: mean([one.models[name] for one in good if name in one.models])
        for name in _names(good, "models")
    }
    tags = [one.bottleneck for one in good if one.bottleneck]
    return RowResult(
        label=label,
        note=row.note,
        published=row.published,
        published_elsewhere=row.published_elsewhere,
        settings=dict(facts.settings),
        figures={name: found for name, found in figures.items() if found},
        ceilings={**facts.ceilings, **{name: found.mean for name, found in models.items() if found}},
        bottleneck=statistics.mode(tags) if tags else None,
        trials=list(trials),
    )


def _names(trials: Sequence[RowTrial], of: Literal["figures", "models"]) -> list[str]:
    return list(dict.fromkeys(name for one in trials for name in getattr(one, of)))


def _measured(experiment: Experiment, claim: Claim, trials: Sequence[RowTrial]) -> tuple[Says, Ratio]:
    """What is claimed, and our ratio. trials: of all rows. A ratio lives within its block: a block that was made again
    counts as a block of its own."""
    says = claim.says or implied(published_ratio(experiment, claim))
    assert says is not None, "an experiment whose claims claim nothing is refused when it is read"
    by_row = [
        {
            (one.block, one.attempt): one.figures[claim.figure]
            for one in good_trials(trials, label)
            if one.figures.get(claim.figure, 0) > 0
        }
        for label in (claim.of, claim.to)
    ]
    return says, ratio(*by_row)


def claim_results(
    experiment: Experiment, claims: Sequence[Claim], trials: Sequence[RowTrial]
) -> list[ClaimResult]:
    """What became of each claim; all of them share what may be decided by chance."""
    measured = [_measured(experiment, claim, trials) for claim in claims]
    out = []
    for claim, (says, found), p in zip(claims, measured, adjusted(measured), strict=True):
        published, word = published_ratio(experiment, claim), verdict(says, found, p)
        out.append(
            ClaimResult(
                text=claim.text,
                figure=claim.figure,
                of=claim.of,
                to=claim.to,
                says=says,
                host=claim.host,
                published=published,
                ratio=found,
                p_adjusted=p,
                verdict=word,
                size=size(says, word, published, found),
            )
        )
    return out


def whole(plan: ExperimentPlan, rows: Sequence[RowResult]) -> Verdict:
    """ok: every row has two good trials, or all of them where the plan has fewer. One invalid trial makes the whole
    invalid: it says something about the program or the load, not about the moment."""
    verdicts = [one.verdict for row in rows for one in row.trials]
    for bad in (Verdict.FAILED, Verdict.INVALID):
        if bad in verdicts:
            return bad
    least = min(2, plan.starts)
    enough = all(sum(one.verdict is Verdict.OK for one in row.trials) >= least for row in rows)
    return Verdict.OK if enough else Verdict.VOID


def reasons(trials: Sequence[RowTrial]) -> list[str]:
    """Why trials do not count."""
    return [
        f"{one.row}, round {one.block}{'' if one.attempt == 1 else ', again'}: {one.verdict}: {one.reason}"
        for one in trials
        if one.verdict is not Verdict.OK
    ]


def conclude(
    experiment: Experiment,
    plan: PlanName,
    digest: str,
    trials: Sequence[RowTrial],
    facts: Mapping[str, Facts],
) -> Concluded[Reproduced]:
    """The answer. digest: of what was measured. trials: all that were made. facts: by row."""
    settings = experiment.plan(plan)
    rows = [
        row_result(
            experiment,
            row.label,
            [one for one in trials if one.row == row.label],
            facts.get(row.label, Facts()),
        )
        for row in experiment.measured(plan)
    ]
    labels = {row.label for row in rows}
    claims = [claim for claim in experiment.claims if {claim.of, claim.to} <= labels]
    ordered = [one for row in rows for one in row.trials]
    return Concluded(
        verdict=whole(settings, rows),
        reasons=reasons(ordered),
        conclusions=Reproduced(
            experiment=experiment.name,
            title=experiment.title,
            origin=experiment.origin,
            source=experiment.source,
            hypothesis=experiment.hypothesis,
            published_host=experiment.published_host,
            kind=experiment.kind,
            plan=plan,
            settings=settings,
            digest=digest,
            columns=experiment.figures,
            rows=rows,
            claims=claim_results(experiment, claims, ordered),
            sentence=experiment.sentence,
        ),
    )


def figure(found: Reproduced, row: str, name: str) -> float:
    """The mean of a figure of a row. Raises KeyError for a row or a figure that there is not."""
    by_label = {one.label: one for one in found.rows}
    return by_label[row].figures[name].mean

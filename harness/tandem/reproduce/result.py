"""The result of an experiment: what reproduction.json holds, and how it is made from the starts. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import Field

from tandem.analysis.analyse import t_interval
from tandem.analysis.schedule import schedule
from tandem.record.run import Environment, Number, Part, Verdict
from tandem.record.store import file_name
from tandem.reproduce.claims import ClaimResult, implied, ratio, size, verdict
from tandem.reproduce.experiment import Claim, Experiment, ExperimentPlan, Kind, PlanName, published_ratio


class Asked(Part):
    """request.json: the same request and seed give the same starts in the same order."""

    experiment: str
    plan: PlanName
    digest: str
    """Of what the experiment's file says is measured (Experiment.digest)."""
    seed: int


@dataclass(frozen=True)
class Step:
    """One fresh start, which measures one row or several."""

    block: int
    rows: tuple[str, ...]
    """Labels, in the order in which they are measured."""


def steps(groups: Sequence[Sequence[str]], starts: int, seed: int) -> list[Step]:
    """Randomised complete blocks, fixed by the seed. groups: labels of the rows that share a fresh start, all of
    one block; their order within it is random too."""
    names = {str(number): group for number, group in enumerate(groups)}
    visits = schedule(list(names), starts, seed)
    found = []
    for visit in visits:
        group = names[visit.run]
        within = schedule(list(group), visit.block, seed + 1 + int(visit.run))
        found.append(Step(visit.block, tuple(v.run for v in within if v.block == visit.block)))
    return found


class Start(Part):
    """starts/*.json: one row in one block. Figures are empty unless the verdict is ok."""

    row: str
    block: int
    verdict: Verdict
    reason: str | None = None
    attempts: int = 1
    figures: dict[str, Number] = Field(default_factory=dict)
    bottleneck: str | None = None
    evidence: list[str] = Field(default_factory=list)
    """The shares that decided the bottleneck."""
    models: dict[str, Number] = Field(default_factory=dict)
    """Ceilings that are known only with the measurement, in requests per second."""
    details: dict[str, str] = Field(default_factory=dict)
    """Texts for people, such as a histogram: name -> text."""
    warnings: list[str] = Field(default_factory=list)
    raw: str | None = None
    """Where its records and logs are, below the reproduction's folder."""
    spent_s: dict[str, Number] = Field(default_factory=dict)
    """Phase -> seconds."""

    @property
    def file(self) -> str:
        return start_file(self.block, self.row)


def start_file(block: int, row: str) -> str:
    """The name of a start's file below starts/."""
    return f"{block}-{file_name(row)}.json"


@dataclass(frozen=True)
class Facts:
    """What is known of a row without measuring it."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """What was run, for people: name -> value."""
    ceilings: Mapping[str, float] = field(default_factory=dict)
    """Model values, by name."""


class Mean(Part):
    """Over the good starts; the interval is null below two."""

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
    """Of most good starts."""
    starts: list[Start]


class Reproduction(Part):
    """reproduction.json"""

    schema_version: Literal[1] = 1
    experiment: str
    title: str
    origin: str
    published_host: str
    kind: Kind
    plan: PlanName
    settings: ExperimentPlan
    digest: str
    seed: int
    started_at: datetime
    finished_at: datetime
    columns: list[str]
    """The figures that its table shows."""
    verdict: Verdict
    reasons: list[str]
    """Why starts do not count."""
    rows: list[RowResult]
    claims: list[ClaimResult]
    sentence: str
    spent_s: dict[str, Number]
    """Phase -> seconds, over all starts that are in it."""
    environment: dict[str, Environment]
    """By what was run."""


def mean(values: Sequence[float]) -> Mean | None:
    """Of the good starts; None without any."""
    if not values:
        return None
    return Mean(n=len(values), mean=statistics.fmean(values), interval=t_interval(values))


def row_result(experiment: Experiment, label: str, starts: Sequence[Start], facts: Facts) -> RowResult:
    """starts: of that row. Ceilings that only a measurement tells are averaged, beside the others."""
    row = experiment.row(label)
    good = [start for start in starts if start.verdict is Verdict.OK]
    figures = {
        name: mean([s.figures[name] for s in good if name in s.figures]) for name in _names(good, "figures")
    }
    models = {
        name: mean([s.models[name] for s in good if name in s.models]) for name in _names(good, "models")
    }
    tags = [start.bottleneck for start in good if start.bottleneck]
    return RowResult(
        label=label,
        note=row.note,
        published=row.published,
        published_elsewhere=row.published_elsewhere,
        settings=dict(facts.settings),
        figures={name: found for name, found in figures.items() if found},
        ceilings={**facts.ceilings, **{name: found.mean for name, found in models.items() if found}},
        bottleneck=statistics.mode(tags) if tags else None,
        starts=list(starts),
    )


def _names(starts: Sequence[Start], of: Literal["figures", "models"]) -> list[str]:
    return list(dict.fromkeys(name for start in starts for name in getattr(start, of)))


def claim_result(experiment: Experiment, claim: Claim, starts: Sequence[Start]) -> ClaimResult:
    """starts: of all rows."""
    published = published_ratio(experiment, claim)
    says = claim.says or implied(published)
    assert says is not None, "an experiment whose claims claim nothing is refused when it is read"
    by_row = [
        {
            s.block: s.figures[claim.figure]
            for s in starts
            if s.row == label and s.verdict is Verdict.OK and s.figures.get(claim.figure, 0) > 0
        }
        for label in (claim.of, claim.to)
    ]
    found = ratio(*by_row)
    word = verdict(says, found)
    return ClaimResult(
        text=claim.text,
        figure=claim.figure,
        of=claim.of,
        to=claim.to,
        says=says,
        host=claim.host,
        published=published,
        ratio=found,
        verdict=word,
        size=size(says, word, published, found),
    )


def whole(plan: ExperimentPlan, rows: Sequence[RowResult]) -> Verdict:
    """ok: every row has two good starts, or all of them where the plan has fewer. One invalid start makes the whole
    invalid: it says something about the program or the load, not about the moment."""
    verdicts = [start.verdict for row in rows for start in row.starts]
    for bad in (Verdict.FAILED, Verdict.INVALID):
        if bad in verdicts:
            return bad
    least = min(2, plan.starts)
    enough = all(sum(s.verdict is Verdict.OK for s in row.starts) >= least for row in rows)
    return Verdict.OK if enough else Verdict.VOID


def reasons(starts: Sequence[Start]) -> list[str]:
    """Why starts do not count."""
    return [
        f"{start.row}, start {start.block}: {start.verdict}: {start.reason}"
        for start in starts
        if start.verdict is not Verdict.OK
    ]


def spent(starts: Sequence[Start], besides: Mapping[str, float]) -> dict[str, float]:
    """Seconds by phase, over all starts. besides: of what is not a start's own, such as the builds."""
    total = dict(besides)
    for start in starts:
        for phase, seconds in start.spent_s.items():
            total[phase] = total.get(phase, 0.0) + seconds
    return {phase: seconds for phase, seconds in total.items() if math.isfinite(seconds)}


def conclude(
    experiment: Experiment,
    asked: Asked,
    starts: Sequence[Start],
    facts: Mapping[str, Facts],
    environment: dict[str, Environment],
    besides_s: Mapping[str, float],
    times: tuple[datetime, datetime],
) -> Reproduction:
    """The result. starts: all that were made. facts: by row. times: start and end."""
    plan = experiment.plan(asked.plan)
    rows = [
        row_result(
            experiment, row.label, [s for s in starts if s.row == row.label], facts.get(row.label, Facts())
        )
        for row in experiment.measured(asked.plan)
    ]
    labels = {row.label for row in rows}
    claims = [claim for claim in experiment.claims if {claim.of, claim.to} <= labels]
    ordered = [start for row in rows for start in row.starts]
    return Reproduction(
        experiment=experiment.name,
        title=experiment.title,
        origin=experiment.origin,
        published_host=experiment.published_host,
        kind=experiment.kind,
        plan=asked.plan,
        settings=plan,
        digest=asked.digest,
        seed=asked.seed,
        started_at=times[0],
        finished_at=times[1],
        columns=experiment.figures,
        verdict=whole(plan, rows),
        reasons=reasons(ordered),
        rows=rows,
        claims=[claim_result(experiment, claim, ordered) for claim in claims],
        sentence=experiment.sentence,
        spent_s=spent(ordered, besides_s),
        environment=environment,
    )

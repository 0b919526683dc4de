"""What was found of each way of counting, beside what was published, and what became of each claim. Pure."""

import statistics
from collections.abc import Mapping, Sequence

from tandem.engine.blocks import counting
from tandem.judge.judge import verdict
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.files.document import Counting
from tandem.studies.reproduce import claims
from tandem.studies.reproduce.claims import ClaimResult
from tandem.studies.reproduce.conclusions import Mean, mean
from tandem.studies.reproduce.experiment import Claim, Experiment, PlanName, published_ratio

ENOUGH = 2
"""Good starts of each row, where the plan has so many."""


class CountedRow(Part):
    """One way of counting in one case: what was published and what we found."""

    label: str
    note: str
    published: dict[str, Number]
    published_elsewhere: dict[str, dict[str, Number]]
    settings: dict[str, str]
    """What was run, for people."""
    figures: dict[str, Mean]
    """Those that were measured."""
    bottleneck: str | None
    """Of most good starts."""
    starts: int
    starts_ok: int
    warnings: list[str]


class Counted(Conclusions):
    """The rows of an experiment with files, and its claims."""

    experiment: str
    title: str
    origin: str
    published_host: str
    digest: str
    """Of what the experiment's file says is measured."""
    starts: int
    """Fresh starts of every row."""
    lines_percent: int
    """How much of the published number of lines was made."""
    columns: list[str]
    """The figures that its table shows."""
    rows: list[CountedRow]
    claims: list[ClaimResult]
    sentence: str


def verdict_of(trial: Trial, label: str) -> Verdict:
    """Whether what a start says of one row counts."""
    if trial.verdict is Verdict.FAILED:
        return Verdict.FAILED
    own = trial.starts[label].findings if label in trial.starts else []
    return verdict([*trial.findings, *own])


def good(trials: Sequence[Trial], label: str) -> dict[int, Counting]:
    """Block -> what was measured of a row, of the starts in which it counts."""
    found = {
        trial.spec.block: Counting.model_validate(trial.facts[label])
        for trial in counting(trials)
        if label in trial.facts and verdict_of(trial, label) is Verdict.OK
    }
    return dict(sorted(found.items()))


def row_of(
    experiment: Experiment, label: str, trials: Sequence[Trial], settings: Mapping[str, str]
) -> CountedRow:
    """trials: all. settings: what was run, for people."""
    row = experiment.row(label)
    own = [trial for trial in counting(trials) if label in trial.spec.variants]
    counted = good(own, label)
    names = dict.fromkeys(name for one in counted.values() for name in one.figures)
    means = {
        name: mean([one.figures[name] for one in counted.values() if name in one.figures]) for name in names
    }
    tags = [one.bottleneck for one in counted.values() if one.bottleneck]
    said = [
        finding.text
        for trial in own
        for finding in (*trial.findings, *(trial.starts[label].findings if label in trial.starts else []))
        if finding.severity == "warning"
    ]
    return CountedRow(
        label=label,
        note=row.note,
        published=row.published,
        published_elsewhere=row.published_elsewhere,
        settings=dict(settings),
        figures={name: found for name, found in means.items() if found},
        bottleneck=statistics.mode(tags) if tags else None,
        starts=len(own),
        starts_ok=len(counted),
        warnings=list(dict.fromkeys(said)),
    )


def claim_of(experiment: Experiment, claim: Claim, trials: Sequence[Trial]) -> ClaimResult:
    """A claim beside what we found, block by block."""
    published = published_ratio(experiment, claim)
    says = claim.says or claims.implied(published)
    assert says is not None, "an experiment whose claims claim nothing is refused when it is read"
    of, to = (
        {
            block: value
            for block, one in good(trials, label).items()
            if (value := one.figures.get(claim.figure, 0)) > 0
        }
        for label in (claim.of, claim.to)
    )
    found = claims.ratio(of, to)
    word = claims.verdict(says, found)
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
        size=claims.size(says, word, published, found),
    )


def whole(
    experiment: Experiment, plan: PlanName, rows: Sequence[CountedRow], trials: Sequence[Trial]
) -> Verdict:
    """ok: every row has two good starts, or all of them where the plan has fewer. One wrong count makes the whole
    invalid: it says something about the program, not about the moment."""
    verdicts = {trial.verdict for trial in counting(trials)}
    for bad in (Verdict.FAILED, Verdict.INVALID):
        if bad in verdicts:
            return bad
    least = min(ENOUGH, experiment.plan(plan).starts)
    return Verdict.OK if all(row.starts_ok >= least for row in rows) else Verdict.VOID


def reasons(trials: Sequence[Trial]) -> list[str]:
    """Why starts, or rows of them, do not count."""
    found = []
    for trial in counting(trials):
        of_all = [(f"start {trial.spec.key}", trial.findings)]
        of_rows = [
            (f"{label}, start {trial.spec.key}", start.findings) for label, start in trial.starts.items()
        ]
        found += [
            f"{what}: {finding.severity}: {finding.text}"
            for what, findings in (*of_all, *of_rows)
            for finding in findings
            if finding.severity != "warning"
        ]
    return found

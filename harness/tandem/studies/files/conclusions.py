"""What a start says of one row. What follows from all of them is that of every reproduction. Pure."""

from tandem.judge.judge import verdict
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.files.document import Counting
from tandem.studies.reproduce.conclusions import RowTrial


def row_trial(label: str, trial: Trial) -> RowTrial:
    """A wrong count is that row's alone; what a hypervisor did is that of all rows of the trial."""
    own = trial.starts[label].findings if label in trial.starts else []
    findings = [*trial.findings, *own]
    word = Verdict.FAILED if trial.verdict is Verdict.FAILED else verdict(findings)
    counted = Counting.model_validate(trial.facts.get(label, {})) if word is Verdict.OK else Counting()
    return RowTrial(
        row=label,
        block=trial.spec.block,
        attempt=trial.spec.attempt,
        verdict=word,
        reason=next((one.text for one in findings if one.severity != "warning"), None),
        figures=counted.figures,
        bottleneck=counted.bottleneck,
        evidence=counted.evidence,
        warnings=[one.text for one in findings if one.severity == "warning"],
        trial=trial.spec.key,
    )

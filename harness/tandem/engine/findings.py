"""What the findings of trials say together. Pure."""

from collections import Counter
from collections.abc import Iterable

from tandem.record.trial import Trial
from tandem.record.window import Finding


def why(trial: Trial) -> str | None:
    """The first reason why a trial does not count; None where there is none."""
    texts = [finding.text for finding in trial.all_findings() if finding.severity != "warning"]
    texts += [start.refused for start in trial.starts.values() if start.refused]
    texts += [record.refused for record in trial.windows if record.refused]
    return texts[0] if texts else None


def warnings(trials: Iterable[Trial]) -> list[Finding]:
    """The warnings of all trials: one per code, with the first text and how many more there are."""
    first: dict[str, Finding] = {}
    counts: Counter[str] = Counter()
    for trial in trials:
        for finding in trial.all_findings():
            if finding.severity == "warning":
                text = f"{trial.spec.key}: {finding.text}"
                first.setdefault(finding.code, finding.model_copy(update={"text": text}))
                counts[finding.code] += 1
    for code, finding in first.items():
        if counts[code] > 1:
            finding.text += f" (and {counts[code] - 1} more like it)"
    return list(first.values())

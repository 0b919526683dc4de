"""What the findings of trials say together. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tandem.engine.blocks import counting
from tandem.facts.fact import by_label, facts
from tandem.judge.disturbance import GATES, cannot_judge
from tandem.judge.on_wire import stated
from tandem.record.host import HostSeen
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Verdict


def why(trial: Trial) -> str | None:
    """The first reason why a trial does not count; None where there is none."""
    texts = [finding.text for finding in trial.all_findings() if finding.severity != "warning"]
    texts += [start.refused for start in trial.starts.values() if start.refused]
    texts += [record.refused for record in trial.windows if record.refused]
    return texts[0] if texts else None


def verdict_of(trials: Iterable[Trial], known: bool) -> Verdict:
    """The verdict of a study whose figures count only together. known: whether it has them all."""
    if any(trial.verdict in (Verdict.INVALID, Verdict.FAILED) for trial in trials):
        return Verdict.INVALID
    return Verdict.OK if known else Verdict.VOID


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of all together."""
    found = set(verdicts)
    return next((v for v in (Verdict.FAILED, Verdict.INVALID, Verdict.VOID) if v in found), Verdict.OK)


def not_counted(trials: Sequence[Trial]) -> list[str]:
    """Why starts have no good attempt, one sentence each, about the last attempt."""
    good = {trial.spec.name for trial in trials if trial.verdict is Verdict.OK}
    return [
        f"{trial.spec.variants[0]}, round {trial.spec.block}: {trial.verdict}: {why(trial)}"
        for trial in counting(trials)
        if trial.spec.name not in good
    ]


def together[C: Conclusions](
    trials: Sequence[Trial], known: bool, conclusions: C, headline: str = ""
) -> Concluded[C]:
    """The answer of a study whose figures count only together. known: whether it has them all."""
    return Concluded(
        verdict=verdict_of(trials, known),
        reasons=not_counted(trials),
        findings=warnings(trials),
        conclusions=conclusions,
        headline=headline,
    )


def once[K](found: Iterable[tuple[K, str]]) -> dict[K, str]:
    """Key -> its first text, and how many more there are."""
    texts: dict[K, list[str]] = {}
    for key, text in found:
        texts.setdefault(key, []).append(text)
    return {
        key: f"{first} (and {len(more)} more like it)" if more else first
        for key, (first, *more) in texts.items()
    }


def compared(trials: Iterable[Trial]) -> dict[str, str]:
    """Variant -> how many answers of its load were compared, in words; none where nothing was tapped."""
    told = {label: stated([one.window for one in own]) for label, own in by_label(facts(trials)).items()}
    return {label: text for label, text in told.items() if text}


def first_rate(trials: Iterable[Trial]) -> int | None:
    """The rate of the first open window at one; None where there is none."""
    specs = (record.spec for trial in trials for record in trial.windows)
    return next((rate for spec in specs for rate in spec.rates_rps.values()), None)


def made_again(trials: Iterable[Trial]) -> dict[str, int]:
    """Variant -> how many of its starts are second attempts."""
    return dict(Counter(label for trial in trials if trial.spec.attempt > 1 for label in trial.spec.variants))


def host_seen(trials: Iterable[Trial]) -> HostSeen | None:
    """What all windows say of the host; None where there is no window. Interrupts are told of those in which a variant was
    loaded by itself."""
    found = facts(trials)
    if not found:
        return None
    alone = by_label(one for one in found if one.alone)
    shares = {label: [one.window.host.softirq_share for one in own] for label, own in alone.items()}
    return HostSeen(
        gates=len(GATES),
        cannot_judge=cannot_judge([one.window.host for one in found]),
        softirq_share={label: (min(own), max(own)) for label, own in sorted(shares.items())},
    )


def warnings(trials: Iterable[Trial], graver: bool = False) -> list[Finding]:
    """What all trials are warned of: one finding per code. graver: what is more than a warning is told as one, too."""
    texts = once(
        (finding.code, f"{trial.spec.key}: {finding.text}")
        for trial in trials
        for finding in trial.all_findings()
        if graver or finding.severity == "warning"
    )
    return [Finding.of(code, "warning", text) for code, text in texts.items()]

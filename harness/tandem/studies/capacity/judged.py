"""One probe of a capacity search: a window at a rate, and whether the rate was held. Pure.

A window that is more than can be served has findings that make it invalid anywhere else. Here they are the measurement.
"""

from enum import StrEnum

from tandem.judge.judge import LATENESS_GAP_VOID_MS
from tandem.load.rows import WRONG_LENGTH
from tandem.record.part import Number, Part
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.capacity.search import COMPLETE_LEAST, ERRORS_MOST, Ended, Slo

WRONG = ("wrong-body", "wrong-length", "not-stored", "idle-lost", "unclean-stop", "foreign-settings")
"""Findings that no load excuses."""
FAILED = "wrong-answers"
"""Finding that this study measures itself, with a limit of its own."""
STALLED = "generator-stalled"


class State(StrEnum):
    """What a probe came to."""

    PASSED = "passed"
    FAILED = "failed"
    VOID = "void"
    """The host disturbed it; it does not count."""


class Judged(Part):
    """What a probe came to. The window itself is in its trial."""

    where: str = ""
    """Trial and window of the probe."""
    rate_rps: int
    seconds: int
    state: State
    reasons: list[str]
    """Reasons why the probe did not pass."""
    stalled: bool
    """Whether it is void because the generator itself was late, and for nothing else."""
    p50_ms: Number | None = None
    percentile_ms: Number | None = None
    """The objective's percentile of the response time."""
    bottleneck: str

    @property
    def outcome(self) -> str:
        """The state, and why."""
        return f"{self.state}: {'; '.join(self.reasons)}" if self.reasons else str(self.state)

    def __str__(self) -> str:
        return f"{self.rate_rps:,}/s: {self.outcome}"


def failed_share(window: Window) -> float:
    """Share of the answers and errors that were not right."""
    bad = sum(window.failed.values())
    return bad / (window.good + bad) if bad else 0.0


def overloaded(window: Window) -> list[str]:
    """The signs that the rate was not kept up with: failed or missing answers."""
    reasons, failed = [], failed_share(window)
    if failed >= ERRORS_MOST:
        each = ", ".join(f"{number} x {why}" for why, number in sorted(window.failed.items()))
        reasons.append(f"{failed:.2%} failed ({each})")
    complete = window.good / window.scheduled if window.scheduled else 0.0
    if complete < COMPLETE_LEAST:
        reasons.append(f"only {complete:.1%} of the scheduled requests were answered correctly")
    return reasons


def refuse_wrong(window: Window) -> None:
    """Raises Ended for what is wrong under any load: wrong bodies, lost rows; and, where the load was
    kept up with, for every other finding that makes a window invalid."""
    kept_up, at = not overloaded(window), f"at {window.offered_rps or 0:,.0f}/s"
    for finding in window.findings:
        if finding.severity == "invalid" and (finding.code in WRONG or (kept_up and finding.code != FAILED)):
            raise Ended(Verdict.INVALID, f"{at}: {finding.text}")
    if number := window.failed.get(WRONG_LENGTH):
        raise Ended(Verdict.INVALID, f"{at}: {number} bodies had a length that no correct answer has")


def voids(window: Window) -> list[Finding]:
    """What makes the window void. Rows that errors shifted to earlier due times are no lateness of the generator."""
    out = [finding for finding in window.findings if finding.severity == "void"]
    errors = sum(number for why, number in window.failed.items() if why.startswith("error: "))
    if window.lateness_ms is None or not window.offered_rps:
        return out
    own_ms = (window.lateness_ms.max or 0.0) - errors / window.offered_rps * 1e3
    if errors and own_ms <= LATENESS_GAP_VOID_MS:
        out = [finding for finding in out if finding.code != STALLED]
    return out


def judge(window: Window, slo: Slo, where: str = "") -> Judged:
    """What an open-loop window came to. where: its trial and its name.

    Raises Ended for wrong answers, and where the percentile could not be had although the rate was held.
    """
    assert window.offered_rps is not None
    refuse_wrong(window)
    disturbed = voids(window)
    reasons = [finding.text for finding in disturbed] or overloaded(window) or _slow(window, slo)
    state = State.VOID if disturbed else State.FAILED if reasons else State.PASSED
    times = window.response_time_ms
    return Judged(
        where=where,
        rate_rps=round(window.offered_rps),
        seconds=round(window.duration_s),
        state=state,
        reasons=reasons,
        stalled=bool(disturbed) and all(finding.code == STALLED for finding in disturbed),
        p50_ms=times.p50 if times else None,
        percentile_ms=getattr(times, slo.percentile, None),
        bottleneck=window.bottleneck,
    )


def _slow(window: Window, slo: Slo) -> list[str]:
    growth = window.growth
    found: float | None = getattr(window.response_time_ms, slo.percentile, None)
    samples = window.response_time_ms.samples if window.response_time_ms else 0
    if found is None:
        raise Ended(
            Verdict.FAILED,
            f"{slo.percentile} needs {slo.samples:,} samples and the window at {window.offered_rps:,.0f}/s gave {samples:,}",
        )
    reasons = [f"{slo.percentile} was {found:,.1f} ms"] if found > slo.limit_ms else []
    if growth is not None and growth.growing:
        reasons.append(
            f"the backlog grew: the median went from {growth.first_third_ms:,.1f} to {growth.last_third_ms:,.1f} ms"
        )
    return reasons

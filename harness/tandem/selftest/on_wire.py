"""Servers that answer the load otherwise than the harness: only a look at the load's own answers can see it."""

from tandem.judge.on_wire import coverage, needed
from tandem.record.selftest import Outcome
from tandem.record.window import Verdict
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, SeenFromBothEnds, Stage

GROUP = "liars"
WINDOW_S, FILLER_S = 15, 5
"""Seconds of a window with few altered answers, and of one in which all are filler."""
MISSED, WINDOWS_MOST = 1e-5, 8
"""Windows follow each other until so many answers are compared that all altered ones are missed once in 100,000 times. A window
of two busy cores compares a third of these answers, and misses all altered ones once in 75 times."""
CODE = "wrong-on-wire"
RARE = "few-altered"
FAULTS = {
    RARE: "three answers in a thousand altered, same length",
    "filler": "filler of the right length for the generator",
}


def shown(seen: SeenFromBothEnds) -> str:
    """The verdict, how many answers were compared, at which cost, and what was wrong."""
    tap = seen.window.tap
    assert tap is not None
    wrong = "".join(f": {finding.text}" for finding in seen.window.findings if finding.code == CODE)
    costs = f"{tap.bursts} bursts, {tap.capture_cpu_s:.2f} s of CPU during the load"
    return f"{seen.window.verdict}, {coverage([seen.window])} ({costs}){wrong}"[:400]


def seen(stage: Stage, fault: str, seconds: int) -> SeenFromBothEnds:
    """A window of the broken backend with a fault that shows, or the one with which enough answers were compared."""
    compared = 0
    with stage.running(BROKEN, "recipe", variables={"FAULT": fault}) as running:
        for _ in range(WINDOWS_MOST):
            one = running.steady_window("closed", seconds, None)
            compared += one.window.tap.compared if one.window.tap else 0
            if fault != RARE or CODE in one.codes() or compared >= needed(missed=MISSED):
                break
    return one


def outcome(name: str, liar: SeenFromBothEnds, honest: SeenFromBothEnds) -> Outcome:
    """Judges a window of a liar, and as the control one of the same server without the lie."""
    return KnownAnswer[SeenFromBothEnds](
        name=name,
        group=GROUP,
        expected=f"invalid: {CODE}",
        right=lambda one: one.window.verdict is Verdict.INVALID and CODE in one.codes(),
        shown=shown,
        broken="the same server without the lie",
        caught=lambda one: (
            CODE not in one.codes() and one.window.tap is not None and one.window.tap.compared > 0
        ),
    ).judged(liar, honest)


def run(stage: Stage) -> tuple[SeenFromBothEnds, list[Outcome]]:
    """A window of the server without a lie, and the checks of this module."""
    honest = seen(stage, "", WINDOW_S)
    lengths_s = {RARE: WINDOW_S, "filler": FILLER_S}
    return honest, [
        outcome(name, seen(stage, fault, lengths_s[fault]), honest) for fault, name in FAULTS.items()
    ]

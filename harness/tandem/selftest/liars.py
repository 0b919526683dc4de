"""Servers that lie, end to end: every one must come out invalid, for the right reason.

Those that answer the load otherwise than the harness can only be seen by a look at the load's own answers, on the wire.
"""

from dataclasses import dataclass
from functools import partial

from tandem.errors import TandemError
from tandem.judge.on_wire import coverage, needed
from tandem.record.selftest import Outcome
from tandem.record.window import Verdict
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, HONEST, Running, SeenFromBothEnds, Stage

WINDOW_S, WIRE_S, FILLER_S = 3, 15, 5
"""Seconds of a window; with few altered answers, and without a lie; with nothing but filler."""


@dataclass(frozen=True)
class Liar:
    """A lie. behaviour: what the calibrated server is armed with. code, text: of the finding that must be there."""

    name: str
    behaviour: str
    code: str
    text: str


LIARS = [
    Liar("fast 500", "kind=fail", "wrong-answers", "status 500"),
    Liar("refused", "kind=refuse", "wrong-answers", "status 503"),
    Liar("reset after the head", "kind=reset", "wrong-answers", "error:"),
    Liar("short body", "kind=short", "wrong-length", "length"),
    Liar("redirect", "kind=redirect", "wrong-answers", "status 302"),
    Liar("close after each", "kind=close", "not-kept-alive", "connections to the application"),
    Liar("hang", "kind=hang", "no-answers", "error:"),
]
CACHED = Liar("cached 200 without SQL", "FAULT=cached", "sql-mismatch", "the database ran")
CONTROL = "the same server without the lie"


def caught(liar: Liar, seen: SeenFromBothEnds | TandemError) -> bool:
    """Whether there is a window and it is invalid, with a finding that names what is wrong."""
    codes = {liar.code, "no-answers"}  # where every request fails, there is no answer to be wrong
    return (
        isinstance(seen, SeenFromBothEnds)
        and seen.window.verdict is Verdict.INVALID
        and any(
            f.severity == "invalid" and f.code in codes and liar.text in f.text for f in seen.window.findings
        )
    )


def shown(seen: SeenFromBothEnds | TandemError) -> str:
    """The verdict with what is more than a warning; the error where there was no window."""
    if isinstance(seen, TandemError):
        return f"no window: {seen}"
    texts = [f"{f.code} ({f.text})" for f in seen.window.findings if f.severity != "warning"]
    return f"{seen.window.verdict}: {'; '.join(texts)[:150]}" if texts else str(seen.window.verdict)


def outcome(liar: Liar, seen: SeenFromBothEnds | TandemError, honest: SeenFromBothEnds) -> Outcome:
    """Judges a window of a liar, and as the control one of the same server without the lie."""
    return KnownAnswer[SeenFromBothEnds | TandemError](
        name=liar.name,
        expected=f"invalid: {liar.code}, {liar.text}",
        right=partial(caught, liar),
        shown=shown,
        broken=CONTROL,
        caught=lambda _: honest.window.verdict is not Verdict.INVALID,
    ).judged(seen, honest)


def lie(running: Running, liar: Liar, honest: SeenFromBothEnds) -> Outcome:
    """A window of a liar."""
    try:
        return outcome(liar, running.steady_window(WINDOW_S, liar.behaviour), honest)
    except TandemError as error:
        return outcome(liar, error, honest)


# ---- on the wire ----

MISSED, WINDOWS_MOST = 1e-5, 8
"""Windows follow each other until so many answers are compared that all altered ones are missed once in 100,000 times. A window
of two busy cores compares a third of these answers, and misses all altered ones once in 75 times."""
CODE = "wrong-on-wire"
RARE = "few-altered"
FAULTS = {
    RARE: ("three answers in a thousand altered, same length", WIRE_S),
    "filler": ("filler of the right length for the generator", FILLER_S),
}
"""Fault -> what it is called, and the seconds of a window."""


def compared(seen: SeenFromBothEnds) -> int:
    """How many answers were compared."""
    return seen.window.tap.compared if seen.window.tap else 0


def shown_on_wire(seen: SeenFromBothEnds) -> str:
    """The verdict, how many answers were compared, at which cost, and what was wrong."""
    tap = seen.window.tap
    assert tap is not None
    wrong = "".join(f": {finding.text}" for finding in seen.window.findings if finding.code == CODE)
    costs = f"{tap.bursts} bursts, {tap.capture_cpu_s:.2f} s of CPU during the load"
    return f"{seen.window.verdict}, {coverage([seen.window])} ({costs}){wrong}"[:400]


def faulty(stage: Stage, fault: str, seconds: int) -> SeenFromBothEnds:
    """A window of the broken backend with a fault that shows, or the one with which enough answers were compared."""
    answers = 0
    with stage.running(BROKEN, "recipe", variables={"FAULT": fault}) as running:
        for _ in range(WINDOWS_MOST):
            one = running.steady_window(seconds)
            answers += compared(one)
            if fault != RARE or CODE in one.codes() or answers >= needed(missed=MISSED):
                break
    return one


def on_wire(name: str, liar: SeenFromBothEnds, honest: SeenFromBothEnds) -> Outcome:
    """Judges a window of a liar, and as the control one of the same server without the lie."""
    return KnownAnswer[SeenFromBothEnds](
        name=name,
        expected=f"invalid: {CODE}",
        right=lambda one: one.window.verdict is Verdict.INVALID and CODE in one.codes(),
        shown=shown_on_wire,
        broken=CONTROL,
        caught=lambda one: CODE not in one.codes() and compared(one) > 0,
    ).judged(liar, honest)


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module."""
    with stage.running() as running:
        calibrated = running.steady_window(WINDOW_S, HONEST)
        out = [lie(running, liar, calibrated) for liar in LIARS]
    honest = faulty(stage, "", WIRE_S)
    seen = [on_wire(name, faulty(stage, fault, lasts), honest) for fault, (name, lasts) in FAULTS.items()]
    # Answers from memory: right bodies, and PostgreSQL does not know of them.
    return [*out, outcome(CACHED, faulty(stage, "cached", WINDOW_S), honest), *seen]

"""Servers that lie, end to end: every one must come out invalid, for the right reason."""

from dataclasses import dataclass

from tandem.errors import TandemError
from tandem.record.selftest import Outcome
from tandem.record.window import Verdict
from tandem.selftest import on_wire
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import HONEST, Running, SeenFromBothEnds, Stage

GROUP = "liars"
WINDOW_S = 3


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


def caught(liar: Liar, seen: SeenFromBothEnds) -> bool:
    """Whether the window is invalid, with a finding that names what is wrong."""
    codes = {liar.code, "no-answers"}  # where every request fails, there is no answer to be wrong
    named = any(
        finding.severity == "invalid" and finding.code in codes and liar.text in finding.text
        for finding in seen.window.findings
    )
    return seen.window.verdict is Verdict.INVALID and named


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
        group=GROUP,
        expected=f"invalid: {liar.code}, {liar.text}",
        right=lambda one: isinstance(one, SeenFromBothEnds) and caught(liar, one),
        shown=shown,
        broken="the same server without the lie",
        caught=lambda one: (
            isinstance(one, SeenFromBothEnds)
            and not caught(liar, one)
            and one.window.verdict is not Verdict.INVALID
        ),
    ).judged(seen, honest)


def lie(running: Running, liar: Liar, honest: SeenFromBothEnds) -> Outcome:
    """A window of a liar."""
    try:
        return outcome(liar, running.steady_window("closed", WINDOW_S, liar.behaviour), honest)
    except TandemError as error:
        return outcome(liar, error, honest)


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module and of `on_wire`."""
    with stage.running() as running:
        honest = running.steady_window("closed", WINDOW_S, HONEST)
        out = [lie(running, liar, honest) for liar in LIARS]
    honest, on_the_wire = on_wire.run(stage)
    # Answers from memory: right bodies, and PostgreSQL does not know of them.
    cached = on_wire.seen(stage, "cached", WINDOW_S)
    return [*out, outcome(CACHED, cached, honest), *on_the_wire]

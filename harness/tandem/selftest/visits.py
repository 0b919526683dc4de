"""The visit itself, end to end: a rate that does not settle, an application that does not end, a log that cannot be kept."""

from typing import Any

from tandem.errors import TandemError
from tandem.lab.application import GRACE_S
from tandem.record.selftest import Outcome
from tandem.record.trial import WarmUp
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, Running, Stage, again

UNTIL_STEADY = WarmUp(least_s=3, steady_buckets=8, cap_s=14)
EVEN, DRIFTING = "kind=constant&us=20000", "kind=drift&us=20000&more_us=1000"
"""5 % a second, against a limit of 2 % over all seconds that are looked at. Long services: the rate is not the CPU's."""
DEAF = "deaf-to-sigterm"
NOT_STEADY, UNCLEAN = "no-steady-state", "unclean-stop"


def ended(stage: Stage, *what: str, **how: Any) -> Running:
    """A start that has ended. what, how: as `Stage.running` has them."""
    with stage.running(*what, **how) as running:
        return running


def _warm_up_s(running: Running) -> float:
    return running.trial.starts[running.label].warm_up_s or 0.0


def _said(running: Running, code: str) -> str:
    """A visit's finding of this code; where there is none, how long its warm-up was."""
    said = [f.text for f in running.trial.all_findings() if f.code == code]
    return f"{code}: {said[0]}" if said else f"not {code}, {_warm_up_s(running):.0f} s of warm-up"


def drift(stage: Stage) -> Outcome:
    """A server that gets slower is never steady: the warm-up lasts to its cap, and a finding says so."""
    cap_s = UNTIL_STEADY.cap_s
    return KnownAnswer[Running](
        name="a rate that drifts",
        expected=f"{NOT_STEADY} after {cap_s} s of warm-up",
        right=lambda one: NOT_STEADY in one.codes() and _warm_up_s(one) == cap_s,
        shown=lambda one: _said(one, NOT_STEADY),
        broken="the same server, even",
        caught=lambda one: NOT_STEADY not in one.codes() and _warm_up_s(one) < cap_s,
    ).judged(
        ended(stage, warm_up=UNTIL_STEADY, behaviour=DRIFTING),
        again(
            stage.view,
            lambda: ended(stage, warm_up=UNTIL_STEADY, behaviour=EVEN),
            lambda even: _said(even, NOT_STEADY) if NOT_STEADY in even.codes() else None,
        ),
    )


def unclean(stage: Stage) -> Outcome:
    """An application that does not end on SIGTERM has to be killed, which is status 137."""
    return KnownAnswer[Running](
        name="an application that is deaf to SIGTERM",
        expected=f"{UNCLEAN}, status 137 after {GRACE_S} s",
        right=lambda one: "status 137" in _said(one, UNCLEAN),
        shown=lambda one: _said(one, UNCLEAN),
        broken="the same without the fault",
        caught=lambda one: UNCLEAN not in one.codes(),
    ).judged(*(ended(stage, BROKEN, "work", variables={"FAULT": fault}) for fault in (DEAF, "")))


def log_lost(stage: Stage) -> Outcome:
    """A log that cannot be kept fails the visit, and the application is gone all the same."""
    error, left = kept(stage, breaks=True)
    return KnownAnswer[str | None](
        name="a log that cannot be written",
        expected="a failed visit, no container of the application left",
        right=lambda said: said is not None and "app.log" in said and not left,
        shown=lambda said: f"{said or 'no error'}; {'a container' if left else 'nothing'} is left",
        broken="a log that can be",
        caught=lambda said: said is None,
    ).judged(error, kept(stage, breaks=False)[0])


def kept(stage: Stage, breaks: bool) -> tuple[str | None, bool]:
    """What a visit said whose log meets a folder of that name if it is to break, and whether a container of it is left."""
    error = None
    try:
        with stage.running() as running:
            if breaks:
                (running.app.folder / "app.log").mkdir()
    except TandemError as met:
        error = str(met).replace(f"{stage.folder}/", "")
    try:
        stage.stack.container("app")
    except TandemError:
        return error, False
    return error, True


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module, each with fresh starts of its own."""
    return [drift(stage), unclean(stage), log_lost(stage)]

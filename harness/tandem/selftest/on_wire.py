"""Servers that answer the load otherwise than the harness: only who reads the load's own answers can see it."""

from tandem.judge.on_wire import coverage
from tandem.record.outcome import Outcome
from tandem.record.window import Verdict
from tandem.selftest.stage import BROKEN, Seen, Stage

GROUP = "liars"
WINDOW_S = 15
"""Half of those of the plan `quick`: three answers in a thousand have to be among those that are compared."""
FILLER_S = 5
"""All of them are filler."""
CODE = "wrong-on-wire"
FAULTS = {
    "few-altered": "three answers in a thousand altered, same length",
    "filler": "filler of the right length for the generator",
}


def told(seen: Seen) -> str:
    tap = seen.window.tap
    assert tap is not None
    found = [finding.text for finding in seen.window.findings if finding.code == CODE]
    costs = f"{tap.bursts} bursts, {tap.capture_cpu_s:.2f} s of CPU during the load"
    return (
        f"{seen.window.verdict}, {coverage([seen.window])} ({costs}){''.join(f': {text}' for text in found)}"[
            :400
        ]
    )


def caught(seen: Seen) -> bool:
    return seen.window.verdict is Verdict.INVALID and CODE in seen.codes()


def seen(stage: Stage, fault: str, seconds: int) -> Seen:
    with stage.running(BROKEN, "recipe", variables={"FAULT": fault}) as running:
        return running.steady_window("closed", seconds, None)


def outcome(name: str, liar: Seen, honest: Seen) -> Outcome:
    compared = honest.window.tap.compared if honest.window.tap else 0
    return Outcome(
        name=name,
        group=GROUP,
        expected=f"invalid: {CODE}",
        measured=told(liar),
        tolerance="none",
        passed=caught(liar),
        negative_control=f"the same server without the lie: {told(honest)}",
        negative_control_failed=CODE not in honest.codes() and compared > 0,
    )


def run(stage: Stage) -> tuple[Seen, list[Outcome]]:
    """The same server without a lie, and all of this module."""
    honest = seen(stage, "", WINDOW_S)
    lengths_s = {"few-altered": WINDOW_S, "filler": FILLER_S}
    return honest, [
        outcome(name, seen(stage, fault, lengths_s[fault]), honest) for fault, name in FAULTS.items()
    ]

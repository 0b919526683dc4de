"""Do slices hide anything? An unlike pair, measured in slices, in long windows and in separate starts. Weekly."""

from collections.abc import Mapping

from tandem.record.outcome import Outcome
from tandem.record.window import Window
from tandem.selftest.stage import OUTSIDE, SideBySide, Stage

GROUP = "carry-over"
PLAIN, DEARER = "kind=spin&us=1000", "kind=spin&us=1400"
LATER = "kind=spin&us=1300&later_us=100&later_ms=1000"
"""Behaviour of a server that does as much work as DEARER in all, a part of it a second later."""
SLICES = {1.0: 12, 2.0: 6, 4.0: 3}
"""Length in seconds -> how many of each."""
WINDOW_S = 60
APART_MOST = 0.02
"""Largest ratio by the smallest, less one, at which they are still one ratio."""


def cost_us(window: Window) -> float:
    """CPU per request; not a number where nothing was answered."""
    return window.app_cpu_us_per_request or float("nan")


def ratio_in_slices(pair: SideBySide, behaviour: str, slice_s: float) -> tuple[float, Window]:
    """CPU per request of a server with this behaviour by the plain one's, and its window."""
    plain, other = pair.labels
    made = pair.window(SLICES[slice_s], {plain: PLAIN, other: behaviour}, slice_s)
    return cost_us(made[other]) / cost_us(made[plain]), made[other]


def ratio_alone(pair: SideBySide, behaviour: str) -> float:
    """The same, in one long window of each."""
    plain, other = pair.labels
    costs = {
        label: cost_us(pair.alone(label, WINDOW_S, how))
        for label, how in ((plain, PLAIN), (other, behaviour))
    }
    return costs[other] / costs[plain]


def ratio_of_starts(stage: Stage) -> float:
    """The same, in one long window of a fresh start of each."""
    costs = []
    for behaviour in (PLAIN, DEARER):
        with stage.running() as running:
            costs.append(cost_us(running.steady_window("closed", WINDOW_S, behaviour).window))
    return costs[1] / costs[0]


def apart(ratios: Mapping[str, float]) -> float:
    """The largest by the smallest, less one."""
    return max(ratios.values()) / min(ratios.values()) - 1


def outside(window: Window) -> str:
    """What was said of work in the others' seconds; empty: nothing."""
    return next((finding.text for finding in window.findings if finding.code == OUTSIDE), "")


def outcome(
    honest: Mapping[str, float], accused: list[str], later: Mapping[str, float], caught: str
) -> Outcome:
    """honest, later: how it was measured -> ratio, of the dearer server and of the one that leaves work. accused, caught: what
    was said of each one's work in the others' seconds."""

    def told(ratios: Mapping[str, float]) -> str:
        return ", ".join(f"× {ratio:.3f} {how}" for how, ratio in ratios.items())

    return Outcome(
        name="an unlike pair in slices, in windows and in separate starts",
        group=GROUP,
        expected=f"one ratio of CPU per request, and no {OUTSIDE}",
        measured=f"{told(honest)}: {apart(honest):.1%} apart{''.join(f'; {text}' for text in accused)}",
        tolerance=f"{APART_MOST:.0%}",
        passed=apart(honest) <= APART_MOST and not accused,
        negative_control=f"a server that does a part of its work a second later: {told(later)}; {caught or f'no {OUTSIDE}'}",
        negative_control_failed=apart(later) > APART_MOST and bool(caught),
    )


def run(stage: Stage) -> list[Outcome]:
    """The ratio does not depend on how it is measured; who works on in the others' seconds is found out."""
    honest, accused = dict[str, float](), list[str]()
    with stage.side_by_side(2) as pair:
        for slice_s in SLICES:
            ratio, window = ratio_in_slices(pair, DEARER, slice_s)
            honest[f"in slices of {slice_s:.0f} s"] = ratio
            accused += [text for text in [outside(window)] if text]
        honest[f"in windows of {WINDOW_S} s"] = ratio_alone(pair, DEARER)
        ratio, window = ratio_in_slices(pair, LATER, min(SLICES))
        later = {"in slices of 1 s": ratio, f"in windows of {WINDOW_S} s": ratio_alone(pair, LATER)}
    honest["in separate starts"] = ratio_of_starts(stage)
    return [outcome(honest, accused, later, outside(window))]

"""Work that slices could hide: an unlike pair, measured in slices, in long windows and in separate starts. Weekly."""

from collections.abc import Mapping

from tandem.record.selftest import Outcome
from tandem.record.window import Window
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import OUTSIDE, Running, Stage, cost_us

GROUP = "carry-over"
PLAIN, DEARER = "kind=spin&us=1000", "kind=spin&us=1400"
LATER = "kind=spin&us=1300&later_us=100&later_ms=1000"
"""A server that does as much work as DEARER in all, a part of it a second later."""
SLICES = {1.0: 12, 2.0: 6, 4.0: 3}
"""Length in seconds -> how many of each."""
WINDOW_S = 60
APART_MOST = 0.02
"""Most that the largest ratio may exceed the smallest."""


def ratio_in_slices(pair: Running, behaviour: str, slice_s: float) -> tuple[float, Window]:
    """CPU per request of a server with this behaviour by the plain one's, and its window."""
    plain, other = pair.labels
    made = pair.in_slices(SLICES[slice_s], {plain: PLAIN, other: behaviour}, slice_s)
    return cost_us(made[other]) / cost_us(made[plain]), made[other]


def ratio_alone(pair: Running, behaviour: str) -> float:
    """CPU per request of that server by the plain one's, in one long window of each."""
    plain, other = (
        cost_us(pair.alone(label, WINDOW_S, how))
        for label, how in zip(pair.labels, (PLAIN, behaviour), strict=True)
    )
    return other / plain


def ratio_of_starts(stage: Stage) -> float:
    """CPU per request of the dearer server by the plain one's, in one long window of a fresh start of each."""
    costs = []
    for behaviour in (PLAIN, DEARER):
        with stage.running() as running:
            costs.append(cost_us(running.steady_window("closed", WINDOW_S, behaviour).window))
    return costs[1] / costs[0]


def apart(ratios: Mapping[str, float]) -> float:
    """Share by which the largest ratio exceeds the smallest."""
    return max(ratios.values()) / min(ratios.values()) - 1


def outside(window: Window) -> list[str]:
    """Texts of the findings about work in the others' seconds."""
    return [finding.text for finding in window.findings if finding.code == OUTSIDE]


Compared = tuple[Mapping[str, float], list[str]]
"""Way of measuring a pair -> its ratio; and texts of the findings about work in the others' seconds."""


def shown(found: Compared) -> str:
    """Each ratio, how far they are apart, and the findings."""
    ratios, accused = found
    told = ", ".join(f"× {ratio:.3f} {how}" for how, ratio in ratios.items())
    return "; ".join([f"{told}: {apart(ratios):.1%} apart", *(accused or [f"no {OUTSIDE}"])])


def outcome(honest: Compared, later: Compared) -> Outcome:
    """Judges the dearer server, and as the control the one that leaves work for later."""
    return KnownAnswer[Compared](
        name="an unlike pair in slices, in windows and in separate starts",
        group=GROUP,
        expected=f"one ratio of CPU per request, and no {OUTSIDE}",
        tolerance=f"{APART_MOST:.0%}",
        right=lambda found: apart(found[0]) <= APART_MOST and not found[1],
        shown=shown,
        broken="a server that does a part of its work a second later",
        caught=lambda found: apart(found[0]) > APART_MOST and bool(found[1]),
    ).judged(honest, later)


def run(stage: Stage) -> list[Outcome]:
    """The ratio does not depend on how it is measured; a server that works on in the others' seconds is found."""
    honest, accused = dict[str, float](), list[str]()
    with stage.running(number=2) as pair:
        for slice_s in SLICES:
            ratio, window = ratio_in_slices(pair, DEARER, slice_s)
            honest[f"in slices of {slice_s:.0f} s"] = ratio
            accused += outside(window)
        honest[f"in windows of {WINDOW_S} s"] = ratio_alone(pair, DEARER)
        ratio, window = ratio_in_slices(pair, LATER, min(SLICES))
        later = {"in slices of 1 s": ratio, f"in windows of {WINDOW_S} s": ratio_alone(pair, LATER)}
    honest["in separate starts"] = ratio_of_starts(stage)
    return [outcome((honest, accused), (later, outside(window)))]

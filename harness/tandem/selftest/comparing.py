"""Differences and their absence, in pairs of windows on the calibrated server, whose CPU cost is known. Weekly."""

import random

import numpy as np

from tandem.analysis import ratios
from tandem.load.rows import Floats
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import Running, Stage, cost_us

GROUP = "comparing"
COST_US = 1000.0
SLOWDOWNS = (0.03, 0.05, 0.10)
SESSIONS, PAIRS, POWER_SESSIONS = 100, 6, 10
WINDOW_S = 2
SLICES, SLICED_WINDOWS = 8, 3
"""Slices of each server in a window, and pairs of windows for each slowdown."""
REJECTED = (1, 10)
"""Least and most 95 % intervals that leave out 1, in 100 comparisons of a thing with itself."""
MARGIN = 0.01
"""Largest distance of the estimated slowdown from the injected one."""


def rejected(ln_ratios: Floats) -> bool:
    """Whether the interval leaves out 1, which `compare` asks of the doubled reference."""
    interval = ratios.compare(ln_ratios.tolist()).interval
    return interval is not None and not interval[0] <= 1 <= interval[1]


def word(ln_ratios: Floats) -> ratios.Word:
    """The verdict of `compare` on the cost."""
    return ratios.verdict(ratios.compare(ln_ratios.tolist()), better="lower")


def spin(slowdown: float) -> str:
    """The behaviour of a server that takes so much more CPU time for a request."""
    return f"kind=spin&us={COST_US * (1 + slowdown):.1f}"


def pairs(running: Running, slowdown: float, number: int, seed: int) -> Floats:
    """ln(CPU per request of the slower / of the other), one value per pair of windows, in random order."""
    chance, out = random.Random(f"{seed} {slowdown}"), []
    for _ in range(number):
        costs_us: dict[bool, float] = {}
        for slow in chance.sample([False, True], 2):
            behaviour = spin(slowdown if slow else 0.0)
            seen = running.steady_window("closed", WINDOW_S, behaviour, settled=False)
            costs_us[slow] = cost_us(seen.window)
        out.append(float(np.log(costs_us[True] / costs_us[False])))
    return np.array(out)


def sliced(pair: Running, slowdown: float, number: int) -> Floats:
    """ln(CPU per request of the slower / of the other), one value for each two windows in slices. The two starts change
    places between them, so that their own difference cancels."""
    out = []
    for _ in range(number):
        halves = []
        for slower, other in (pair.labels, pair.labels[::-1]):
            made = pair.in_slices(SLICES, {slower: spin(slowdown), other: spin(0.0)})
            halves.append(np.log(cost_us(made[slower]) / cost_us(made[other])))
        out.append(float(np.mean(halves)))
    return np.array(out)


def size(ln_ratios: Floats) -> float:
    """The mean slowdown."""
    return float(np.expm1(ln_ratios.mean()))


def in_slices(stage: Stage, windows: int = SLICED_WINDOWS) -> list[Outcome]:
    """Slices, as `compare` has them within a block: no difference and injected ones come out as large as they are."""
    with stage.running(number=2) as pair:
        same = size(sliced(pair, 0.0, windows))
        found = {slowdown: size(sliced(pair, slowdown, windows)) for slowdown in SLOWDOWNS}

    def check(slowdown: float) -> KnownAnswer[float]:
        return KnownAnswer(
            name=f"slowdown of {slowdown:.0%} in slices",
            group=GROUP,
            expected=f"{slowdown:+.1%} CPU per request over {windows} pairs of windows of {SLICES} slices",
            tolerance=f"{MARGIN:.0%} of the cost",
            right=lambda more: abs(more - slowdown) <= MARGIN,
            shown=lambda more: f"{more:+.2%}",
            broken="no slowdown",
            caught=lambda more: abs(more) <= MARGIN < abs(more - slowdown),
        )

    return [check(slowdown).judged(more, same) for slowdown, more in found.items()]


def same_with_itself(stage: Stage, sessions: int = SESSIONS) -> list[Outcome]:
    """A/A: 1 to 10 of 100 intervals leave out 1, and no more sessions report a difference; 10 % more cost is
    reported."""
    with stage.running() as running:
        outside, told = 0, 0
        for number in range(sessions):
            found = pairs(running, 0.0, PAIRS, number)
            outside += rejected(found)
            told += word(found) in ("cheaper", "dearer")
            stage.view.note(f"  A/A: {outside} of {number + 1} intervals exclude 1, {told} show a difference")
        control = word(pairs(running, SLOWDOWNS[-1], PAIRS, 0))
    low, high = (limit * sessions / 100 for limit in REJECTED)
    aa = f"{outside} of {sessions} exclude 1, {told} report a difference"
    return [
        KnownAnswer[str](
            name=f"{sessions} A/A sessions of {PAIRS} pairs",
            group=GROUP,
            expected="5 % of the intervals exclude 1, and no more report a difference",
            tolerance=f"{low:.0f} to {high:.0f}",
            right=lambda _: low <= outside <= high and told <= high,
            shown=str,
            broken=f"{SLOWDOWNS[-1]:.0%} more CPU injected",
            caught=lambda said: said == "dearer",
        ).judged(aa, control)
    ]


def power(stage: Stage, sessions: int = POWER_SESSIONS) -> list[Outcome]:
    """An injected slowdown is found, and its size is right."""

    with stage.running() as running:
        still = pairs(running, 0.0, PAIRS, 1)
        return [
            _found(slowdown, [pairs(running, slowdown, PAIRS, seed) for seed in range(sessions)], still)
            for slowdown in SLOWDOWNS
        ]


def _found(slowdown: float, sessions: list[Floats], still: Floats) -> Outcome:
    def told(found: list[Floats]) -> tuple[float, int, int]:
        """The mean slowdown, in how many sessions it is called dearer, and how many there are."""
        return size(np.array(found)), sum(word(one) == "dearer" for one in found), len(found)

    return KnownAnswer[tuple[float, int, int]](
        name=f"slowdown of {slowdown:.0%}",
        group=GROUP,
        expected=f"{slowdown:+.1%} CPU per request",
        tolerance=f"{MARGIN:.0%} of the cost, found in 80 %",
        right=lambda found: abs(found[0] - slowdown) <= MARGIN and found[1] >= 0.8 * found[2],
        shown=lambda found: "{:+.2%}, dearer in {} of {} sessions".format(*found) + f" of {PAIRS} pairs",
        broken="no slowdown",
        caught=lambda found: abs(found[0] - slowdown) > MARGIN and not found[1],
    ).judged(told(sessions), told([still]))

"""Differences and their absence, on calibrated servers whose CPU cost is known: in pairs of windows, in slices, in separate starts, and
with and without the probes. Weekly."""

import random
from collections.abc import Callable, Mapping
from statistics import fmean

import numpy as np

from tandem.analysis import ratios
from tandem.hosts import HERE
from tandem.lab.readiness import settle
from tandem.load.rows import Floats, answers_per_second
from tandem.probes import sampler
from tandem.record.selftest import Outcome
from tandem.record.window import Window
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import OUTSIDE, Running, Stage, require

COST_US = 1000.0
SLOWDOWNS = (0.03, 0.05, 0.10)
SESSIONS, PAIRS, POWER_SESSIONS = 100, 6, 10
WINDOW_S = 2
SLICES, SLICED_WINDOWS = 8, 3
"""Slices of each server in a window, and pairs of windows for each slowdown."""
REJECTED = (1, 10)
"""Least and most 95 % intervals that leave out 1, in 100 comparisons of a thing with itself."""
MARGIN = 0.01
"""Largest distance of the estimated slowdown from the injected one, and the most that probes may cost."""


def spin(slowdown: float) -> str:
    """The behaviour of a server that takes so much more CPU time for a request."""
    return f"kind=spin&us={COST_US * (1 + slowdown):.1f}"


def cost_us(window: Window) -> float:
    """CPU per request; not a number where nothing was answered."""
    return window.app_cpu_us_per_request or float("nan")


def ln_ratios(number: int, seed: int | str, measure: Callable[[bool], float | None]) -> Floats:
    """ln(measure(True) / measure(False)), one value for each pair, in random order; without the pairs in which one is None."""
    chance, out = random.Random(seed), []
    for _ in range(number):
        values = {changed: measure(changed) for changed in chance.sample([False, True], 2)}
        if (one := values[True]) is not None and (other := values[False]) is not None:
            out.append(float(np.log(one / other)))
    return np.array(out)


# ---- pairs of windows ----


def rejected(ln: Floats) -> bool:
    """Whether the interval leaves out 1, which `compare` asks of the doubled reference."""
    interval = ratios.compare(ln.tolist()).interval
    return interval is not None and not interval[0] <= 1 <= interval[1]


def word(ln: Floats) -> ratios.Word:
    """The verdict of `compare` on the cost."""
    return ratios.verdict(ratios.compare(ln.tolist()), better="lower")


def size(ln: Floats) -> float:
    """The mean slowdown."""
    return float(np.expm1(ln.mean()))


def pairs(running: Running, slowdown: float, seed: int) -> Floats:
    """ln(CPU per request of the slower / of the other), one value per pair of windows, in random order."""

    def cost(slow: bool) -> float:
        behaviour = spin(slowdown if slow else 0.0)
        return cost_us(running.steady_window(WINDOW_S, behaviour, settled=False).window)

    return ln_ratios(PAIRS, f"{seed} {slowdown}", cost)


def same_with_itself(stage: Stage, sessions: int = SESSIONS) -> Outcome:
    """A/A: 1 to 10 of 100 intervals leave out 1, and no more sessions report a difference; 10 % more cost is
    reported."""
    with stage.running() as running:
        excluding, differing = 0, 0
        for number in range(sessions):
            ln = pairs(running, 0.0, number)
            excluding += rejected(ln)
            differing += word(ln) in ("cheaper", "dearer")
            counts = f"{excluding} of {number + 1} intervals exclude 1, {differing} show a difference"
            stage.view.note(f"  A/A: {counts}")
        control = word(pairs(running, SLOWDOWNS[-1], 0))
    low, high = (limit * sessions / 100 for limit in REJECTED)
    aa = f"{excluding} of {sessions} exclude 1, {differing} report a difference"
    return KnownAnswer[str](
        name=f"{sessions} A/A sessions of {PAIRS} pairs",
        expected="5 % of the intervals exclude 1, and no more report a difference",
        tolerance=f"{low:.0f} to {high:.0f}",
        right=lambda _: low <= excluding <= high and differing <= high,
        shown=str,
        broken=f"{SLOWDOWNS[-1]:.0%} more CPU injected",
        caught=lambda said: said == "dearer",
    ).judged(aa, control)


def power(stage: Stage, sessions: int = POWER_SESSIONS) -> list[Outcome]:
    """An injected slowdown is found, and its size is right."""
    with stage.running() as running:
        still = [pairs(running, 0.0, 1)]
        slower = {more: [pairs(running, more, seed) for seed in range(sessions)] for more in SLOWDOWNS}

    def shown(of: list[Floats]) -> str:
        dearer = f"dearer in {_dearer(of)} of {len(of)} sessions of {PAIRS} pairs"
        return f"{size(np.array(of)):+.2%}, {dearer}"

    def check(slowdown: float) -> KnownAnswer[list[Floats]]:
        return KnownAnswer(
            name=f"slowdown of {slowdown:.0%}",
            expected=f"{slowdown:+.1%} CPU per request",
            tolerance=f"{MARGIN:.0%} of the cost, found in 80 %",
            right=lambda of: abs(size(np.array(of)) - slowdown) <= MARGIN and _dearer(of) >= 0.8 * len(of),
            shown=shown,
            broken="no slowdown",
            caught=lambda of: abs(size(np.array(of)) - slowdown) > MARGIN and not _dearer(of),
        )

    return [check(slowdown).judged(of, still) for slowdown, of in slower.items()]


def _dearer(sessions: list[Floats]) -> int:
    return sum(word(one) == "dearer" for one in sessions)


# ---- slices, as `compare` has them within a block ----


def in_slices(stage: Stage, windows: int = SLICED_WINDOWS) -> list[Outcome]:
    """No difference and injected ones come out as large as they are. The two starts change places between two windows, so that
    their own difference cancels."""
    with stage.running(number=2) as pair:

        def sliced(slowdown: float) -> float:
            """The mean slowdown, of CPU per request."""
            halves = []
            for slower, other in (pair.labels, pair.labels[::-1]) * windows:
                made = pair.in_slices(SLICES, {slower: spin(slowdown), other: spin(0.0)})
                halves.append(float(np.log(cost_us(made[slower]) / cost_us(made[other]))))
            return size(np.array(halves))

        same, *found = [sliced(slowdown) for slowdown in (0.0, *SLOWDOWNS)]

    def check(slowdown: float) -> KnownAnswer[float]:
        return KnownAnswer(
            name=f"slowdown of {slowdown:.0%} in slices",
            expected=f"{slowdown:+.1%} CPU per request over {windows} pairs of windows of {SLICES} slices",
            tolerance=f"{MARGIN:.0%} of the cost",
            right=lambda more: abs(more - slowdown) <= MARGIN,
            shown=lambda more: f"{more:+.2%}",
            broken="no slowdown",
            caught=lambda more: abs(more) <= MARGIN < abs(more - slowdown),
        )

    return [check(slowdown).judged(more, same) for slowdown, more in zip(SLOWDOWNS, found, strict=True)]


# ---- work that slices could hide ----

DEARER = spin(0.4)
LATER = "kind=spin&us=1300&later_us=100&later_ms=1000"
"""A server that does as much work as DEARER in all, a part of it a second later."""
SLICES_OF_S = {1.0: 12, 2.0: 6, 4.0: 3}
"""Length in seconds -> how many of each."""
LONG_S = 60
APART_MOST = 0.02
"""Most that the largest ratio may exceed the smallest."""

Compared = tuple[Mapping[str, float], list[str]]
"""Way of measuring a pair -> its ratio; and texts of the findings about work in the others' seconds."""


def ratio_in_slices(pair: Running, behaviour: str, slice_s: float) -> tuple[float, list[str]]:
    """CPU per request of a server with this behaviour by the plain one's, and the findings about its work in the others' seconds."""
    plain, other = pair.labels
    made = pair.in_slices(SLICES_OF_S[slice_s], {plain: spin(0.0), other: behaviour}, slice_s)
    return cost_us(made[other]) / cost_us(made[plain]), outside(made[other])


def ratio_alone(pair: Running, behaviour: str) -> float:
    """CPU per request of that server by the plain one's, in one long window of each."""
    plain, other = pair.labels
    base_us = cost_us(pair.alone(plain, LONG_S, spin(0.0)))
    return cost_us(pair.alone(other, LONG_S, behaviour)) / base_us


def ratio_of_starts(stage: Stage) -> float:
    """CPU per request of the dearer server by the plain one's, in one long window of a fresh start of each."""
    costs = []
    for behaviour in (spin(0.0), DEARER):
        with stage.running() as running:
            costs.append(cost_us(running.steady_window(LONG_S, behaviour).window))
    return costs[1] / costs[0]


def apart(found: Mapping[str, float]) -> float:
    """Share by which the largest ratio exceeds the smallest."""
    return max(found.values()) / min(found.values()) - 1


def outside(window: Window) -> list[str]:
    """Texts of the findings about work in the others' seconds."""
    return [finding.text for finding in window.findings if finding.code == OUTSIDE]


def hidden_work(honest: Compared, later: Compared) -> Outcome:
    """Judges the dearer server, and as the control the one that leaves work for later."""

    def shown(found: Compared) -> str:
        each = ", ".join(f"× {ratio:.3f} {how}" for how, ratio in found[0].items())
        return "; ".join([f"{each}: {apart(found[0]):.1%} apart", *(found[1] or [f"no {OUTSIDE}"])])

    return KnownAnswer[Compared](
        name="an unlike pair in slices, in windows and in separate starts",
        expected=f"one ratio of CPU per request, and no {OUTSIDE}",
        tolerance=f"{APART_MOST:.0%}",
        right=lambda found: apart(found[0]) <= APART_MOST and not found[1],
        shown=shown,
        broken="a server that does a part of its work a second later",
        caught=lambda found: apart(found[0]) > APART_MOST and bool(found[1]),
    ).judged(honest, later)


def carry_over(stage: Stage) -> Outcome:
    """The ratio does not depend on how it is measured; a server that works on in the others' seconds is found."""
    honest, accused = dict[str, float](), list[str]()
    with stage.running(number=2) as pair:
        for slice_s in SLICES_OF_S:
            honest[f"in slices of {slice_s:.0f} s"], texts = ratio_in_slices(pair, DEARER, slice_s)
            accused += texts
        honest[f"in windows of {LONG_S} s"] = ratio_alone(pair, DEARER)
        ratio, texts = ratio_in_slices(pair, LATER, min(SLICES_OF_S))
        later = {"in slices of 1 s": ratio, f"in windows of {LONG_S} s": ratio_alone(pair, LATER)}
    honest["in separate starts"] = ratio_of_starts(stage)
    return hidden_work((honest, accused), (later, texts))


# ---- what measuring costs: the same load with and without sampler, prober, hiccup meters and psrecord ----

PROBED_PAIRS, GREEDY_PAIRS, PROBED_S = 60, 8, 4
LOAD = spin(0.0)
"""The application's CPU is the limit: what the probes take from it is missing."""
STEAL_MOST = 0.02
"""A pair in which the hypervisor took more than this from one side is left out."""


def rate(running: Running, watched: bool) -> float | None:
    """Answers per second of one closed window, without its first and its last second; None where the hypervisor took too much."""
    settle(HERE)
    before = HERE.read_cpu()
    if watched:
        answers = answers_per_second(running.window(PROBED_S, LOAD).rows)
    else:
        running.arm(LOAD)
        psrecord = running.app._psrecord  # it runs as long as the application
        assert psrecord is not None
        psrecord.freeze()
        try:
            answers = running.app.warm_up(PROBED_S)
        finally:
            psrecord.thaw()
    used = HERE.read_cpu().since(before)
    return fmean(answers[1 : PROBED_S - 1]) if used.steal_s / used.total_s <= STEAL_MOST else None


def cost_of_probes(ln: Floats, greedy: Floats) -> Outcome:
    """The probes, and as the negative control probes that never pause."""

    def same(found: Floats) -> bool:
        return bool(ratios.p_equivalence(found, MARGIN) < ratios.ALPHA)

    def shown(found: Floats) -> str:
        ratio = ratios.compare(found.tolist())
        assert ratio.ratio is not None
        between = (
            "" if ratio.interval is None else " ({:+.2%} to {:+.2%})".format(*(e - 1 for e in ratio.interval))
        )
        return f"{ratio.ratio - 1:+.2%}{between} in {ratio.n} pairs"

    return KnownAnswer[Floats](
        name="what the probes cost",
        expected="the same goodput with and without them",
        tolerance=f"{MARGIN:.0%}, by two one-sided t tests",
        right=same,
        shown=shown,
        broken="probes that never pause",
        caught=lambda found: not same(found) and abs(size(found)) > MARGIN,
    ).judged(ln, greedy)


def overhead(stage: Stage, number: int = PROBED_PAIRS) -> Outcome:
    """All pairs in one fresh start."""
    with stage.running() as running:
        found = ln_ratios(number, 1, lambda watched: rate(running, watched))
        stage.view.note(f"  {len(found)} of {number} pairs were not disturbed")
        usual, sampler.INTERVAL_S = sampler.INTERVAL_S, 0.0
        try:
            greedy = ln_ratios(GREEDY_PAIRS, 2, lambda watched: rate(running, watched))
        finally:
            sampler.INTERVAL_S = usual
    require(min(len(found), len(greedy)) > 1, "the host disturbed every pair")
    return cost_of_probes(found, greedy)

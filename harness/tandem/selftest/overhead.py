"""The cost of measuring: the same load with and without sampler, prober, hiccup meters and psrecord. Weekly."""

import random

import numpy as np

from tandem.analysis import ratios
from tandem.hosts import HERE
from tandem.lab.readiness import settle
from tandem.load.rows import Floats, answers_per_second
from tandem.probes import sampler
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import Running, Stage, require

GROUP = "sampler"
PAIRS, CONTROL_PAIRS = 60, 8
WINDOW_S = 4
LOAD = "kind=spin&us=1000"
"""The application's CPU is the limit: what the probes take from it is missing."""
MARGIN = 0.01
STEAL_MOST = 0.02
"""A pair in which the hypervisor took more than this from one side is left out."""


def inner(answers: list[int], seconds: int) -> float:
    """Answers per second without the first and the last second of a window."""
    return float(np.mean(answers[1 : seconds - 1]))


def rate(running: Running, watched: bool) -> tuple[float, float]:
    """Answers per second of one closed window, and the share of the CPU that the hypervisor took."""
    settle(HERE)
    before = HERE.read_cpu()
    if watched:
        answers = answers_per_second(running.window("closed", WINDOW_S, LOAD).rows)
    else:
        running.arm(LOAD)
        psrecord = running.app._psrecord  # it runs as long as the application
        assert psrecord is not None
        psrecord.freeze()
        try:
            answers = running.app.warm_up(WINDOW_S)
        finally:
            psrecord.thaw()
    used = HERE.read_cpu().since(before)
    return inner(answers, WINDOW_S), used.steal_s / used.total_s


def pairs(running: Running, number: int, seed: int) -> Floats:
    """ln(rate with the probes / without them), one value per pair that was not disturbed, in random order."""
    chance, out = random.Random(seed), []
    for _ in range(number):
        found = {watched: rate(running, watched) for watched in chance.sample([False, True], 2)}
        if max(steal for _, steal in found.values()) <= STEAL_MOST:
            out.append(float(np.log(found[True][0] / found[False][0])))
    return np.array(out)


def outcome(ln_ratios: Floats, greedy: Floats) -> Outcome:
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
        group=GROUP,
        expected="the same goodput with and without them",
        tolerance=f"{MARGIN:.0%}, by two one-sided t tests",
        right=same,
        shown=shown,
        broken="probes that never pause",
        caught=lambda found: not same(found) and abs(np.exp(found.mean()) - 1) > MARGIN,
    ).judged(ln_ratios, greedy)


def run(stage: Stage, number: int = PAIRS) -> list[Outcome]:
    """All pairs in one fresh start."""
    with stage.running() as running:
        found = pairs(running, number, 1)
        stage.view.note(f"  {len(found)} of {number} pairs were not disturbed")
        usual, sampler.INTERVAL_S = sampler.INTERVAL_S, 0.0
        try:
            greedy = pairs(running, CONTROL_PAIRS, 2)
        finally:
            sampler.INTERVAL_S = usual
    require(min(len(found), len(greedy)) > 1, "the host disturbed every pair")
    return [outcome(found, greedy)]

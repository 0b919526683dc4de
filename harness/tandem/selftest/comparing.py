"""Can a difference be told from none? Pairs of windows on the calibrated server, whose CPU cost is known. Weekly."""

import random

import numpy as np
from scipy import stats

from tandem.rows import Floats
from tandem.selftest.outcome import Outcome
from tandem.selftest.stage import Running, Stage

GROUP = "comparing"
COST_US = 1000.0
SLOWDOWNS = (0.03, 0.05, 0.10)
SESSIONS, PAIRS, POWER_SESSIONS = 100, 6, 10
WINDOW_S = 3
LEVEL = 0.05
REJECTED = (1, 10)
"""Of 100 comparisons of a thing with itself at the 5 % level."""
MARGIN = 0.01
"""So far the estimated slowdown may be from the injected one."""


def rejected(ln_ratios: Floats) -> bool:
    """Does the 95 % t interval of the mean leave out 0?"""
    return bool(stats.ttest_1samp(ln_ratios, 0.0).pvalue < LEVEL)


def pairs(running: Running, slowdown: float, number: int, seed: int) -> Floats:
    """ln(CPU per request of the slower / of the other), one value per pair of windows, in random order."""
    chance, out = random.Random(f"{seed} {slowdown}"), []
    for _ in range(number):
        costs: dict[bool, float] = {}
        for slow in chance.sample([False, True], 2):
            us = COST_US * (1 + (slowdown if slow else 0.0))
            window = running.steady_window("closed", WINDOW_S, f"kind=spin&us={us:.1f}").window
            costs[slow] = window.app_cpu_us_per_request or float("nan")
        out.append(float(np.log(costs[True] / costs[False])))
    return np.array(out)


def same_with_itself(stage: Stage, sessions: int = SESSIONS) -> list[Outcome]:
    """A/A: a difference is claimed in 1 to 10 of 100 sessions. Negative control: 10 % more is claimed in all."""
    with stage.running() as running:
        claimed = 0
        for number in range(sessions):
            claimed += rejected(pairs(running, 0.0, PAIRS, number))
            stage.view.note(f"  A/A: {claimed} of {number + 1} sessions claim a difference")
        control = rejected(pairs(running, SLOWDOWNS[-1], PAIRS, 0))
    low, high = (limit * sessions / 100 for limit in REJECTED)
    return [
        Outcome(
            name=f"{sessions} A/A sessions of {PAIRS} pairs",
            group=GROUP,
            expected="a difference in 5 % of them",
            measured=f"{claimed} of {sessions}",
            tolerance=f"{low:.0f} to {high:.0f}",
            passed=low <= claimed <= high,
            negative_control=f"{SLOWDOWNS[-1]:.0%} more CPU injected: {'claimed' if control else 'not claimed'}",
            negative_control_failed=control,
        )
    ]


def power(stage: Stage, sessions: int = POWER_SESSIONS) -> list[Outcome]:
    """An injected slowdown is found, and its size is right."""
    out = []
    with stage.running() as running:
        still = pairs(running, 0.0, PAIRS, 1)
        for slowdown in SLOWDOWNS:
            found = [pairs(running, slowdown, PAIRS, seed) for seed in range(sessions)]
            claimed = sum(map(rejected, found))
            size = float(np.expm1(np.mean(found)))
            out.append(
                Outcome(
                    name=f"slowdown of {slowdown:.0%}",
                    group=GROUP,
                    expected=f"{slowdown:+.1%} CPU per request",
                    measured=f"{size:+.2%}, found in {claimed} of {sessions} sessions of {PAIRS} pairs",
                    tolerance=f"{MARGIN:.0%} of the cost, found in 80 %",
                    passed=abs(size - slowdown) <= MARGIN and claimed >= 0.8 * sessions,
                    negative_control=f"no slowdown: {float(np.expm1(still.mean())):+.2%}",
                    negative_control_failed=abs(float(np.expm1(still.mean())) - slowdown) > MARGIN,
                )
            )
    return out

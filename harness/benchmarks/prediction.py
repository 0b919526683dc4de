"""How often the prediction interval over sessions holds the next one, and how often it calls one that was shifted outside.

    PYTHONPATH=harness python3 harness/benchmarks/prediction.py > results/reference-benchmarks/prediction.json

Simulated and seeded, with the code that the documents use. A session's logarithm is the truth, plus what differs from session
to session, plus the session's own error. The last kinds of session keep to no normal distribution, as the formula asks.
"""

import math
from collections.abc import Callable

import numpy as np
from pydantic import BaseModel

from tandem.analysis.prediction import next_values
from tandem.analysis.ratios import ALPHA, CONFIDENCE, Floats

TIMES = 40_000
SESSIONS = (5, 8, 12)
SCATTERS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.10)
"""Standard deviation of the logarithm from session to session."""
WITHIN = 0.01
"""Standard deviation of a session's own error."""
SHIFT = 0.20
FAMILY = 12
"""Contrasts of one session that share one limit: as many as there may be main statements."""
MODELS_APART, OF_A_MODEL = 0.09, 0.015
HEAVY, HEAVY_SCATTER = 4, 0.02
SEED = 20261126


def two_models(chance: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Each session is on either of two CPU models."""
    return chance.integers(0, 2, shape) * MODELS_APART + chance.normal(0, OF_A_MODEL, shape)


def heavy_tails(chance: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Some sessions are far from all others."""
    return chance.standard_t(HEAVY, shape) * HEAVY_SCATTER / math.sqrt(HEAVY / (HEAVY - 2))


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    **{f"{100 * sd:g} %": lambda chance, shape, sd=sd: chance.normal(0, sd, shape) for sd in SCATTERS},  # type: ignore[misc]
    f"two CPU models {100 * MODELS_APART:g} % apart, {100 * OF_A_MODEL:g} % within each": two_models,
    f"{100 * HEAVY_SCATTER:g} % with heavy tails (Student's t, {HEAVY} degrees of freedom)": heavy_tails,
}


class Simulated(BaseModel):
    """One kind of session, and how many of them were known."""

    kind: str
    sessions: int
    holds: float
    """Share of next sessions inside the interval."""
    shifted_outside: float
    """Share of next sessions outside, of those that were shifted by SHIFT, half of them up and half down."""
    shifted_outside_in_family: float
    """The same by the limit that FAMILY contrasts share."""


class Predictions(BaseModel):
    """results/reference-benchmarks/prediction.json"""

    times: int
    within: float
    shift: float
    family: int
    found: list[Simulated]


def simulated(kind: str, sessions: int, times: int, chance: np.random.Generator) -> Simulated:
    """Draws sessions and a further one, so many times."""
    shape = times, sessions + 1
    values = KINDS[kind](chance, shape) + chance.normal(0, WITHIN, shape)
    known, following = values[:, :-1], values[:, -1]
    shifted = following + np.where(np.arange(times) % 2, 1, -1) * math.log1p(SHIFT)

    def inside(new: Floats, confidence: float) -> float:
        low, high = next_values(known, confidence)
        return float(((low <= new) & (new <= high)).mean())

    shared = 1 - ALPHA / FAMILY
    return Simulated(
        kind=kind,
        sessions=sessions,
        holds=inside(following, CONFIDENCE),
        shifted_outside=1 - inside(shifted, CONFIDENCE),
        shifted_outside_in_family=1 - inside(shifted, shared),
    )


def predictions(times: int = TIMES) -> Predictions:
    """Every kind with every number of sessions."""
    chance = np.random.default_rng(SEED)
    found = [simulated(kind, sessions, times, chance) for kind in KINDS for sessions in SESSIONS]
    return Predictions(times=times, within=WITHIN, shift=SHIFT, family=FAMILY, found=found)


if __name__ == "__main__":
    print(predictions().model_dump_json(indent=1))

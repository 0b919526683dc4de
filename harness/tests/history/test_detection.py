"""harness/benchmarks/detection.py: what is committed is what it finds."""

from itertools import pairwise
from typing import cast

import numpy as np
from harness_places import ROOT

from benchmarks import detection


def test_neighbours_are_drawn_together() -> None:
    drawn = detection.again([float(n) for n in range(31)])(np.random.default_rng(1), 20, 30)
    runs = drawn.reshape(20, -1, detection.NEIGHBOURS)
    assert {*np.diff(runs, axis=2).ravel()} == {1.0, -30.0}, "the last is followed by the first"
    assert len({*runs[:, :, 0].ravel()}) > 20


def test_a_large_step_is_seen_at_once_and_a_small_one_later() -> None:
    found = detection.detect("x", detection.normal, series=40)
    assert found.within("5 %", 0.5) == 2
    assert cast(int, found.within("2 %", 0.9)) > cast(int, found.within("5 %", 0.9))
    assert all(later >= earlier for seen in found.seen.values() for earlier, later in pairwise(seen))


def test_the_committed_curves_are_those_of_todays_judge() -> None:
    """Who changes the judge draws them anew: the benchmark says how."""
    committed = (ROOT / "results/reference-nightly/detection.json").read_text()
    first = detection.Detections.model_validate_json(committed).found[0]
    assert detection.detect(first.series, detection.normal) == first


def test_a_family_raises_fewer_at_its_own_limit() -> None:
    found = detection.of_family("x", detection.heavy, families=2)
    rare = cast(int, found.nights["3.5"])
    assert found.at_limit is None or found.at_limit > 4 * rare
    assert rare < 10 < found.alone

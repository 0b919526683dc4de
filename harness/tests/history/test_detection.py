"""harness/benchmarks/detection.py: what is committed is what it finds."""

from itertools import pairwise

import numpy as np
import pytest
from harness_places import ROOT

from benchmarks import detection
from tandem.analysis import change


def test_neighbours_are_drawn_together() -> None:
    drawn = detection.again([float(n) for n in range(31)])(np.random.default_rng(1), 20, 30)
    runs = drawn.reshape(20, -1, detection.NEIGHBOURS)
    assert {*np.diff(runs, axis=2).ravel()} == {1.0, -30.0}, "the last is followed by the first"
    assert len({*runs[:, :, 0].ravel()}) > 20


def test_a_large_step_is_seen_at_once_and_a_small_one_later() -> None:
    found = detection.detect("x", detection.normal, series=40)
    assert detection.first_at(found.seen["5 %"], 0.5) == 2
    late, soon = (detection.first_at(found.seen[step], 0.9) for step in ("2 %", "5 %"))
    assert late is not None
    assert soon is not None
    assert late > soon
    assert all(later >= earlier for seen in found.seen.values() for earlier, later in pairwise(seen))


def test_the_committed_curves_are_those_of_todays_judge() -> None:
    """Who changes the judge draws them anew: the benchmark says how."""
    committed = (ROOT / "results/reference-nightly/detection.json").read_text()
    first = detection.Detections.model_validate_json(committed).found[0]
    assert detection.detect(first.series, detection.normal) == first


def test_a_family_raises_few_at_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = detection.of_family("x", detection.heavy, families=2).at_limit
    monkeypatch.setattr(change, "family_limit", lambda _: 3.5)
    often = detection.of_family("x", detection.heavy, families=2).at_limit
    assert often is not None
    assert often < 10, "the control: at a lower one"
    assert rare is None or rare > 4 * often

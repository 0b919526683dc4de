"""harness/benchmarks/detection.py: what is committed is what it finds."""

from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from harness_nights import night
from harness_places import ROOT

from benchmarks import detection
from documents.records import Records
from tandem.history import files
from tandem.history.night import Line, Program

GOOD, SLOW = "1" * 40, "2" * 40
NIGHTS, SLOW_FROM = 60, 40


def history(folder: Path) -> Path:
    """Of one image, then of a slow one. The frozen lines have values of their own."""
    for number in range(NIGHTS):
        slow = number >= SLOW_FROM
        program = Program(tag="b" if slow else "a", commit=SLOW if slow else GOOD)
        values: dict[Line, float] = {"today": number / 1000, "frozen": -number / 1000}
        made = night(number, values, programs={"node": program}, frozen={"node": GOOD[:12]})
        files.append(folder, made)
    return folder


def test_real_values_are_those_of_the_frozen_sources_or_where_too_few_of_the_frozen_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = history(tmp_path)
    [(name, values)] = detection.of_history(folder)
    assert name == "node, index, duet_cpu_us_per_request, today"
    assert values == [number / 1000 for number in range(SLOW_FROM)]
    monkeypatch.setattr(detection, "ENOUGH", SLOW_FROM + 1)
    [(name, values)] = detection.of_history(folder)
    assert name.endswith("frozen")
    assert values == [-number / 1000 for number in range(NIGHTS)]


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
    """Who changes the judge draws them anew: python3 harness/benchmarks/detection.py --keep …"""
    committed = Records(ROOT).detections()
    first = committed.found[0]
    assert detection.detect(first.series, detection.normal) == first


def test_a_family_raises_fewer_at_its_own_limit() -> None:
    found = detection.of_family("x", detection.heavy, families=2)
    rare = cast(int, found.nights["3.5"])
    assert found.at_limit is None or found.at_limit > 4 * rare
    assert rare < 10 < found.alone

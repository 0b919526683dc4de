"""tandem.selftest.gap: what the check of a gap made on purpose accepts, and what it refuses."""

from dataclasses import replace

import pytest

from tandem.record.selftest import good
from tandem.selftest.gap import BLOCKS, TRUTH, CellServed, factors, judged, labels, serves


def windows(way_ms: float = 1.5, overslept: float = 1.01) -> list[CellServed]:
    """Each request takes so much longer than the server says, and the server so much longer than it is told."""
    made = []
    for block in range(1, BLOCKS + 1):
        for label in labels():
            connections, ms = serves(label)
            took_ms = ms * overslept
            made.append(
                CellServed(label, block, connections, ms, took_ms, connections * 1e3 / (took_ms + way_ms))
            )
    return made


def test_the_truth_by_hand_is_what_the_cells_come_to() -> None:
    exact = [(one.label, one.block, one.rate_rps) for one in windows(0.0, 1.0)]
    assert factors(exact) == pytest.approx(TRUTH)


def test_a_server_that_oversleeps_is_no_error_and_a_short_way_hardly_one() -> None:
    assert good(judged(windows()))
    assert good(judged(windows(way_ms=3.0, overslept=1.2)))


def test_a_factor_that_is_measured_wrongly_is_found() -> None:
    """One cell's rates are 8 % too low."""
    made = [
        replace(one, rate_rps=one.rate_rps * 0.92) if one.label == labels()[0] else one for one in windows()
    ]
    assert not judged(made).passed

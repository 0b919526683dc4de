"""benchmarks.prediction and its table: how well the interval for the next session holds."""

import json

import numpy as np
import pytest
from harness_places import ROOT

from benchmarks.prediction import KINDS, SCATTERS, SESSIONS, Predictions, predictions, simulated
from documents.deciding import prediction_coverage
from documents.records import Records

RECORDS = Records(ROOT)
COMMITTED = RECORDS.predictions()
NORMAL = list(KINDS)[: len(SCATTERS)]


def test_the_next_session_is_where_it_is_expected_whatever_the_scatter() -> None:
    found = [one for one in COMMITTED.found if one.kind in NORMAL]
    assert len(found) == len(SCATTERS) * len(SESSIONS)
    assert all(0.93 <= one.holds <= 0.97 for one in found)


def test_a_shifted_session_is_outside_where_the_scatter_is_small() -> None:
    small = [kind for kind, scatter in zip(NORMAL, SCATTERS, strict=True) if scatter <= 0.03]
    assert all(one.shifted_outside >= 0.9 for one in COMMITTED.found if one.kind in small)
    # Control: elsewhere it is not, and the table says so.
    assert all(one.shifted_outside < 0.5 for one in COMMITTED.found if one.kind == NORMAL[-1])


def test_what_is_committed_is_what_the_benchmark_finds() -> None:
    again = predictions(2_000)
    assert [(one.kind, one.sessions) for one in again.found] == [
        (one.kind, one.sessions) for one in COMMITTED.found
    ]
    for own, other in zip(again.found, COMMITTED.found, strict=True):
        for key, share in own.model_dump(exclude={"kind", "sessions"}).items():
            assert share == pytest.approx(getattr(other, key), abs=0.05), (own.kind, key)


def test_one_limit_of_a_family_holds_more_and_notices_less() -> None:
    one = simulated("3 %", 5, 4_000, np.random.default_rng(1))
    assert one.holds_in_family > one.holds
    assert one.shifted_outside_in_family < one.shifted_outside


def test_the_table_has_each_kind_and_number_of_sessions() -> None:
    head, _, *rows = prediction_coverage(RECORDS).splitlines()
    assert [f"{size} sessions" in head for size in SESSIONS] == [True] * len(SESSIONS)
    assert [row.split(" | ")[0].strip("| ") for row in rows] == list(KINDS)


def test_a_result_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="found"):
        Predictions.model_validate_json(json.dumps(COMMITTED.model_dump(exclude={"found"})))

"""tandem.load.rows.read_rows: a real file of oha 1.16, and files that are broken."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tandem.errors import TandemError
from tandem.load.rows import failures, in_flight, open_loop, read_rows, right_answers

OHA = [(200, 999, 4), (200, 1000, 188), (503, 5, 8)]
"""What the server of the recording says that it answered: status, length, number."""


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_real_file(fixtures: Path, load: str) -> None:
    rows = read_rows(fixtures / f"oha-{load}.db")
    assert len(rows) == 200
    assert int(right_answers(rows, 200, {1000}).sum()) == 188
    assert failures(rows, 200, {1000}) == {"status 503": 8, "wrong length": 4}
    counted = [(s, n, int(((rows.status == s) & (rows.length_bytes == n)).sum())) for s, n, _ in OHA]
    assert counted == OHA
    assert (rows.end_s > rows.start_s).all()
    assert 18 <= float(np.min(rows.end_s - rows.start_s)) * 1e3 < 25  # the server slept for 18 ms


def test_a_real_closed_loop_has_no_pace_and_was_busy(fixtures: Path) -> None:
    rows = read_rows(fixtures / "oha-closed.db")
    assert np.isnan(rows.paced_s).all()
    assert (np.diff(rows.start_s) >= 0).all()
    assert in_flight(rows, 3.0, 0.5, 0.5) == pytest.approx(4.0, abs=0.12)


def test_a_real_open_loop_is_on_time(fixtures: Path) -> None:
    """oha -q 100 -z 2s: an arrival every 10 ms. Proves that the reconstruction fits oha's pacer."""
    rows = read_rows(fixtures / "oha-open.db")
    load = open_loop(rows, 100, 2, 0)
    assert (load.scheduled, load.unsent) == (200, 0)
    assert (np.diff(rows.paced_s) >= 0).all()
    assert float(load.lateness_s.min()) > -0.005
    assert float(np.median(load.lateness_s)) < 0.010
    assert (load.response_s >= rows.end_s - rows.start_s - 0.005).all()


def copy_of(fixtures: Path, file: Path, *statements: str) -> Path:
    """A recording on which these statements ran."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes((fixtures / "oha-open.db").read_bytes())
    if statements:
        with closing(sqlite3.connect(file)) as database:
            database.executescript(";".join(statements))
    return file


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match="left no rows"):
        read_rows(tmp_path / "none.db")


@pytest.mark.parametrize("kept", [0, 50, 1000, 8192, 12_288])
def test_a_truncated_file(fixtures: Path, tmp_path: Path, kept: int) -> None:
    file = copy_of(fixtures, tmp_path / "short.db")
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(TandemError, match=r"short\.db: .* cannot be read"):
        read_rows(file)


@pytest.mark.parametrize("column", ["start", "start_latency_correction", "end", "status", "len_bytes"])
def test_a_missing_column(fixtures: Path, tmp_path: Path, column: str) -> None:
    file = copy_of(fixtures, tmp_path / "old.db", f'alter table oha rename column "{column}" to other')
    with pytest.raises(TandemError, match=column):
        read_rows(file)


def test_a_file_without_a_request_has_no_rows(fixtures: Path, tmp_path: Path) -> None:
    assert len(read_rows(copy_of(fixtures, tmp_path / "empty.db", "delete from oha"))) == 0


@pytest.mark.parametrize("name", ["a%41b", "a#b", "a?b", "a b"])
def test_signs_in_the_path_mean_nothing(fixtures: Path, tmp_path: Path, name: str) -> None:
    assert len(read_rows(copy_of(fixtures, tmp_path / name / "open.db"))) == 200


def test_rows_come_in_the_order_of_the_pace(fixtures: Path, tmp_path: Path) -> None:
    """oha writes a row when the answer is there, so a slow first request is the last row."""
    file = copy_of(
        fixtures,
        tmp_path / "shuffled.db",
        "create table other as select * from oha order by random()",
        "drop table oha",
        "alter table other rename to oha",
    )
    one, other = read_rows(fixtures / "oha-open.db"), read_rows(file)
    assert other.paced_s.tolist() == one.paced_s.tolist()
    assert other.end_s.tolist() == one.end_s.tolist()

"""tandem.page.nights: the nightly series, their alarms, and what came new under the programs."""

import json
import math
import re
from pathlib import Path

import altair
import pytest
from harness_page import CHANGED, keep_nights

from tandem.analysis.change import LEARNED, LIMIT
from tandem.history.night import Program
from tandem.page import nights, site, specs


@pytest.fixture
def history(tmp_path: Path) -> Path:
    keep_nights(tmp_path / "results/history/machine")
    return tmp_path / "results"


def test_a_step_passes_the_limit_and_is_marked(history: Path, tmp_path: Path) -> None:
    rows = nights.rows(nights.read_nights([history], tmp_path))
    alarms = [row for row in rows if row["alarm"] and row["panel"] == nights.CUSUM]
    assert alarms
    assert all(row["line"] == "upwards" and row["value"] > LIMIT for row in alarms)
    assert CHANGED < min(row["night"] for row in alarms) < CHANGED + 5
    ratios = [row["value"] for row in rows if row["line"] == "today's image"]
    assert len(ratios) == 100
    assert sum(ratios[CHANGED:]) / 40 == pytest.approx(math.exp(0.05), rel=0.01)
    assert min(row["night"] for row in rows if row["panel"] == nights.CUSUM) == LEARNED + 1


def test_what_came_under_the_programs_is_drawn(history: Path, tmp_path: Path) -> None:
    """As a line at its night, with its words, and the first image as a third line."""
    found = nights.read_nights([history], tmp_path)
    assert {row["event"] for row in nights.rows(found)} == {None}
    for number, night in enumerate(found.nights):
        night.kernel = "6.2" if number >= 70 else "6.1"
        night.first_images = {"node": Program(tag="oldest")} if number >= 50 else {}
        if number >= 50:
            night.points.append(night.points[0].model_copy(update={"line": "first", "value": 0.1}))
    rows = nights.rows(found)
    assert {row["night"] for row in rows if row["event"]} == {71}
    assert {row["event"] for row in rows} == {None, "kernel 6.1 -> 6.2"}
    assert {row["panel"] for row in rows if row["event"]} == {nights.RATIO, nights.CUSUM}
    first = [row["value"] for row in rows if row["line"] == "today's image by the first"]
    assert first == [pytest.approx(math.exp(0.1))] * 50
    altair.Chart.from_dict({**specs.history(), "data": {"values": rows}}, validate=True)


def test_of_a_long_history_the_newest_nights_are_drawn(
    history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nights, "ROWS_MOST", 0)
    rows = nights.rows(nights.read_nights([history], tmp_path))
    assert {row["night"] for row in rows} == set(range(41, 101))


def test_the_history_is_on_the_page_and_a_night_that_cannot_be_read_is_named(
    history: Path, root: Path, tmp_path: Path
) -> None:
    broken = history / "history/machine/nights/20260701T000000Z.json"
    broken.write_text("{")
    built = site.build([history], tmp_path / "site", root, print)
    assert [Path(one.name).name for one in built.broken] == [broken.name]
    assert broken.is_file()
    text = (tmp_path / "site/index.html").read_text()
    assert broken.name in text
    assert "Sync or async? 0 results" in text, "a history is no result"
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])
    assert data["sets"]["history"]["length"] == 100 * 2 + 60 * 2
    assert "machine (a CPU)" in data["conditions"]["nightly machine"]

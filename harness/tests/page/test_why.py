"""What stands under "Why": the pictures of explanations and crossovers, the nightly history; and the page of one result."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import altair
import pytest
from harness_page import CHANGED, FIRST, SECOND, crossover, keep_crossover, keep_nights

from tandem.analysis.change import LEARNED, LIMIT
from tandem.errors import TandemError
from tandem.history.night import Program
from tandem.page import nights, site, specs
from tandem.page.plots import OF_RESULTS
from tandem.page.site import bundle, page_alone
from tandem.report.picture import Picture
from tandem.studies.crossover import pictures as of_crossover
from tandem.studies.explain import pictures as of_explain
from tandem.studies.explain.study import Explain
from tandem.studies.registry import read_folder

EXPLANATION = "results/explanations/published-python"


@pytest.fixture(scope="module")
def explained(root: Path) -> Any:
    return read_folder(root / EXPLANATION)[1]


def data_of(page: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text())[0])
    return found


# ---- the gap as a waterfall ----


def test_a_waterfall_leads_from_the_first_to_the_second(explained: Any) -> None:
    told = explained.conclusions
    bars = of_explain.rows(told, told.goodput(), told.cells[0].goodput_rps)
    assert [bar["to"] for bar in bars[:-1]] == pytest.approx([bar["from"] for bar in bars[1:]])
    assert bars[-1]["to"] / bars[0]["from"] == pytest.approx(told.gap, rel=1e-4)
    steps = {bar["part"]: bar for bar in bars if bar["_kind"] == "step"}
    assert len(steps) == len(told.factors)
    handlers = steps["handlers (A)"]
    assert handlers["_low"] < handlers["to"] < handlers["_high"]
    assert (handlers["first"], handlers["last"]) == (told.factors[0].first, told.factors[0].last)
    assert handlers["changed"] == "WORKERS 5 to 2, THREADS 1 to 10"


def test_what_is_within_noise_is_grey(explained: Any) -> None:
    told = explained.conclusions
    bars = of_explain.rows(told, told.goodput(), 1.0)[1:-1]
    for bar, share in zip(bars, told.factors, strict=True):
        low, high = share.interval
        assert (bar["hue"] == of_explain.UNDECIDED) is (low <= 1 <= high)
    assert {bar["hue"] for bar in bars} >= {of_explain.UNDECIDED, of_explain.MORE}


def test_without_figures_at_an_end_there_is_no_waterfall(explained: Any) -> None:
    nothing = {"gap": None, "noise": None, "cpu": None}
    bare = explained.model_copy(update={"conclusions": explained.conclusions.model_copy(update=nothing)})
    assert Explain.pictures(bare) == []


def test_without_a_spread_there_are_no_intervals(explained: Any) -> None:
    told = explained.conclusions
    shares = [
        share.model_copy(update={"interval": None, "first": None, "last": None}) for share in told.factors
    ]
    bare = explained.model_copy(
        update={"conclusions": told.model_copy(update={"factors": shares, "cpu": None})}
    )
    [picture] = Explain.pictures(bare)
    drawn = [layer for layer in picture.spec["layer"] if "isValid" in str(layer.get("transform"))]
    assert drawn == []
    altair.Chart.from_dict(picture.spec, validate=True)


# ---- who wins where ----


def test_a_map_has_every_cell_and_says_what_is_undecided() -> None:
    rows = of_crossover.map_rows(crossover().conclusions)
    assert len(rows) == 8
    assert {row["wins"] for row in rows} == {FIRST, SECOND, "nobody", "not decided"}
    assert [row["_text"] for row in rows if row["_undecided"]] == ["–"]


def test_the_model_stands_beside_the_measurement() -> None:
    rows = of_crossover.model_rows(crossover().conclusions)
    assert {row["from"] for row in rows} == {"measurement", "model"}
    one = {row["from"]: row["goodput_rps"] for row in rows if (row["wait_ms"], row["variant"]) == (0, FIRST)}
    assert one == pytest.approx({"measurement": 800.0, "model": 880.0})


def test_without_any_ratio_there_is_no_map() -> None:
    found = crossover()
    cells = [cell.model_copy(update={"ratio": None}) for cell in found.conclusions.contrasts]
    bare = found.model_copy(update={"conclusions": found.conclusions.model_copy(update={"contrasts": cells})})
    assert of_crossover.pictures(bare) == []


def test_the_pictures_are_valid_vega_lite(explained: Any) -> None:
    drawn: list[Picture] = [*Explain.pictures(explained), *of_crossover.pictures(crossover())]
    assert [one.name for one in drawn] == ["waterfall-goodput", "waterfall-cpu", "map", "model"]
    for one in drawn:
        altair.Chart.from_dict(one.spec, validate=True)
        assert one.section == "why"
        assert one.spec["data"]["values"]


# ---- the history ----


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


def test_a_night_that_cannot_be_read_is_named_and_stays_where_it_is(
    history: Path, root: Path, tmp_path: Path
) -> None:
    broken = history / "history/machine/nights/20260701T000000Z.json"
    broken.write_text("{")
    built = site.build([history], tmp_path / "site", root, print)
    assert [Path(one.name).name for one in built.broken] == [broken.name]
    assert broken.is_file()
    assert broken.name in (tmp_path / "site/index.html").read_text()


def test_the_history_is_on_the_page(history: Path, root: Path, tmp_path: Path) -> None:
    site.build([history], tmp_path / "site", root, print)
    data = data_of(tmp_path / "site/index.html")
    assert data["sets"]["history"]["length"] == 100 * 2 + 60 * 2
    assert "machine (a CPU)" in data["conditions"]["nightly machine"]
    assert "Sync or async? 0 results" in (tmp_path / "site/index.html").read_text(), "a history is no result"


# ---- on the pages ----


def test_the_first_page_and_the_results_own_have_the_pictures(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results/crossing"
    keep_crossover(folder)
    built = site.build([root / EXPLANATION, folder], tmp_path / "site", root, print)
    assert built.broken == []
    own = data_of(tmp_path / "site/index.html")["own"]
    assert sorted(name.rpartition("published-python-")[2] for name in own if "published" in name) == [
        "waterfall-cpu",
        "waterfall-goodput",
    ]
    assert sum(name.endswith(("-map", "-model")) for name in own) == 2
    page = tmp_path / "site/runs/results-explanations-published-python.html"
    assert {*data_of(page)["own"]} < {*own}
    assert bundle() in page.read_text()
    assert data_of(page)["sets"].keys() == {"roles", "seconds"}


def test_a_comparison_has_its_ratios_and_its_sentence(root: Path, tmp_path: Path) -> None:
    site.build([root / "results/comparisons/python-sync"], tmp_path / "site", root, print)
    page = tmp_path / "site/runs/results-comparisons-python-sync.html"
    assert data_of(page)["sets"]["forest"]["length"] > 0
    assert "goodput against python-sync: python-async ×" in page.read_text()


def test_what_nobody_measured_yet_says_what_to_run(root: Path, tmp_path: Path) -> None:
    site.build([root / "results/reference"], tmp_path / "site", root, print)
    text = (tmp_path / "site/index.html").read_text()
    assert "just explain python-sync python-async" in text
    assert "just crossover python-sync python-async" in text
    assert "just nightly" in text


def test_only_the_newest_results_have_the_drawing_code(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "DRAWN_MOST", 1)
    site.build([root / "results/comparisons"], tmp_path / "site", root, print)
    drawn = [bundle() in page.read_text() for page in (tmp_path / "site/runs").iterdir()]
    assert len(drawn) > 3
    assert drawn.count(True) == 1


def test_a_picture_that_no_page_can_hold_is_told(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"data": {"values": [{"ratio": math.nan}]}, "mark": "bar"}
    monkeypatch.setattr(Explain, "pictures", classmethod(lambda *_: [Picture("odd", "Odd", "Odd.", spec)]))
    built = site.build([root / EXPLANATION], tmp_path / "site", root, print)
    assert ["JSON" in one.reason for one in built.broken] == [True]


def test_the_page_of_one_result_is_there_before_the_site(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / EXPLANATION, tmp_path / "results/2026-one")
    page = page_alone(tmp_path / "results/2026-one", tmp_path / "results", root)
    assert page.is_relative_to(tmp_path / "results/page/runs")
    assert "waterfall-goodput" in page.read_text()
    site.build([tmp_path / "results"], tmp_path / "results/page", root, print)
    assert page.is_file(), "the site has it in the same place"


def test_the_data_of_a_page_have_one_order(root: Path, tmp_path: Path) -> None:
    """Else the file changes whenever it is built."""
    shutil.copytree(root / "results/reference", tmp_path / "results/2026-one")
    page = page_alone(tmp_path / "results/2026-one", tmp_path / "results", root)
    sets = list(data_of(page)["sets"])
    assert len(sets) > 2
    assert sets == [plot.name for plot in OF_RESULTS if plot.name in sets]


def test_a_folder_without_a_result_has_no_page(root: Path, tmp_path: Path) -> None:
    with pytest.raises(TandemError, match="no result"):
        page_alone(tmp_path, tmp_path / "results", root)


def test_a_published_site_leads_to_the_records_in_the_repository(root: Path, tmp_path: Path) -> None:
    site.build([root / EXPLANATION], tmp_path / "site", root, print, "https://example.org/blob/1/")
    text = (tmp_path / "site/runs/results-explanations-published-python.html").read_text()
    assert f'href="https://example.org/blob/1/{EXPLANATION}/result.json"' in text
    assert "lies beside its records" not in text

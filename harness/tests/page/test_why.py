"""What stands under "Why": the pictures of explanations and crossovers; and the page of one result."""

import math
import shutil
from pathlib import Path
from typing import Any

import altair
import pytest
from harness_page import FIRST, SECOND, crossover, keep_crossover, page_and_data
from rich.console import Group

from tandem.errors import TandemError
from tandem.page import site
from tandem.page.plots import OF_RESULTS
from tandem.page.site import page_alone
from tandem.report.markdown import pictures_in
from tandem.report.picture import Picture
from tandem.studies.crossover import report as of_crossover
from tandem.studies.explain import report as of_explain
from tandem.studies.explain.study import Explain
from tandem.studies.registry import read_folder

EXPLANATION = "results/explanations/published-python"


@pytest.fixture(scope="module")
def explained(root: Path) -> Any:
    return read_folder(root / EXPLANATION)[1]


# ---- the gap as a waterfall ----


def test_a_waterfall_leads_from_the_first_to_the_second_and_what_is_within_noise_is_grey(
    explained: Any,
) -> None:
    told = explained.conclusions
    factors = told.of().factors
    bars = of_explain.rows(told, told.of())
    assert [bar["to"] for bar in bars[:-1]] == pytest.approx([bar["from"] for bar in bars[1:]])
    assert bars[-1]["to"] / bars[0]["from"] == pytest.approx(told.gap().ratio, rel=1e-4)
    steps = {bar["part"]: bar for bar in bars if bar["_kind"] == "step"}
    assert len(steps) == len(factors)
    handlers = steps["handlers (A)"]
    assert handlers["_low"] < handlers["to"] < handlers["_high"]
    assert (handlers["first"], handlers["last"]) == (factors[0].first, factors[0].last)
    assert handlers["changed"] == "WORKERS 5 to 2, THREADS 1 to 10"
    for bar, share in zip(bars[1:-1], factors, strict=True):
        low, high = share.interval
        assert (bar["hue"] == of_explain.UNDECIDED) is (low <= 1 <= high)
    assert {bar["hue"] for bar in bars[1:-1]} >= {of_explain.UNDECIDED, of_explain.MORE}


def test_without_figures_there_is_no_waterfall_and_without_a_spread_there_are_no_intervals(
    explained: Any,
) -> None:
    told = explained.conclusions

    def pictures(*explanations: Any) -> list[Picture]:
        found = told.model_copy(update={"explanations": [*explanations]})
        return pictures_in(Explain.report(explained.model_copy(update={"conclusions": found})))

    assert pictures() == []
    unknown = {"interval": None, "first": None, "last": None}
    shares = [share.model_copy(update=unknown) for share in told.of().factors]
    [picture] = pictures(told.of().model_copy(update={"factors": shares}))
    assert [layer for layer in picture.spec["layer"] if "isValid" in str(layer.get("transform"))] == []
    altair.Chart.from_dict(picture.spec, validate=True)


# ---- who wins where ----


def test_a_map_has_every_cell_and_the_model_stands_beside_the_measurement() -> None:
    found = crossover().conclusions
    rows = of_crossover.map_rows(found)
    assert len(rows) == 8
    assert {row["wins"] for row in rows} == {FIRST, SECOND, "nobody", "not decided"}
    assert [row["_text"] for row in rows if row["_undecided"]] == ["–"]
    rows = of_crossover.model_rows(found)
    assert {row["from"] for row in rows} == {"measurement", "model"}
    one = {row["from"]: row["goodput_rps"] for row in rows if (row["wait_ms"], row["variant"]) == (0, FIRST)}
    assert one == pytest.approx({"measurement": 800.0, "model": 880.0})
    cells = [cell.model_copy(update={"ratio": None}) for cell in found.contrasts]
    assert of_crossover.pictures(found.model_copy(update={"contrasts": cells})) == [], "without any ratio"


def test_the_pictures_are_valid_vega_lite(explained: Any) -> None:
    drawn: list[Picture] = [
        *pictures_in(Explain.report(explained)),
        *of_crossover.pictures(crossover().conclusions),
    ]
    assert [one.name for one in drawn] == ["waterfall-goodput", "waterfall-cpu", "map", "model"]
    for one in drawn:
        altair.Chart.from_dict(one.spec, validate=True)
        assert one.section == "why"
        assert one.spec["data"]["values"]


# ---- on the pages ----


def test_the_first_page_and_the_results_own_have_the_pictures(root: Path, tmp_path: Path) -> None:
    """Of a site that is published, whose files lead to the records in the repository."""
    keep_crossover(tmp_path / "results/crossing")
    folders = [root / EXPLANATION, tmp_path / "results/crossing"]
    built = site.build(folders, tmp_path / "site", root, print, "https://example.org/blob/1/")
    assert built.broken == []
    own = page_and_data(tmp_path / "site/index.html")[1]["own"]
    assert sorted(name.rpartition("published-python-")[2] for name in own if "published" in name) == [
        "waterfall-cpu",
        "waterfall-goodput",
    ]
    assert sum(name.endswith(("-map", "-model")) for name in own) == 2
    page = tmp_path / "site/runs/results-explanations-published-python.html"
    text, data = page_and_data(page)
    assert {*data["own"]} < {*own}
    assert data["sets"].keys() == {"forest", "roles", "seconds"}
    assert site.bundle() in text
    assert f'href="https://example.org/blob/1/{EXPLANATION}/result.json"' in text
    assert "lies beside its records" not in text


def test_only_the_newest_results_have_the_drawing_code_and_each_missing_picture_its_command(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "DRAWN_MOST", 1)
    site.build([root / "results/comparisons"], tmp_path / "site", root, print)
    drawn = [site.bundle() in page.read_text() for page in (tmp_path / "site/runs").iterdir()]
    assert len(drawn) > 3
    assert drawn.count(True) == 1
    text = (tmp_path / "site/index.html").read_text()
    missing = {"just sweep rust-async python-sync", "just capacity rust-async", "just nightly"}
    assert {command for command in missing if command in text} == missing


def test_a_picture_that_no_page_can_hold_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"data": {"values": [{"ratio": math.nan}]}, "mark": "bar"}
    monkeypatch.setattr(Explain, "report", staticmethod(lambda _: Group(Picture("odd", "Odd", "Odd.", spec))))
    built = site.build([root / EXPLANATION], tmp_path / "site", root, print)
    assert ["JSON" in one.reason for one in built.broken] == [True]


def test_the_page_of_one_result_is_there_before_the_site(root: Path, tmp_path: Path) -> None:
    """In the same place, and with its data in one order: else the file would change whenever it is built."""
    with pytest.raises(TandemError, match="no result"):
        page_alone(tmp_path, tmp_path / "results", root)
    shutil.copytree(root / "results/reference", tmp_path / "results/2026-one")
    page = page_alone(tmp_path / "results/2026-one", tmp_path / "results", root)
    assert page.is_relative_to(tmp_path / "results/page/runs")
    sets = list(page_and_data(page)[1]["sets"])
    assert len(sets) > 2
    assert sets == [plot.name for plot in OF_RESULTS if plot.name in sets]
    site.build([tmp_path / "results"], tmp_path / "results/page", root, print)
    assert page.is_file()

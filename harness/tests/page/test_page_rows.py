"""tandem.page.rows: what a request costs, by role, as the picture shows it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import altair
import pytest
from harness_places import ROOT

from tandem.analysis.cost import APP, TOTAL
from tandem.analysis.cost import ROLES as CHARGED
from tandem.catalog.catalog import Catalog
from tandem.facts.estimate import CLASS
from tandem.page.data import PageRow, columns, script
from tandem.page.lines import lines
from tandem.page.plots import PLOTS, specs_of
from tandem.page.read import Run, find, read
from tandem.page.rows import ROLES, loads, roles, sweep
from tandem.page.site import bundle


def run_of(folder: str) -> Run:
    return read(find([ROOT / "results" / folder], ROOT)[0][0])


def rows_of(folder: str, of: Callable[..., Iterator[PageRow]]) -> list[PageRow]:
    run = run_of(folder)
    return list(of(run, lines(run, Catalog(ROOT))))


@pytest.mark.parametrize("folder", ["reference", "questions", "comparisons/falcon"])
def test_a_bar_is_the_whole_that_the_table_tells(folder: str) -> None:
    run = run_of(folder)
    told = rows_of(folder, roles)
    found = run.result.conclusions
    asked = [
        one
        for one in found.estimates
        if one.coordinates.get("question", "cost") == "cost" and "start" not in one.coordinates
    ]
    totals = [one for one in asked if one.metric == TOTAL]
    assert [one["variant"] for one in told if one["text"]] == [one.variant for one in totals]
    for one in totals:
        own = [bar for bar in told if bar["variant"] == one.variant]
        app = next(each.mean for each in asked if (each.metric, each.variant) == (APP, one.variant))
        assert [bar["role"] for bar in own] == ["application", "pooler", "database", "proxy"]
        assert sum(bar["us"] for bar in own) == pytest.approx(one.mean, rel=1e-4)
        assert own[0]["us"] == pytest.approx(app, rel=1e-4)
        assert (own[0]["low"], own[0]["high"]) == one.interval
        assert {(bar["low"], bar["text"]) for bar in own[1:]} == {(None, None)}, "once for each bar"
        ratios = [each.ratio for each in found.contrasts if (each.metric, each.of) == (TOTAL, one.variant)]
        assert own[0]["text"] == f"{one.mean:,.0f} µs" + (f", × {ratios[0]:.2f}" if ratios else "")


@pytest.mark.parametrize("folder", ["comparisons/falcon", "explanations/published-rust"])
def test_generator_and_latency_proxy_are_in_no_bar(folder: str) -> None:
    assert {bar["role"] for bar in rows_of(folder, roles)} == {ROLES[role][0] for role in CHARGED}


def test_loads_around_a_capacity_and_settings_have_a_line_each() -> None:
    around = rows_of("capacities/falcon-async", loads)
    assert {row["series"] for row in around} == {
        *("goodput, 1/s", "response time p50, ms", "response time p99, ms")
    }
    assert {row["state"] for row in around} == {"held", "saturated"}
    assert {row["objective_ms"] for row in around if "p99" in row["series"]} == {50}
    swept = rows_of("crossovers/python", sweep)
    assert {row["axis"] for row in swept} == {"wait"}
    assert {row["at"] for row in swept} == {0, 5, 15}
    assert {row["at"] for row in swept if row["label"]} == {15}, "each line has its name at its end"


def test_a_class_of_a_mix_is_no_line_and_arrivals_are_a_condition() -> None:
    run = run_of("comparisons/mixed-python")
    assert any(CLASS in one.coordinates for one in run.result.conclusions.estimates)
    found = lines(run, Catalog(ROOT))
    assert [one.label for one in found] == [one.label for one in run.result.request.variants]
    for record, drawn in (
        ("comparisons/mixed-python", True),
        ("arrivals/poisson", True),
        ("arrivals/paced", False),
    ):
        every = lines(run_of(record), Catalog(ROOT))
        assert {"Poisson arrivals" in one.condition for one in every} == {drawn}


# ---- what stands in the document is JSON, and the pictures are Vega-Lite ----


def test_columns_hold_every_text_once() -> None:
    texts: dict[str, int] = {}
    found = columns([{"a": "x", "n": 1.23456}, {"a": "x", "n": None}, {"a": "y", "n": float("nan")}], texts)
    assert [*texts] == ["x", "y"]
    assert found == {"length": 3, "names": ["a", "n"], "t": {"a": [0, 0, 1]}, "n": {"n": [1.235, None, None]}}


def test_nothing_in_the_data_or_the_bundle_ends_its_element() -> None:
    evil: dict[str, Any] = {"name": "</script><!--<script>\u2028 & more"}
    text = script(evil)
    assert {*"<>\u2028"} & {*text} == set()
    assert json.loads(text) == evil
    assert len(bundle()) > 500_000
    assert "</script" not in bundle()
    assert "import(" not in bundle()[:2000]


SPECS = specs_of(["hero", *(plot.name for plot in PLOTS)])


@pytest.mark.parametrize("name", SPECS)
def test_a_picture_is_valid_vega_lite(name: str) -> None:
    spec = {**SPECS[name], "data": {"values": [{"hue": "#000"}]}}
    altair.Chart.from_dict(spec, validate=True)


def test_an_invalid_picture_is_found() -> None:
    spec = {**SPECS["forest"], "data": {"values": []}, "layer": [{"mark": {"type": "barr"}}]}
    with pytest.raises(Exception, match="barr"):
        altair.Chart.from_dict(spec, validate=True)

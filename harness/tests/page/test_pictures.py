"""tandem.page.data, .plots and .specs: what stands in the document is JSON, and the pictures are Vega-Lite."""

import json
from typing import Any

import altair
import pytest

from tandem.page.data import Texts, columns, script
from tandem.page.plots import PLOTS, specs_of
from tandem.page.site import bundle


def test_columns_hold_every_text_once() -> None:
    texts = Texts()
    found = columns([{"a": "x", "n": 1.23456}, {"a": "x", "n": None}, {"a": "y", "n": float("nan")}], texts)
    assert texts.all == ["x", "y"]
    assert found == {"length": 3, "names": ["a", "n"], "t": {"a": [0, 0, 1]}, "n": {"n": [1.235, None, None]}}


def test_nothing_in_the_data_ends_its_element() -> None:
    evil: dict[str, Any] = {"name": "</script><!--<script>\u2028 & more"}
    text = script(evil)
    assert "<" not in text
    assert ">" not in text
    assert "\u2028" not in text
    assert json.loads(text) == evil


def test_the_bundle_does_not_end_its_element() -> None:
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

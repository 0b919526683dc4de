"""tandem.engine.arriving: which generator sends a window, and when its requests are due."""

from typing import Any

import pytest
from harness_engine import request

from tandem.catalog.catalog import Catalog
from tandem.engine.arriving import mixed, needed, sent
from tandem.engine.study import Study, in_order
from tandem.record.request import Conditions
from tandem.record.trial import Arrivals, WindowSpec
from tandem.studies.registry import STUDIES

POISSON = Arrivals(process="poisson")


def study(real: Catalog, arrivals: Arrivals | None = None, scenario: str = "recipes") -> Study[Any]:
    asked = request(study="bench", scenario=scenario)
    under: Conditions = asked.conditions.model_copy(update={"arrivals": arrivals})
    return STUDIES["bench"](real, asked.model_copy(update={"conditions": under}))


def windows(of: Study[Any], block: int = 1) -> list[WindowSpec]:
    """The windows of its first start, as they are sent."""
    spec = of.outline()[0][0]
    return list(sent(of, in_order(spec.windows), block))


def test_evenly_spaced_windows_stay_with_oha(real: Catalog) -> None:
    of = study(real)
    assert (needed(of), mixed(of)) == ({"oha"}, set())
    assert windows(of) == of.outline()[0][0].windows


def test_drawn_arrivals_are_vegetas(real: Catalog) -> None:
    of = study(real, POISSON)
    closed, opened = windows(of)
    assert (closed.generator, closed.arrivals) == ("oha", None)
    assert opened.generator == "vegeta"
    assert opened.arrivals is not None
    assert opened.arrivals.process == "poisson"
    assert needed(of) == {"oha", "vegeta"}


def test_both_windows_of_a_mix_are_vegetas(real: Catalog) -> None:
    of = study(real, scenario="mixed")
    assert [one.generator for one in windows(of)] == ["vegeta", "vegeta"]
    assert [one.arrivals.process for one in windows(of) if one.arrivals] == ["paced", "paced"]
    assert mixed(of) == {one.label for one in of.variants}


def test_all_variants_of_a_block_are_asked_at_the_same_instants(real: Catalog) -> None:
    of = study(real, POISSON)
    spec = WindowSpec(name="equal-60-a", variants=["a"], seconds=5, load="open", trim_start_s=0, trim_end_s=0)
    other = spec.model_copy(update={"name": "equal-60-b", "variants": ["b"]})
    third = spec.model_copy(update={"name": "equal-80-a"})
    first, same, another = (one.arrivals for one in sent(of, in_order([spec, other, third]), 1))
    assert first == same != another
    [later] = sent(of, in_order([spec]), 2)
    assert later.arrivals != first


@pytest.mark.parametrize("name", ["vegeta", "wrk"])
def test_a_window_that_names_its_generator_keeps_it(real: Catalog, name: str) -> None:
    spec = WindowSpec(
        name="x", variants=["a"], seconds=5, load="open", generator=name, trim_start_s=0, trim_end_s=0
    )
    assert list(sent(study(real, POISSON), in_order([spec]), 1)) == [spec]

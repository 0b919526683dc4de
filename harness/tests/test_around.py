"""tandem.around: which ceilings there are."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from tandem.around import Around
from tandem.catalog import Catalog
from tandem.live import Lines
from tandem.prepare import Conditions
from tandem.session import Session

CATALOG = Catalog(Path(__file__).parents[2])


@pytest.mark.parametrize(
    ("topology", "scenario", "names"),
    [
        ("full", "recipes", {"null", "proxy", "database"}),
        ("full", "index", {"null", "proxy"}),
        ("pooled", "recipes", {"null", "database"}),
        ("proxied", "recipes", {"null", "proxy"}),
        ("direct", "recipes", {"null"}),
    ],
)
def test_only_what_stands_in_the_path_is_a_ceiling(
    topology: str, scenario: str, names: set[str], tmp_path: Path
) -> None:
    under = Conditions(CATALOG, topology, "shared", CATALOG.plans["quick"], {})
    view = Lines(Console(file=io.StringIO()))
    session = Session(under, CATALOG.scenarios[scenario], tmp_path, view, 1)
    assert set(Around(session, tmp_path).steps()) == names

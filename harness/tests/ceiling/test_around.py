"""tandem.ceiling.around: which ceilings there are."""

import io
from pathlib import Path

import pytest
from harness_places import ROOT
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.ceiling import around as around_module
from tandem.ceiling.around import Around, ceilings_of, look_s
from tandem.errors import TandemError, UsageError
from tandem.lab.live import Lines
from tandem.old.prepare import Conditions
from tandem.old.session import Session

CATALOG = Catalog(ROOT)


def session(folder: Path, topology: str = "full", scenario: str = "recipes", **knobs: str) -> Session:
    under = Conditions(CATALOG, topology, "shared", CATALOG.plans["quick"], knobs)
    return Session(under, CATALOG.scenarios[scenario], folder, Lines(Console(file=io.StringIO())), 1)


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
    assert set(Around(session(tmp_path, topology, scenario), tmp_path).steps()) == names


def test_knobs_of_the_database_are_not_the_null_applications(tmp_path: Path) -> None:
    around = Around(session(tmp_path, DB_POOL_MAX="7", DB_RESET="0", WORKERS="3"), tmp_path)
    assert around.pool() == 7
    assert Around(session(tmp_path), tmp_path).pool() == int(CATALOG.knobs["DB_POOL_MAX"].default)
    assert around.null.knobs["WORKERS"] == "3"
    assert around.null.stack.variables["DB_POOL_MAX"] == CATALOG.knobs["DB_POOL_MAX"].default
    with pytest.raises(UsageError, match="WORKERS must be a whole number"):
        Around(session(tmp_path, WORKERS="0"), tmp_path)


# ---- one look at each ----


def test_a_session_looks_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    found = {"null": 2000.0, "database": None}

    def once(around: Around) -> dict[str, float | None]:
        looks.append(around.session.under.plan.closed_s)
        return dict(found)

    monkeypatch.setattr(Around, "once", once)
    monkeypatch.setattr(around_module, "build", lambda *_: None)
    assert ceilings_of(session(tmp_path), tmp_path) == found
    assert ceilings_of(session(tmp_path), tmp_path) == found
    assert looks == [around_module.SHORT["closed_s"]]
    (tmp_path / "ceilings.json").write_text('{"null": 20')
    with pytest.raises(TandemError, match=r"ceilings\.json cannot be read: .* Remove it to look again"):
        ceilings_of(session(tmp_path), tmp_path)
    (tmp_path / "ceilings.json").unlink()
    assert ceilings_of(session(tmp_path), tmp_path) == found
    assert len(looks) == 2


def test_which_plans_look() -> None:
    """Where every second counts they do not: plans that only prove, and those of the tests."""
    looking = {name for name, plan in CATALOG.plans.items() if plan.ceilings}
    assert looking == {"capacity", "ceiling", "claim", "headline", "nightly", "quick"}
    assert all(
        not CATALOG.plan(str(file)).ceilings for file in (CATALOG.root / "harness/tests/plans").iterdir()
    )
    assert look_s(CATALOG.plans["capacity"]) > 30
    assert look_s(CATALOG.plans["smoke"]) == 0

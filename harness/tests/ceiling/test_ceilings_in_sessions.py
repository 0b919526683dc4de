"""Ceilings in `capacity`: looked at once where the plan says so, recorded, and what reaches them is a bound."""

import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness_capacity import Simulated, simulated
from harness_samples import good_window
from rich.console import Console, RenderableType

from tandem.analysis.ceilings import reaches_ceiling
from tandem.capacity import record as capacity_record
from tandem.capacity import session as capacity_session
from tandem.capacity.journal import RESULT
from tandem.capacity.record import Capacity
from tandem.catalog.catalog import Catalog
from tandem.old.session import Session

LOW: dict[str, float | None] = {"null": 1050.0, "proxy": 9000.0, "database": None}
HIGH: dict[str, float | None] = {"null": 5000.0, "proxy": 9000.0, "database": None}


@dataclass
class Looks:
    """In place of the looks at the ceilings. folders: where each was kept."""

    found: dict[str, float | None]
    folders: list[Path] = field(default_factory=list)

    def __call__(self, session: Session, folder: Path) -> dict[str, float | None]:
        assert folder.is_dir()
        self.folders.append(folder)
        return dict(self.found)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    out = Looks(LOW)
    monkeypatch.setattr(capacity_session, "RECOVER_S", 0.0)
    monkeypatch.setattr(capacity_session, "ceilings_of", out)
    return out


def text(report: RenderableType) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report)
    return console.export_text()


@pytest.mark.parametrize(
    ("rate_rps", "ceilings_rps", "reached"),
    [
        (946, LOW, True),
        (944, LOW, False),
        (946, HIGH, False),
        (946, {}, False),
        (946, {"null": None}, False),
        (None, LOW, False),
    ],
)
def test_above_90_percent_of_the_lowest_is_a_bound(
    rate_rps: float | None, ceilings_rps: dict[str, float | None], reached: bool
) -> None:
    assert reaches_ceiling(rate_rps, ceilings_rps) == reached


# ---- capacity ----


def test_a_capacity_that_reaches_a_ceiling_is_a_bound(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    found = simulated(real, tmp_path, ceilings=True).run(resume=False)
    assert found.ceilings_rps == LOW
    assert "ceilings" in found.phases_s
    [folder] = looks.folders
    assert (folder / RESULT).is_file()
    assert found.capacity_rps is not None
    told = text(capacity_record.report(found))
    assert f"capacity ≥ {found.capacity_rps}/s" in told
    assert "ceilings: null 1,050/s, proxy 9,000/s, database –/s; ≥: more than 90 % of the lowest" in told
    assert told.count("≥ 1,000") == 2, "the goodput of both overloads is the ceiling's"


def test_a_capacity_far_below_is_none(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    looks.found = HIGH
    told = text(capacity_record.report(simulated(real, tmp_path, ceilings=True).run(resume=False)))
    assert "≥: more than" in told
    assert told.count("≥") == 1, "only in the line that says what it means"


def test_a_capacity_without_looks(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    found = simulated(real, tmp_path).run(resume=False)
    assert (found.ceilings_rps, looks.folders) == ({}, [])
    assert "≥" not in text(capacity_record.report(found))


def test_what_the_generator_cannot_offer_is_a_bound_without_looks(
    real: Catalog, tmp_path: Path, looks: Looks
) -> None:
    found = simulated(real, tmp_path).run(resume=False).model_copy(update={"limited_by": "generator"})
    assert f"capacity ≥ {found.capacity_rps}/s" in text(capacity_record.report(found))


def test_a_record_from_before_is_read(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    found = simulated(real, tmp_path).run(resume=False)
    before = found.model_dump(exclude={"ceilings_rps", "search_starts", "behaviour_starts"})
    read = Capacity.model_validate(before)
    assert (read.ceilings_rps, read.search_starts, read.behaviour_starts) == ({}, 1, 1)
    assert text(capacity_record.report(read)) == text(capacity_record.report(found))


def test_looks_come_before_everything_that_is_measured(
    real: Catalog, tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def look(*_: object) -> dict[str, float | None]:
        order.append("look")
        return {}

    monkeypatch.setattr(capacity_session, "ceilings_of", look)
    monkeypatch.setattr(Simulated, "closed", lambda *_: order.append("closed") or good_window())  # type: ignore[func-returns-value]
    simulated(real, tmp_path, ceilings=True).run(resume=False)
    assert order == ["look", "closed"]

"""Ceilings in `sweep`: looked at once where the plan says so, recorded, and what reaches them is a bound."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from harness_samples import good_environment, good_window
from rich.console import Console, RenderableType

from tandem.analysis.ceilings import reaches_ceiling
from tandem.catalog.catalog import Catalog
from tandem.lab.live import Lines
from tandem.old.lab import BenchLab
from tandem.old.prepare import Conditions, Prepared
from tandem.old.run import Environment
from tandem.old.session import Session
from tandem.record.window import Verdict, Window
from tandem.sweep import report as sweep_report
from tandem.sweep import session as sweep_session
from tandem.sweep.session import SweepSession
from tandem.sweep.sweep import Asked, Sweep

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
    monkeypatch.setattr(sweep_session, "ceilings_of", out)
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


# ---- sweep ----


@dataclass
class FakeLab:
    folder: Path
    began_s: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return lambda *_: []


@dataclass
class Swept(SweepSession):
    """A server that answers `rate_rps` in every window."""

    rate_rps: float = 1000.0

    @contextmanager
    def stack(self, runs: Any, folder: Path) -> Iterator[None]:
        yield

    def clean_up(self) -> None: ...

    def environment(self, prepared: Prepared) -> Environment:
        return good_environment()

    def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
        rate_rps = self.rate_rps

        class Lab(FakeLab):
            def measure(self, *_: object) -> Window:
                return good_window(goodput_rps=rate_rps)

        return cast(BenchLab, Lab(folder))


def swept(real: Catalog, results: Path, ceilings: bool = True) -> Sweep:
    asked = Asked(
        implementations=["rust-async"],
        axis="connections",
        values=[4, 16],
        rounds=2,
        scenario="recipes",
        topology="full",
        placement="shared",
        plan="ceiling",
        seed=1,
        knobs={},
    )
    plan = real.plans["ceiling"].model_copy(update={"ceilings": ceilings})
    under = Conditions(real, "full", "shared", plan, {})
    view = Lines(Console(quiet=True))
    return Swept(under, real.scenarios["recipes"], results, view, 1).run(asked, resume=False)


def test_a_sweep_that_reaches_a_ceiling_is_a_bound(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    found = swept(real, tmp_path)
    assert (found.verdict, found.ceilings_rps, len(looks.folders)) == (Verdict.OK, LOW, 1)
    [file] = tmp_path.glob("*-sweep-*/sweep.json")
    assert looks.folders == [file.parent]
    assert Sweep.model_validate_json(file.read_text()).ceilings_rps == LOW
    told = text(sweep_report.report(found))
    assert "peak ≥ 1,000/s at connections" in told
    assert told.count("≥ 1,000 ± 0") == 2
    assert "ceilings: null 1,050/s" in told


def test_a_sweep_far_below_is_none(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    looks.found = HIGH
    told = text(sweep_report.report(swept(real, tmp_path)))
    assert "peak 1,000/s" in told
    assert told.count("≥") == 1, "only in the line that says what it means"


def test_a_sweep_without_looks_and_a_record_from_before(real: Catalog, tmp_path: Path, looks: Looks) -> None:
    found = swept(real, tmp_path, ceilings=False)
    assert (found.ceilings_rps, looks.folders) == ({}, [])
    told = text(sweep_report.report(found))
    assert "≥" not in told
    read = Sweep.model_validate(found.model_dump(exclude={"ceilings_rps"}))
    assert text(sweep_report.report(read)) == told

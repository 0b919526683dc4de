"""tandem.lab.matrix: outcomes, with a laboratory that answers as it is told to."""

import io
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.matrix import Outcome, Square, _square, order, reasons, table
from tandem.load.client import WITHOUT_LOAD, Look
from tandem.old.cell import Cell
from tandem.old.lab import BenchLab
from tandem.old.prepare import Conditions, Prepared
from tandem.record.window import Finding

WRONG = Finding(code="wrong-body", severity="invalid", text="3 of 10 answers were not right")


class FakeLab:
    """Answers with a status, findings or an error."""

    def __init__(self, status: int = 200, found: list[Finding] | None = None, error: str = "") -> None:
        self._status, self._found, self._error = status, found or [], error
        self.asked: list[str] = []
        self.released = 0

    def ask_for(self, cell: Cell, load_address: str) -> None:
        self.asked.append(f"{cell.scenario.name} at {load_address}")

    def bare_status(self) -> int:
        return self._status

    def verify(self, look: Look) -> list[Finding]:
        assert look == WITHOUT_LOAD, "no load comes after it"
        if self._error:
            raise TandemError(self._error)
        return self._found

    def release_idle(self) -> None:
        self.released += 1


def square(real: Catalog, folder: Path, lab: FakeLab, scenario: str, **unsupported: str) -> Square:
    under = Conditions(real, "full", "shared", real.plans["smoke"], {})
    known = real.implementation("rust-async")
    changed = known.unsupported.model_copy(update={"scenarios": unsupported})
    implementation = known.model_copy(update={"unsupported": changed})
    prepared: Prepared = under.prepare(implementation, real.scenarios[scenario], folder)
    return _square(under, prepared, cast(BenchLab, cast(Any, lab)), real.scenarios[scenario])


@pytest.mark.parametrize(
    ("lab", "outcome", "text"),
    [
        (FakeLab(), Outcome.OK, ""),
        (FakeLab(found=[WRONG]), Outcome.WRONG, WRONG.text),
        (FakeLab(error="it broke"), Outcome.FAILED, "it broke"),
    ],
)
def test_what_is_supported_has_to_be_right(
    real: Catalog, tmp_path: Path, lab: FakeLab, outcome: Outcome, text: str
) -> None:
    found = square(real, tmp_path, lab, "index")
    assert (found.outcome, found.text) == (outcome, text)
    assert (lab.asked, lab.released) == (["index at proxy:8080"], 1)


def test_what_is_declined_has_to_be_absent(real: Catalog, tmp_path: Path) -> None:
    found = square(real, tmp_path, FakeLab(status=404), "users", users="many processes")
    assert (found.outcome, found.text) == (Outcome.UNSUPPORTED, "many processes")


def test_an_undeclared_success_is_an_outcome_of_its_own(real: Catalog, tmp_path: Path) -> None:
    found = square(real, tmp_path, FakeLab(status=200), "users", users="many processes")
    assert found.outcome is Outcome.UNDECLARED
    assert "declared unsupported (many processes), but the answer is 200" in found.text


def test_a_scenario_may_leave_the_proxy_out(real: Catalog, tmp_path: Path) -> None:
    lab = FakeLab()
    square(real, tmp_path, lab, "idle")
    assert lab.asked == ["idle at app:8080"]


def test_what_changes_the_database_comes_last(real: Catalog) -> None:
    names = [scenario.name for scenario in order(real.scenarios)]
    assert names[-1] == "note-write"
    assert len(names) == len(real.scenarios)


def test_the_table_and_its_reasons() -> None:
    squares = [
        Square("a", "index", Outcome.OK),
        Square("a", "users", Outcome.UNSUPPORTED, "many processes"),
        Square("b", "index", Outcome.FAILED, "it did not start"),
        Square("b", "users", Outcome.FAILED, "it did not start"),
    ]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table(squares), *reasons(squares), sep="\n")
    text = console.export_text()
    assert "a: users: unsupported: many processes" in text
    assert "b: index, users: failed: it did not start" in text
    assert "–" in text

"""tandem.lab.matrix: outcomes, with an application that answers as it is told to."""

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_engine import request
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.application import Application
from tandem.lab.case import VisitCase
from tandem.lab.matrix import Square, SquareOutcome, order, reasons, sentence, square, table
from tandem.lab.prepare import Prepared, VariantConditions, prepare
from tandem.load.client import WITHOUT_LOAD, Look
from tandem.record.window import Finding

WRONG = Finding(code="wrong-body", severity="invalid", text="3 of 10 answers were not right")


class FakeApplication:
    """Answers with a status, findings or an error."""

    prepared: Prepared

    def __init__(self, status: int = 200, found: list[Finding] | None = None, error: str = "") -> None:
        self._status, self._found, self._error = status, found or [], error
        self.asked: list[str] = []
        self.released = 0

    @property
    def client(self) -> Any:
        return SimpleNamespace(status=lambda: self._status)

    def ask_for(self, case: VisitCase) -> None:
        self.asked.append(f"{case.scenario.name} at {case.load_address}")

    def verify(self, look: Look) -> list[Finding]:
        assert look == WITHOUT_LOAD, "no load comes after it"
        if self._error:
            raise TandemError(self._error)
        return self._found

    def release_idle(self) -> None:
        self.released += 1


def tried(real: Catalog, folder: Path, app: FakeApplication, scenario: str, **unsupported: str) -> Square:
    wanted = request(study="matrix", scenario=scenario)
    app.prepared = prepare(real, wanted, wanted.variants[0], folder)
    known = real.implementation("rust-async")
    changed = known.unsupported.model_copy(update={"scenarios": unsupported})
    app.prepared.case.implementation = known.model_copy(update={"unsupported": changed})
    conditions = VariantConditions.of(real, wanted, wanted.variants[0])
    return square(conditions, cast(Application, cast(Any, app)), real.scenarios[scenario])


@pytest.mark.parametrize(
    ("app", "outcome", "text"),
    [
        (FakeApplication(), SquareOutcome.OK, ""),
        (FakeApplication(found=[WRONG]), SquareOutcome.WRONG, WRONG.text),
        (FakeApplication(error="it broke"), SquareOutcome.FAILED, "it broke"),
    ],
)
def test_what_is_supported_has_to_be_right(
    real: Catalog, tmp_path: Path, app: FakeApplication, outcome: SquareOutcome, text: str
) -> None:
    found = tried(real, tmp_path, app, "index")
    assert (found.outcome, found.text) == (outcome, text)
    assert (app.asked, app.released) == (["index at proxy:8080"], 1)


def test_what_is_declined_has_to_be_absent(real: Catalog, tmp_path: Path) -> None:
    found = tried(real, tmp_path, FakeApplication(status=404), "users", users="many processes")
    assert (found.outcome, found.text) == (SquareOutcome.UNSUPPORTED, "many processes")


def test_an_undeclared_success_is_an_outcome_of_its_own(real: Catalog, tmp_path: Path) -> None:
    found = tried(real, tmp_path, FakeApplication(status=200), "users", users="many processes")
    assert found.outcome is SquareOutcome.UNDECLARED
    assert "declared unsupported (many processes), but the answer is 200" in found.text


def test_a_scenario_may_leave_the_proxy_out(real: Catalog, tmp_path: Path) -> None:
    app = FakeApplication()
    tried(real, tmp_path, app, "idle")
    assert app.asked == ["idle at app:8080"]


def test_what_changes_the_database_comes_last(real: Catalog) -> None:
    names = [scenario.name for scenario in order(real.scenarios)]
    assert names[-1] == "note-write"
    assert len(names) == len(real.scenarios)


def test_the_table_and_its_reasons() -> None:
    squares = [
        Square("a", "index", SquareOutcome.OK, tier="core"),
        Square("a", "users", SquareOutcome.UNSUPPORTED, "many processes"),
        Square("b", "index", SquareOutcome.FAILED, "it did not start"),
        Square("b", "users", SquareOutcome.FAILED, "it did not start"),
    ]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table(squares), *reasons(squares), sep="\n")
    text = console.export_text()
    assert "a: users: unsupported: many processes" in text
    assert "b: index, users: failed: it did not start" in text
    assert "–" in text
    assert re.search(r"│ a +│ core +│ ok", text)


def test_the_sentence_counts_and_names_what_is_wrong() -> None:
    squares = [
        Square("a", "index", SquareOutcome.OK),
        Square("a", "users", SquareOutcome.UNSUPPORTED, "many processes"),
    ]
    assert sentence(squares) == "2 cells of 1 implementation: 1 served, 1 declined with a reason"
    wrong = [*squares, Square("b", "index", SquareOutcome.WRONG, "7")]
    assert sentence(wrong).endswith("1 not right, first b in index: wrong")

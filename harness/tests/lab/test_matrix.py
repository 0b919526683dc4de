"""tandem.lab.matrix: outcomes, with an application that answers as it is told to."""

import io
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from harness_engine import request
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.matrix import Square, SquareOutcome, order, reasons, sentence, square, table
from tandem.lab.prepare import VariantConditions, prepare
from tandem.load.client import WITHOUT_LOAD
from tandem.record.window import Finding

WRONG = Finding(code="wrong-body", severity="invalid", text="3 of 10 answers were not right")


def answering(status: int = 200, found: object = ()) -> Mock:
    """An application whose answers have a status. found: by verifying it; an error: it breaks."""
    return Mock(**{"client.status.return_value": status, "verify.side_effect": [found]})


@pytest.mark.parametrize(
    ("app", "scenario", "reason", "outcome", "text"),
    [
        (answering(), "index", "", SquareOutcome.OK, ""),
        (answering(), "idle", "", SquareOutcome.OK, ""),
        (answering(found=[WRONG]), "index", "", SquareOutcome.WRONG, WRONG.text),
        (answering(found=TandemError("it broke")), "index", "", SquareOutcome.FAILED, "it broke"),
        (answering(status=404), "users", "why", SquareOutcome.UNSUPPORTED, "why"),
        (answering(), "users", "why", SquareOutcome.UNDECLARED, "(why), but the answer is 200"),
    ],
)
def test_what_is_supported_is_right_and_what_is_declined_is_absent(
    real: Catalog, tmp_path: Path, app: Mock, scenario: str, reason: str, outcome: SquareOutcome, text: str
) -> None:
    """reason: why the scenario is declined."""
    wanted = request(study="matrix", scenario=scenario)
    app.prepared = prepare(real, wanted, wanted.variants[0], tmp_path)
    known, declined = real.implementation("rust-async"), {scenario: reason} if reason else {}
    changed = known.unsupported.model_copy(update={"scenarios": declined})
    app.prepared.case.implementation = known.model_copy(update={"unsupported": changed})
    conditions = VariantConditions(real, wanted, wanted.variants[0])
    found = square(conditions, app, real.scenarios[scenario])
    assert found.outcome is outcome
    assert text in found.text
    app.release_idle.assert_called_once_with()
    if not declined:
        app.verify.assert_called_once_with(WITHOUT_LOAD)  # no load comes after it
        [case] = app.ask_for.call_args.args
        place = "app:8080" if scenario == "idle" else "proxy:8080"
        assert (case.scenario.name, case.load_address) == (scenario, place)


def test_what_changes_the_database_comes_last(real: Catalog) -> None:
    names = [scenario.name for scenario in order(real.scenarios)]
    assert (names[-1], {*names}) == ("note-write", real.scenarios.keys() - {"mixed"})


def test_the_table_its_reasons_and_its_sentence() -> None:
    declined = Square("a", "users", SquareOutcome.UNSUPPORTED, "many processes")
    good = [Square("a", "index", SquareOutcome.OK), declined]
    failed = [Square("b", name, SquareOutcome.FAILED, "it did not start") for name in ("index", "users")]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table([*good, *failed]), *reasons([*good, *failed]), sep="\n")
    text = console.export_text()
    assert "a: users: unsupported: many processes" in text
    assert "b: index, users: failed: it did not start" in text
    assert re.search(r"│ a +│ ok", text)
    assert sentence(good) == "2 cells of 1 implementation: 1 served, 1 declined with a reason"
    wrong = [*good, Square("b", "index", SquareOutcome.WRONG, "7")]
    assert sentence(wrong).endswith("1 not right, first b in index: wrong")

"""`tandem advise`: from the committed records to an answer."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.analysis.advice import Evidence
from tandem.catalog.catalog import Catalog
from tandem.cli.options import app
from tandem.commands.advise import asked, evidence
from tandem.errors import UsageError

ASKED = ("advise", "--wait", "30ms", "--cpu", "2ms", "--rate", "300", "--cores", "2", "--pool", "20")


@pytest.fixture(scope="module")
def committed(root: Path) -> Evidence:
    """What the records of this repository say, read once."""
    return evidence(Catalog(root), root / "results", "python")


@pytest.fixture(autouse=True)
def _read(committed: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tandem.commands.advise.evidence", lambda *_: committed)


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_it_answers_from_the_records_that_it_names() -> None:
    said = command(*ASKED, "--json")
    assert said.exit_code == 0
    found = json.loads(said.stdout)
    assert found["chosen"]["model"] in ("sync", "async")
    assert found["chosen"]["workers"] == 2
    assert 10 <= found["chosen"]["pool"] <= 20
    assert "reference" in found["evidence"]["pairs"]
    errors = {
        one["label"]: one["off"] for one in found["evidence"]["checked"] if one["record"] == "reference"
    }
    assert errors.keys() == {"rust-async", "rust-sync", "cpp-async", "node", "python-async", "python-sync"}
    assert max(map(abs, errors.values())) < 0.10


def test_people_read_the_answer_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app(ASKED)
    assert capsys.readouterr().out.startswith(("async, 2 workers", "sync, 2 workers"))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("--cpu", "0ms"), "--cpu and --rate are more than 0"),
        (("--language", "pyton"), "Did you mean 'python'"),
    ],
)
def test_what_means_nothing_is_refused(changed: tuple[str, str], told: str) -> None:
    said = command(*ASKED, *changed)
    assert isinstance(said.exception, UsageError)
    assert told in str(said.exception)


def test_on_a_terminal_what_is_missing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda question: f"{question} 7ms")
    assert asked("--cpu", None, "How much?") == "How much? 7ms"
    assert asked("--cpu", "2ms", "How much?") == "2ms"

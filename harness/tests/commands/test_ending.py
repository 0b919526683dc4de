"""How every measuring command ends: a sentence, its tables within 100 columns, its page; and that each can be quiet."""

import io
import shutil
from pathlib import Path

import pytest
import typer.main
from harness_page import uncommitted
from rich.console import Console
from rich.table import Table

from tandem.cli import measure
from tandem.cli.options import app
from tandem.commands import main as cli
from tandem.report.table import fitted
from tandem.studies.registry import read_folder

KEPT = ("reference", "comparisons/falcon", "comparisons/python-sync", "explanations/published-python")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
WIDTH = 100


def options_of(name: str) -> set[str]:
    return {option for parameter in COMMANDS[name].params for option in parameter.opts}


def test_what_measures_can_be_quiet_and_answer_programs() -> None:
    measuring = {name for name in COMMANDS if "--resume" in cli.interrupted(name)} | {"replay", "matrix"}
    assert {"bench", "nightly", "reproduce", "selftest"} < measuring
    assert {name for name in measuring if not {"--quiet", "--json"} <= options_of(name)} == set()


@pytest.mark.parametrize("name", KEPT)
def test_a_result_is_told_in_one_sentence(root: Path, name: str) -> None:
    _, result, _ = read_folder(root / "results" / name)
    told = measure.sentence(result).plain
    assert told.startswith(f"{result.request.study}, ok: ")
    assert "\n" not in told
    bad = result.model_copy(update={"verdict": "void", "reasons": ["too much steal", "more"]})
    assert measure.sentence(bad).plain.endswith(": too much steal")


@pytest.mark.parametrize(
    ("name", "told"), [("sweep", "/s at connections"), ("ceiling", "% of "), ("crosscheck", "pairs")]
)
def test_the_sentence_has_the_main_figure(name: str, told: str) -> None:
    assert told in uncommitted(name).headline


def printed(root: Path, name: str, width: int) -> str:
    kind, result, _ = read_folder(root / "results" / name)
    console = Console(file=io.StringIO(), width=width)
    console.print(fitted(kind.report(result), console))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("name", KEPT)
def test_tables_fit_100_columns(root: Path, name: str) -> None:
    text = printed(root, name, WIDTH)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text, "a cell was cut"
    assert "┃" in printed(root, "comparisons/falcon", 240), "a table that fits keeps its frame"


def test_the_page_of_the_result_is_there(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    shutil.copytree(root / "results/comparisons/falcon", tmp_path / "one")
    page = measure.page_of(tmp_path / "one")
    assert page is not None
    assert page.is_relative_to(tmp_path / "page/runs")
    assert "<h2>Findings</h2>" in page.read_text()


def test_a_result_stands_without_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    assert measure.page_of(tmp_path / "nothing") is None


@pytest.mark.parametrize(("good", "verdict"), [(True, "ok"), (False, "failed")])
def test_what_is_no_study_ends_as_the_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    good: bool,
    verdict: str,
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    said = Console(file=io.StringIO(), width=WIDTH)
    monkeypatch.setattr(measure, "out", said)
    table = Table("check", title="checks")
    table.add_row("one <script>")
    measure.tell("selftest", "1 of 1 checks hold", good, table, tmp_path / "selftest.json")
    lines = said.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == f"selftest, {verdict}: 1 of 1 checks hold"
    page = tmp_path / "page/runs/selftest.html"
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "selftest.json"), str(page)]
    text = page.read_text()
    assert f'<span class="verdict {verdict}">' in text
    assert "1 of 1 checks hold" in text
    assert "one &lt;script&gt;" in text

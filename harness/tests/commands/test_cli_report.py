"""`tandem report`: the table of whatever a command left behind."""

import shutil
from pathlib import Path

import pytest
from harness_samples import NOW
from rich.console import Console

from tandem.analysis.prediction import Replayed
from tandem.commands import report as report_
from tandem.commands.report import report
from tandem.engine.replay import FILE
from tandem.record.store import write_model
from tandem.record.window import Verdict

BENCHED, SEARCHED = "results/reference", "results/capacities/falcon-async"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_, "out", Console(width=200))


@pytest.mark.parametrize(
    ("folder", "phrases"),
    [
        (BENCHED, ["python-sync", "limited by", "self-test", "ceilings (in the blocks): null 21,969/s"]),
        (SEARCHED, ["falcon-async: capacity", "search: passed", "further start: "]),
    ],
)
def test_every_kind_of_result_is_told_again(
    root: Path, capsys: pytest.CaptureFixture[str], folder: str, phrases: list[str]
) -> None:
    report(root / folder / "result.json")
    said = capsys.readouterr().out
    assert [phrase for phrase in phrases if phrase not in said] == []


def test_as_a_table_for_a_page(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(root / BENCHED, as_markdown=True)
    said = capsys.readouterr().out
    assert said.startswith("what a request costs: scenario recipes")
    assert "\n\n| implementation | verdict |" in said
    assert "trials, seed " in said.splitlines()[-1]


def test_what_a_replay_found_stands_below_its_result(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "again"
    shutil.copytree(root / BENCHED, folder)
    found = Replayed(
        study="bench",
        recorded=f"{NOW:%Y}-bench",
        new="again",
        verdict=Verdict.OK,
        figures=[],
        differences=["image of app changed"],
        reproduced=False,
    )
    write_model(folder / FILE, found)
    report(folder)
    said = capsys.readouterr().out
    assert "different: image of app changed" in said
    assert said.index("python-sync") < said.index("recorded and measured again")

"""`tandem report`: the table of whatever a command left behind."""

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from tandem.commands import report as cli_report
from tandem.commands.report import report_
from tandem.errors import TandemError, UsageError

COMPARED, REPRODUCED, CAMPAIGN = "designs/python-async", "reference-experiments/file-io", "reference"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_report, "out", Console(width=200))


@pytest.mark.parametrize(
    ("folder", "phrases"),
    [
        (COMPARED, ["python-async-slow", "equivalent", "self-test"]),
        (REPRODUCED, ["rayon is ahead of tokio's tasks", "stands, larger", "self-test"]),
        (CAMPAIGN, ["python-sync", "limited by"]),
    ],
)
def test_every_kind_of_result_is_told_again(
    root: Path, capsys: pytest.CaptureFixture[str], folder: str, phrases: list[str]
) -> None:
    report_(root / "results" / folder)
    said = capsys.readouterr().out
    assert [phrase for phrase in phrases if phrase not in said] == []


@pytest.mark.parametrize("folder", [CAMPAIGN, REPRODUCED])
def test_as_a_table_for_a_page(root: Path, capsys: pytest.CaptureFixture[str], folder: str) -> None:
    report_(root / "results" / folder, as_markdown=True)
    assert "| --- |" in capsys.readouterr().out


def test_a_comparison_has_no_table_for_a_page(root: Path) -> None:
    with pytest.raises(UsageError, match="of campaigns and of reproductions only"):
        report_(root / "results" / COMPARED, as_markdown=True)


@pytest.mark.parametrize("name", cli_report.TABLES)
def test_a_broken_record_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"findings": ')
    with pytest.raises(TandemError, match=f"{name}: the record cannot be read"):
        report_(tmp_path)


def test_a_folder_without_a_result(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match="holds no finished run"):
        report_(tmp_path)


def test_what_a_replay_found_stands_below_its_campaign(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(root / "results" / CAMPAIGN, tmp_path / "again")
    (tmp_path / "again/replay.json").write_text("[]")
    report_(tmp_path / "again")
    (tmp_path / "again/replay.json").write_text("[")
    with pytest.raises(TandemError, match=r"replay\.json: the record cannot be read"):
        report_(tmp_path / "again")
    assert "python-sync" in capsys.readouterr().out

"""tandem.studies.legacy: of a record that cannot be read the file is named, and what is wrong with it.

That whole ones say what they said is checked beside each study.
"""

import json
import shutil
from pathlib import Path

import pytest
from harness_places import FIXTURES

from tandem.errors import TandemError
from tandem.studies.legacy import read
from tandem.studies.registry import read_folder

FILES = [
    "bench-1/rust-async.recipes.full/run.json",
    "bench-2/campaign.json",
    "compare/compare.json",
    "compare/campaign.json",
    "compare/blocks/block-1.json",
    "capacity/capacity.json",
    "sweep/sweep.json",
    "ceiling/ceiling.json",
    "crosscheck/crosscheck.json",
    "reproduce/reproduction.json",
    "files/reproduction.json",
]


def changed(tmp_path: Path, name: str, text: str) -> tuple[Path, Path]:
    """A copy of a record in which one file says something else: its folder, that file."""
    record = name.partition("/")[0]
    shutil.copytree(FIXTURES / "old-records" / record, tmp_path / record)
    (tmp_path / name).write_text(text)
    return tmp_path / record, tmp_path / name


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("wrong", ["half", "[]", "{}", '{"schema_version": 9}', '{"kind": "files"}'])
def test_a_broken_file_is_named(tmp_path: Path, name: str, wrong: str) -> None:
    text = (FIXTURES / "old-records" / name).read_text()
    folder, file = changed(tmp_path, name, text[:-40] if wrong == "half" else wrong)
    with pytest.raises(TandemError) as error:
        read_folder(folder)
    assert str(error.value).startswith(f"{file}: the record cannot be read: ")
    assert "schema version 9 is not known" in str(error.value) or "9" not in wrong


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("bench-2/python-sync.recipes.full/run.json", {"trials": [{}]}, "findings is missing"),
        ("bench-2/python-sync.recipes.full/run.json", {"summary": {"goodput": 1}}, "goodput: Extra inputs"),
        ("compare/compare.json", {"schema_version": 2}, "schema version 2 is not known"),
        ("capacity/capacity.json", {"slo": None}, "Input should be"),
        ("capacity/capacity.json", {"search": [{}]}, "response_time_ms is missing"),
        ("capacity/capacity.json", {"verdict": "fine"}, "verdict: Input should be"),
        ("reproduce/reproduction.json", {"rows": [{"starts": 1}]}, "not iterable"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, name: str, changes: dict[str, object], told: str) -> None:
    old = json.loads((FIXTURES / "old-records" / name).read_text())
    folder, file = changed(tmp_path, name, json.dumps({**old, **changes}))
    with pytest.raises(TandemError) as error:
        read_folder(folder)
    assert str(error.value).startswith(f"{file}: the record cannot be read: ")
    assert told in str(error.value)


def test_a_comparison_without_its_campaign_is_told(tmp_path: Path) -> None:
    folder, file = changed(tmp_path, "compare/campaign.json", "")
    file.unlink()
    with pytest.raises(TandemError, match=r"campaign\.json: the record cannot be read: "):
        read_folder(folder)


def test_what_holds_no_record(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert read(tmp_path / "nothing") is None
    shutil.copy(FIXTURES / "old-records/bench-2/campaign.json", tmp_path)
    with pytest.raises(TandemError, match="holds no finished study"):
        read_folder(tmp_path)  # one that was never finished

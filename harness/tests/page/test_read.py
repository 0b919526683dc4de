"""tandem.page.read: what is found, in which order, and what happens to what cannot be read."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from harness_places import result_alone

from tandem.page.read import NotShown, Run, find, read
from tandem.record.result import SCHEMA_VERSION

BENCH = "results/reference"


@pytest.fixture
def results(root: Path, tmp_path: Path) -> Path:
    """Three copies of a real record, on three days."""
    result = result_alone(root / BENCH)
    for day, name in ((1, "a"), (3, "b"), (2, "deep/c")):
        (tmp_path / name).mkdir(parents=True)
        changed = {**result, "started_at": f"2026-01-0{day}T00:00:00Z"}
        (tmp_path / name / "result.json").write_text(json.dumps(changed))
    return tmp_path


def test_the_newest_comes_first(results: Path) -> None:
    found, broken = find([results], results)
    assert [header.name for header in found] == ["b", "deep/c", "a"]
    assert broken == []
    run = read(found[0])
    assert isinstance(run, Run)
    assert (run.slug, run.result.request.study) == ("b", "bench")


def test_a_folder_of_one_result_is_found_once(results: Path) -> None:
    found, _ = find([results / "a", results / "a", results], results)
    assert [header.name for header in found] == ["b", "deep/c", "a"]


def test_pages_have_names_of_their_own(results: Path) -> None:
    shutil.copytree(results / "deep/c", results / "deep-c")
    assert len({header.slug for header in find([results], results)[0]}) == 4


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        ('{"schema_version": 3, "req', "the file is truncated|cannot be read"),
        ("[]", "cannot be read"),
        ('{"schema_version": 3, "request": {"study": "bench"}}', "cannot be read"),
        ({"started_at": "yesterday"}, "cannot be read"),
        ({"verdict": "fine"}, "cannot be read"),
        ({"schema_version": 99}, f"schema version 99 is not known; this Tandem reads {SCHEMA_VERSION}"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_there(
    results: Path, damaged: str | dict[str, Any], reason: str
) -> None:
    file = results / "a/result.json"
    if isinstance(damaged, dict):
        damaged = json.dumps({**json.loads(file.read_text()), **damaged})
    file.write_text(damaged)
    (results / "begun").mkdir()
    (results / "begun/request.json").write_text("{}")
    found, broken = find([results], results)
    assert [header.name for header in found] == ["b", "deep/c"]
    assert [one.name for one in broken] == ["a", "begun"]
    assert re.search(reason, broken[0].reason)
    assert "--resume" in broken[1].reason


def test_a_broken_trial_is_named(results: Path) -> None:
    (results / "b/trials").mkdir()
    (results / "b/trials/1.json").write_text("[]")
    [header, *_] = find([results], results)[0]
    found = read(header)
    assert isinstance(found, NotShown)
    assert "1.json" in found.reason

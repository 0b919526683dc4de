"""A folder that holds many results, in a list: what is read of each, what is named, and how fast."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tandem.commands import report as command
from tandem.commands.report import listed, report, variants
from tandem.errors import UsageError
from tandem.studies.registry import FIRST_BYTES, IndexEntry, index

REAL = "results/reference-experiments/file-io"
Keep = Callable[..., Path]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "out", Console(width=200))


@pytest.fixture(scope="module")
def real_result(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / REAL / "result.json").read_text())
    return found


@pytest.fixture
def keep(tmp_path: Path, real_result: dict[str, Any]) -> Keep:
    """Keeps a copy of a real result below tmp_path, with some keys changed."""

    def kept(name: str, **changes: Any) -> Path:
        (tmp_path / name).mkdir(parents=True)
        result = {**real_result, "id": Path(name).name, **changes}
        (tmp_path / name / "result.json").write_text(json.dumps(result))
        return tmp_path

    return kept


def test_the_newest_is_first_and_each_tells_what_it_is(keep: Keep) -> None:
    keep("one", started_at="2026-01-01T00:00:00Z")
    keep("two", started_at="2026-01-03T00:00:00Z", verdict="void")
    found = index(keep("below/three", started_at="2026-01-02T00:00:00Z"))
    places = [(entry.folder, entry.verdict) for entry in found.entries]
    assert places == [("two", "void"), ("below/three", "ok"), ("one", "ok")]
    entry = found.entries[0]
    assert (entry.id, entry.study, entry.scenario) == ("two", "reproduce", "file-io")
    assert len(entry.variants) == 220
    assert entry.headline.endswith(" claims stand")
    assert (found.unreadable, found.unfinished) == ([], [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"schema_version": 4}, "schema version 4 is not known"),
        ({"verdict": "fine"}, "'fine' is not a valid Verdict"),
        ({"request": {"study": "horoscope"}}, "the study 'horoscope' is not known"),
        ({"request": None}, "the record cannot be read"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_listed(keep: Keep, changes: Any, told: str) -> None:
    keep("good")
    found = index(keep("bad", **changes))
    assert [entry.folder for entry in found.entries] == ["good"]
    [reason] = found.unreadable
    assert "bad/result.json: " in reason
    assert told in reason


def test_a_half_written_result_and_a_study_that_has_not_ended_are_named(keep: Keep) -> None:
    folder = keep("good")
    (folder / "half").mkdir()
    text = (folder / "good/result.json").read_text()
    (folder / "half/result.json").write_text(text[: len(text) // 2])
    (folder / "begun").mkdir()
    (folder / "begun/request.json").write_text("{}")
    found = index(folder)
    assert (len(found.entries), found.unfinished) == (1, ["begun"])
    assert "half/result.json: the record cannot be read" in found.unreadable[0]


def test_only_the_beginning_of_a_long_result_is_read(keep: Keep) -> None:
    folder = keep("one")
    file = folder / "one/result.json"
    text = file.read_text()
    assert len(text) > FIRST_BYTES
    file.write_text(text[: FIRST_BYTES + 10] + "what stands here is not looked at}\n")
    assert index(folder).entries[0].headline.endswith(" claims stand")


def test_a_headline_behind_a_long_request_is_read(keep: Keep, real_result: dict[str, Any]) -> None:
    options = {"long": "x" * FIRST_BYTES}
    folder = keep("one", request={**real_result["request"], "options": options})
    assert index(folder).entries[0].headline == real_result["headline"]


# ---- the command ----


def test_a_folder_of_many_is_listed(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    keep("one")
    folder = keep("two", verdict="invalid")
    (folder / "three").mkdir()
    (folder / "three/result.json").write_text("{")
    (folder / "four").mkdir()
    (folder / "four/request.json").write_text("{}")
    report(folder)
    said = capsys.readouterr().out
    phrases = "2 results", "file-io", "invalid", "three/result.json", "four: not finished", "claims stand"
    assert [phrase for phrase in phrases if phrase not in said] == []
    report(folder, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert {entry["folder"] for entry in told["entries"]} == {"one", "two"}
    with pytest.raises(UsageError, match="--markdown: a list of results"):
        report(folder, as_markdown=True)


def test_only_the_first_variants_are_named() -> None:
    few, many = (
        IndexEntry("f", "f", "bench", list(names), "recipes", "2026-01-01", "ok", "")
        for names in ("abc", "abcde")
    )
    assert (variants(few), variants(many)) == ("a, b, c", "5: a, b, c, …")


def test_a_hundred_results_take_a_fraction_of_a_second(keep: Keep, tmp_path: Path) -> None:
    """A tenth of what a second is for, with room for a busy machine."""
    for number in range(100):
        keep(f"copy-{number}")
    began = time.process_time()
    found = index(tmp_path)
    Console(width=140, quiet=True).print(listed(found))
    assert len(found.entries) == 100
    assert time.process_time() - began < 1.0

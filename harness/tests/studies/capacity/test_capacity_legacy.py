"""tandem.studies.capacity.legacy: a real record of schema 1 (rust-async, index, p90 <= 100 ms) as it was told then."""

import json
import shutil
from pathlib import Path

import pytest
from harness_engine import text

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.capacity.study import Capacity
from tandem.studies.registry import read_folder

PROBES = [
    "18,747 4 2.0 6.3 search: passed",
    "28,120 4 11.9 394.4 search: void: only 99640 of 112480 scheduled requests were answered right (88.6%); processes"
    " that do not belong here took 32.3% of the CPU (limit 15%, aim 5%)",
    "28,120 4 2.0 3.5 search: passed",
    "42,180 4 437.5 808.4 search: failed: only 78.1% of the scheduled requests were answered right",
    "34,440 4 58.6 143.0 search: failed: only 96.5% of the scheduled requests were answered right",
    "31,120 4 2.7 17.5 search: passed",
    "32,738 4 4.0 39.8 search: passed",
    "32,738 4 2.9 14.9 search: passed",
    "34,440 4 89.5 125.4 search: failed: only 96.2% of the scheduled requests were answered right",
    "32,738 4 5.8 28.9 confirmation: passed",
]
LOADS = [
    "50 16,369 16,369 1.6 3.1 0.00 0.02 – the offered rate",
    "75 24,554 24,554 2.0 6.2 0.00 0.01 – the offered rate",
    "90 29,464 29,466 2.1 7.9 0.00 0.01 – the offered rate",
    "110 36,012 32,463 273.0 462.4 0.00 12.21 1.6 HAProxy",
    "150 49,107 30,595 877.4 1,489.2 0.00 37.30 1.2 the offered rate (void)",
]
SENTENCES = [
    "rust-async: capacity 32,738/s: p90 <= 100 ms held at 32,738, not at 34,440; 1 of 1 fresh starts confirmed it",
    "above it, HAProxy was exhausted",
    "after 110%: back within p90 <= 100 ms at half the capacity: 1.6 s at most",
    "after 150%: back within p90 <= 100 ms at half the capacity: 1.2 s at most",
    "time: windows and around them 126 s, start, warm up 9 s, build, start the stack 4 s, stop 1 s",
]
"""What the command printed when it made the record (commit 3124d0a)."""


@pytest.fixture
def folder(fixtures: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fixtures / "old-records/capacity", tmp_path / "old"))


def told(result: Result[CapacityFound]) -> list[str]:
    """The report's lines without the frames of its tables."""
    lines = text(Capacity.report(result), 300).replace("│", " ").splitlines()
    return [" ".join(line.split()) for line in lines]


def test_an_old_record_is_told_as_it_was(folder: Path) -> None:
    kind, result, trials = read_folder(folder)
    assert (kind, trials, result.verdict, result.findings) == (Capacity, [], Verdict.OK, [])
    assert result.request.options == {"slo": "p90=100ms", "longest_s": 60}
    assert (result.request.conditions.topology, result.request.seed) == ("full", 1)
    lines = told(result)
    for expected in (*PROBES, *LOADS, *SENTENCES):
        assert expected in lines
    assert [line for line in lines if " search: " in line or " confirmation: " in line] == PROBES
    assert result.environments["rust-async"].settings["WORKERS"] == "1"
    assert Result[CapacityFound].model_validate_json(result.model_dump_json()) == result


def test_interruptions_and_what_older_records_did_not_have(folder: Path) -> None:
    file = folder / "capacity.json"
    old = json.loads(file.read_text())
    file.write_text(json.dumps({**old, "search_starts": 4, "environment": None}))
    (folder / "request.json").unlink()
    for name in ("ceilings_rps", "behaviour_starts"):
        del old[name]
    result = read_folder(folder)[1]
    assert [found.text for found in result.findings] == [
        "it was interrupted: the probes of the search come from 4 fresh starts"
    ]
    assert result.environments == {}
    assert told(result)
    file.write_text(json.dumps(old))
    assert read_folder(folder)[1].baselines.ceilings_rps == {}

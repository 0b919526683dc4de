"""The same raw files give the same figures: windows of real generator output, judged, against those that were
computed before the engine was one (golden/windows.json). A figure that changes on purpose changes that file as well."""

import json
import shutil
from pathlib import Path

import pytest
from harness_windows import conditions, measured, sample
from pydantic import JsonValue

from tandem.judge import judge
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.judge.judge import Expectation
from tandem.judge.measure import ClassConditions, window
from tandem.load.generator import OHA, Generator
from tandem.load.vegeta import VEGETA
from tandem.probes.sampler import Counted, Series
from tandem.record.window import Window

RAW: dict[str, tuple[Generator, int, float, float]] = {
    "oha-closed": (OHA, 3, 0.5, 0.25),
    "oha-open": (OHA, 2, 0.5, 0.25),
    "vegeta-closed": (VEGETA, 1, 0.1, 0.7),
    "vegeta-open": (VEGETA, 2, 0.5, 0.25),
}
"""Raw files -> who made them, seconds of the window, seconds that are left out at both ends."""


def judged(name: str, fixtures: Path, folder: Path) -> Window:
    """The record of a window with these rows and counters that grow at known rates."""
    by, seconds, trim_start_s, trim_end_s = RAW[name]
    for suffix in by.suffixes + (("requests", "txt") if by is VEGETA else ()):
        shutil.copy(fixtures / f"{name}.{'db' if suffix == 'sqlite' else suffix}", folder / f"w.{suffix}")
    rows, report = by.read(folder, "w")
    load = "open" if "open" in name else "closed"
    samples = Series([sample(moment / 4) for moment in range(-4, 4 * seconds + 5)])
    asked = conditions(
        "open" if load == "open" else "closed",
        duration_s=float(seconds),
        trim_start_s=trim_start_s,
        trim_end_s=trim_end_s,
        classes=[ClassConditions("", 1, 200, set(rows.length_bytes.tolist()[:3]))],
        connections=4,
    )
    found = window(measured(Counted(samples, 6.0), rows=rows, report=report), asked)
    found.findings = judge.gates(found, Expectation(["session"]))
    found.verdict = judge.verdict(found.findings)
    found.bottleneck, found.evidence = bottleneck(found, Concurrency(20, 32))
    return found


def close(now: JsonValue, before: JsonValue) -> bool:
    """Equal, numbers to a relative 1e-9."""
    if isinstance(before, dict):
        # A field that a window has got since is no difference; one that it lost is.
        return isinstance(now, dict) and all(
            name in now and close(now[name], before[name]) for name in before
        )
    if isinstance(before, list):
        return isinstance(now, list) and len(now) == len(before) and all(map(close, now, before))
    if isinstance(before, float) and isinstance(now, int | float):
        return now == pytest.approx(before, rel=1e-9)
    return now == before


@pytest.mark.parametrize("name", RAW)
def test_the_same_raw_files_give_the_same_figures(name: str, fixtures: Path, tmp_path: Path) -> None:
    golden = json.loads((fixtures / "golden/windows.json").read_text())
    made = judged(name, fixtures, tmp_path)
    found = made.model_dump(mode="json")
    assert [field for field in golden[name] if not close(found[field], golden[name][field])] == []
    assert golden[name]["requests"] > 0
    read_again = Window.model_validate_json(made.model_dump_json())
    assert read_again == made, "a study decides by windows that were just made as by kept ones"


def test_another_figure_is_seen(fixtures: Path, tmp_path: Path) -> None:
    golden = json.loads((fixtures / "golden/windows.json").read_text())["oha-open"]
    found = judged("oha-open", fixtures, tmp_path).model_dump(mode="json")
    found["goodput_rps"] *= 1.001
    assert [field for field in golden if not close(found[field], golden[field])] == ["goodput_rps"]

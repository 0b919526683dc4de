"""tandem.studies.capacity: what was interrupted goes on. The running trial is lost, nothing else."""

import json
from pathlib import Path

import pytest
from harness_capacity import VOID, Simulated, search

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report import curves
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.capacity.judged import State

ODD = {"search/probe-2": VOID, "confirmation-3/probe-1": VOID}
"""A probe of the search and one of a further start are void once."""


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots follow from the conclusions, which are compared, and take longer than a search."""
    monkeypatch.setattr(curves, "files", lambda estimates: {})


def interrupted(real: Catalog, results: Path, stops_at: int, resume: bool = False) -> Simulated:
    lab = Simulated(odd=ODD, stops_at=stops_at)
    with pytest.raises(KeyboardInterrupt):
        search(real, results, lab, resume)
    assert not lab.is_up
    return lab


def resumed(real: Catalog, results: Path) -> tuple[Simulated, Result[CapacityFound]]:
    lab = Simulated(odd=ODD)
    return lab, search(real, results, lab, resume=True, seed=99)[0]


def folder_in(results: Path) -> Path:
    [folder] = results.glob("*-capacity-rust-async-capacity")
    return folder


def test_interrupted_it_goes_on_with_the_trial_that_was_running(real: Catalog, tmp_path: Path) -> None:
    whole = Simulated(odd=ODD)
    record, _ = search(real, tmp_path / "whole", whole)
    assert record.verdict is Verdict.OK
    states = [probe.state for probe in (*record.conclusions.search, *record.conclusions.confirmations)]
    assert states.count(State.VOID) == 2
    expected = record.conclusions.model_dump_json()
    places = [at for at, name in enumerate(whole.made) if name in ODD or at % 4 == 0]
    for at in places:
        name, results = whole.made[at], tmp_path / f"at-{at}"
        first = interrupted(real, results, at)
        assert first.made == whole.made[:at]
        again, found = resumed(real, results)
        running = name.split("/")[0]
        assert again.made == [m for m in whole.made if m.split("/")[0] in again.visited]
        assert again.visited == whole.visited[whole.visited.index(running) :], f"interrupted before {name}"
        assert found.conclusions.model_dump_json() == expected
        assert (found.verdict, found.trials) == (record.verdict, record.trials)
        assert found.request.seed == 1, "the order of the loads is the first one's"
    several = tmp_path / "several"
    visited = interrupted(real, several, 3).visited
    for _ in range(2):
        visited += interrupted(real, several, 10, resume=True).visited
    assert visited[:2] == ["search", "search"]
    assert resumed(real, several)[1].conclusions.model_dump_json() == expected


def test_without_its_trials_everything_is_made_anew(real: Catalog, tmp_path: Path) -> None:
    """The negative control of the above: it is the journal that saves the trials."""
    first = interrupted(real, tmp_path, 14)
    for file in (folder_in(tmp_path) / "trials").glob("*.json"):
        file.unlink()
    again, _ = resumed(real, tmp_path)
    assert again.made[:14] == first.made


@pytest.mark.parametrize("wrong", ["rate", "closed", "seconds", "extra"])
def test_a_search_that_does_not_fit_is_one_clear_error(real: Catalog, tmp_path: Path, wrong: str) -> None:
    interrupted(real, tmp_path, 14)
    file = folder_in(tmp_path) / "trials/search.json"
    whole = file.read_text()
    made = json.loads(whole)
    windows = made["windows"]
    if wrong == "rate":
        windows[3]["spec"]["rates_rps"]["rust-async"] += 1
    elif wrong == "closed":
        windows[0]["windows"]["rust-async"]["goodput_rps"] *= 2
    elif wrong == "seconds":
        windows[3]["spec"]["seconds"] += 1
    else:
        windows.append(windows[-1])
    file.write_text(json.dumps(made))
    with pytest.raises(
        TandemError, match=r"trial search cannot be used: its window probe-\d+ .*Remove its file"
    ):
        resumed(real, tmp_path)
    assert not (folder_in(tmp_path) / "result.json").exists(), "it stays unfinished, so the remedy works"
    file.unlink()
    assert resumed(real, tmp_path)[1].verdict is Verdict.OK


def test_every_figure_decides_as_the_journal_keeps_it(real: Catalog, tmp_path: Path) -> None:
    """Six digits are kept. A closed goodput with more of them must not lead to another first rate when it is read."""
    limit = 1999.9999 / 1.2
    lab = Simulated(limit=limit, stops_at=14)
    with pytest.raises(KeyboardInterrupt):
        search(real, tmp_path, lab)
    assert lab.rates[0] == 1000, "half of 2,000, as the journal has it"
    again = Simulated(limit=limit)
    result, _ = search(real, tmp_path, again, resume=True)
    assert (result.verdict, "search" in again.visited) == (Verdict.OK, False)

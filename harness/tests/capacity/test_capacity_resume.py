"""tandem.capacity.session and tandem.capacity.journal: what was interrupted goes on."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from harness_capacity import Simulated, asked, simulated
from harness_samples import NOW, finding
from rich.console import Console

from tandem.capacity import session as capacity_session
from tandem.capacity.journal import PROGRESS, REQUEST, RESULT, Asked, Journal, Progress
from tandem.capacity.probe import State
from tandem.capacity.record import Capacity, report
from tandem.capacity.search import parse_slo
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.lab.live import Lines
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.record.window import Verdict

VOID = [finding("void", "steal", "the hypervisor took 20 %")]
ODD = {2: VOID, 12: VOID}
"""A probe of the search and a confirmation are void once."""
OWN = {"started_at", "finished_at", "phases_s", "search_starts", "behaviour_starts"}
"""What a resumed session has of its own."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_session, "RECOVER_S", 0.0)
    monkeypatch.setattr(capacity_session, "BEFORE_AGAIN_S", 0.0)


def interrupted(catalog: Catalog, results: Path, stops_at: int) -> Simulated:
    session = simulated(catalog, results, odd=ODD, stops_at=stops_at)
    with pytest.raises(KeyboardInterrupt):
        session.run(resume=False)
    assert session.down
    return session


def resumed(catalog: Catalog, results: Path, rates: list[int], **changes: Any) -> tuple[Simulated, Capacity]:
    """rates: of the windows before, because ODD counts from the first one."""
    session = simulated(catalog, results, odd=ODD, rates=list(rates))
    session.asked = asked(**{"seed": 99, **changes})
    return session, session.run(resume=True)


def found_in(record: Capacity) -> Any:
    return {name: value for name, value in json.loads(record.model_dump_json()).items() if name not in OWN}


def folder_in(results: Path) -> Path:
    [folder] = results.glob("*-capacity-rust-async-recipes")
    return folder


def test_interrupted_before_any_window_it_goes_on_with_that_window(real: Catalog, tmp_path: Path) -> None:
    whole = simulated(real, tmp_path / "whole", odd=ODD)
    record = whole.run(resume=False)
    assert record.verdict is Verdict.OK
    total, searched = len(whole.rates), len(record.search)
    first_load = total - 5 - 2
    assert [probe.state for probe in record.search].count(State.VOID) == 1
    assert [probe.state for probe in record.confirmations].count(State.VOID) == 1
    for at in range(-1, total):
        results = tmp_path / f"at-{at}"
        first = interrupted(real, results, at)
        assert first.rates == whole.rates[: max(at, 0)]
        again, found = resumed(real, results, first.rates)
        # What follows an overload belongs to it: both are made again.
        begins = at - 1 if at in (total - 3, total - 1) else max(at, 0)
        assert again.rates[len(first.rates) :] == whole.rates[begins:], f"interrupted before window {at}"
        assert found_in(found) == found_in(record)
        assert found.seed == 1, "the order of the loads is the first one's"
        assert found.search_starts == (2 if 0 <= at < searched else 1)
        assert found.behaviour_starts == (2 if first_load < at else 1)
        assert json.loads((folder_in(results) / RESULT).read_text()) == json.loads(found.model_dump_json())


def test_interrupted_several_times(real: Catalog, tmp_path: Path) -> None:
    whole = simulated(real, tmp_path / "whole", odd=ODD)
    record = whole.run(resume=False)
    rates: list[int] = interrupted(real, tmp_path / "parts", 1).rates
    started = Progress.model_validate_json((folder_in(tmp_path / "parts") / PROGRESS).read_text()).started_at
    for at in (2, 3):
        session = simulated(real, tmp_path / "parts", odd=ODD, rates=list(rates), stops_at=at)
        with pytest.raises(KeyboardInterrupt):
            session.run(resume=True)
        rates = session.rates
    again, found = resumed(real, tmp_path / "parts", rates)
    assert again.rates == whole.rates
    assert found_in(found) == found_in(record)
    assert (found.search_starts, found.started_at) == (4, started)
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report(found))
    assert "the search was interrupted: its probes are of 4 fresh starts" in console.export_text()
    console.print(report(record))
    assert "interrupted" not in console.export_text()


def test_without_its_progress_everything_is_made_anew(real: Catalog, tmp_path: Path) -> None:
    """The negative control of the above: it is the progress that saves the windows."""
    first = interrupted(real, tmp_path, 9)
    (folder_in(tmp_path) / PROGRESS).unlink()
    again, found = resumed(real, tmp_path, [])
    assert again.rates[:9] == first.rates
    assert found.search_starts == 1


def test_raw_files_of_each_start_of_the_search_are_kept(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[str] = []
    lab = Simulated.lab

    def seen(self: Simulated, prepared: Prepared, folder: Path) -> BenchLab:
        folders.append(folder.name)
        return lab(self, prepared, folder)

    monkeypatch.setattr(Simulated, "lab", seen)
    resumed(real, tmp_path, interrupted(real, tmp_path, 3).rates)
    assert folders[:3] == ["search", "search-2", "confirmation-1"]


# ---- which folder ----


def keep(folder: Path, request: Asked, progress: Progress | None = None, finished: bool = False) -> None:
    folder.mkdir(parents=True)
    (folder / REQUEST).write_text(request.model_dump_json())
    if progress is not None:
        (folder / PROGRESS).write_text(progress.model_dump_json())
    if finished:
        (folder / RESULT).write_text("{}")


def test_the_newest_unfinished_of_the_same_request_goes_on(tmp_path: Path) -> None:
    keep(tmp_path / "1-capacity-a", asked(seed=1))
    keep(tmp_path / "2-capacity-a", asked(seed=2), Progress(started_at=NOW, search_starts=3))
    keep(tmp_path / "3-capacity-a", asked(seed=3), finished=True)
    journal = Journal.begin(tmp_path, asked(seed=99), resume=True, now=NOW)
    assert (journal.folder.name, journal.asked.seed, journal.progress.search_starts) == ("2-capacity-a", 2, 3)


@pytest.mark.parametrize(
    "other",
    [
        {"implementation": "rust-sync"},
        {"scenario": "recipe"},
        {"topology": "direct"},
        {"placement": "two-cores"},
        {"plan": "mine.toml"},
        {"knobs": {"WORKERS": "2"}},
        {"slo": parse_slo("p99=51ms")},
        {"slo": parse_slo("p90=50ms")},
        {"longest_s": 61},
        {"db_rtt_ms": 0},
    ],
    ids=str,
)
def test_another_request_is_another_search(tmp_path: Path, other: dict[str, object]) -> None:
    keep(tmp_path / "1-capacity-a", asked(**other))
    with pytest.raises(UsageError, match="there is no unfinished capacity search of"):
        Journal.begin(tmp_path, asked(), resume=True, now=NOW)
    assert Journal.begin(tmp_path, asked(**other, seed=5), resume=True, now=NOW).folder.name == "1-capacity-a"


def test_a_truncated_request_is_passed_over(tmp_path: Path) -> None:
    keep(tmp_path / "1-capacity-a", asked())
    keep(tmp_path / "2-capacity-a", asked())
    (tmp_path / "2-capacity-a" / REQUEST).write_text("{")
    assert Journal.begin(tmp_path, asked(), resume=True, now=NOW).folder.name == "1-capacity-a"


# ---- what cannot be used ----


def test_a_truncated_progress_is_one_clear_error(real: Catalog, tmp_path: Path) -> None:
    interrupted(real, tmp_path, 5)
    file = folder_in(tmp_path) / PROGRESS
    file.write_text(file.read_text()[:-40])
    with pytest.raises(TandemError) as error:
        resumed(real, tmp_path, [])
    assert str(error.value).startswith(f"{file} cannot be used: Invalid JSON: EOF")
    assert str(error.value).endswith("Remove it to make that search anew.")
    assert "\n" not in str(error.value)
    assert not (folder_in(tmp_path) / RESULT).exists(), "it stays unfinished, so the remedy works"
    file.unlink()
    assert resumed(real, tmp_path, [])[1].verdict is Verdict.OK


@pytest.mark.parametrize("wrong", ["rate", "closed", "confirmations", "behaviour"])
def test_a_progress_that_does_not_fit_is_one_too(real: Catalog, tmp_path: Path, wrong: str) -> None:
    whole = simulated(real, tmp_path / "whole", odd=ODD)
    whole.run(resume=False)
    tmp_path /= "parts"
    first = interrupted(real, tmp_path, len(whole.rates) - 2 if wrong == "behaviour" else 5)
    file = folder_in(tmp_path) / PROGRESS
    made = json.loads(file.read_text())
    if wrong == "rate":
        made["search"][2]["rate_rps"] += 1
    elif wrong == "closed":
        made["closed_goodput_rps"] *= 2
    elif wrong == "confirmations":
        made["confirmations"] = made["search"][:1]
    else:
        made["confirmations"] = made["confirmations"][:-1]
    file.write_text(json.dumps(made))
    with pytest.raises(TandemError, match=r"cannot be used: .* Remove it"):
        resumed(real, tmp_path, first.rates)


# ---- what the user is told ----


class Engine(OSError):
    """The engine's own error."""


@pytest.mark.parametrize(("stops_with", "told"), [(Engine, True), (TandemError, False)])
def test_an_error_that_leaves_it_unfinished_says_how_it_goes_on(
    real: Catalog, tmp_path: Path, stops_with: type[Exception], told: bool
) -> None:
    """What a TandemError ends is finished: its record says failed."""
    screen = io.StringIO()
    session = simulated(real, tmp_path, stops_at=4, stops_with=stops_with)
    session.view = Lines(Console(file=screen, width=160))
    with pytest.raises(stops_with):
        session.run(resume=False)
    assert ("the same command with --resume goes on" in screen.getvalue()) == told
    assert (folder_in(tmp_path) / RESULT).exists() == (not told)


def test_nothing_was_kept_before_the_first_window(real: Catalog, tmp_path: Path) -> None:
    screen = io.StringIO()
    session = simulated(real, tmp_path, stops_at=-1, stops_with=Engine)
    session.view = Lines(Console(file=screen, width=160))
    with pytest.raises(Engine):
        session.run(resume=False)
    assert "--resume" not in screen.getvalue()

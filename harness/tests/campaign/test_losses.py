"""What goes wrong with files in one trial is that trial's loss and no more."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_places import FIXTURES, ROOT
from harness_samples import NOW, good_trial, good_window
from tandem.campaign import campaign as campaign_
from tandem.campaign.campaign import Bench

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.load.rows import read_rows
from tandem.old.store import Campaign, Request, Store
from tandem.record.window import Finding, Verdict, Window

RUN = "rust-async.recipes.full"
REQUEST = Request(
    implementations=["rust-async"],
    scenario="recipes",
    topology="full",
    placement="shared",
    plan="smoke",
    seed=1,
)


class Quiet:
    """A view that tells nobody."""

    def __getattr__(self, _: str) -> Any:
        return lambda *arguments: None


class Lab:
    """A laboratory whose generator leaves real files; in the trials of `truncated` half a file."""

    truncated: set[int] = set()  # noqa: RUF012
    full: set[int] = set()  # noqa: RUF012
    """In these trials the disk is full when the log is to be written."""
    recording = FIXTURES / "oha-open.db"

    def __init__(self, _stack: object, _cell: object, folder: Path, *_: object) -> None:
        self.folder, self.trial = folder, int(folder.name.removeprefix("trial-"))

    def start(self) -> None: ...
    def wait_ready(self) -> None: ...
    def drain(self) -> None: ...

    def verify(self) -> list[Finding]:
        return []

    def warm_up(self, duration_s: int) -> list[int]:
        return [10**9] * duration_s

    def measure(self, load: Any, duration_s: int, rate_rps: int | None) -> Window:
        file = self.folder / f"{load}.sqlite"
        whole = self.recording.read_bytes()
        file.write_bytes(
            whole[: len(whole) // 2] if self.trial in self.truncated and load == "open" else whole
        )
        assert len(read_rows(file)) == 200
        return good_window(load, offered_rps=100.0 if load == "open" else None)

    def collect(self) -> None:
        if self.trial in self.full:
            with Path("/dev/full").open("w") as stream:
                stream.write("log")

    def stop(self) -> list[Finding]:
        return []


def visited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **faults: set[int]) -> list[Verdict]:
    """The verdicts of a campaign of three trials."""
    monkeypatch.setattr(campaign_, "BenchLab", Lab)
    for name in ("truncated", "full"):
        monkeypatch.setattr(Lab, name, faults.get(name, set()))
    store = Store(tmp_path, Campaign(id="c", request=REQUEST, started_at=NOW))
    catalog = Catalog(ROOT)
    plan = catalog.plan("smoke").model_copy(update={"trials": 3})
    prepared: Any = SimpleNamespace(name=RUN, stack=None, cell=SimpleNamespace(workers=1))
    view: Any = Quiet()
    Bench(catalog, tmp_path, view)._visit_all(store, [prepared], plan)
    return [trial.verdict for trial in store.trials(RUN)]


def test_three_good_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited(tmp_path, monkeypatch) == [Verdict.OK] * 3


def test_a_truncated_file_loses_its_trial_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited(tmp_path, monkeypatch, truncated={2}) == [Verdict.OK, Verdict.FAILED, Verdict.OK]
    text = (tmp_path / "c" / RUN / "trial-2/trial.json").read_text()
    assert "open.sqlite: the load generator's rows cannot be read" in text


def test_a_full_disk_loses_its_trial_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited(tmp_path, monkeypatch, full={1}) == [Verdict.FAILED, Verdict.OK, Verdict.OK]
    assert "No space left on device" in (tmp_path / "c" / RUN / "trial-1/trial.json").read_text()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Every write beyond `size` bytes of a file fails, as on a disk that is nearly full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, Campaign(id="c", request=REQUEST, started_at=NOW))
    (store.fresh_trial_folder(RUN, 1) / "open.sqlite").write_bytes(b"x" * 4000)
    return store


def test_a_trial_that_does_not_fit_is_saved_as_failed(store: Store) -> None:
    with files_of_at_most(2000):
        store.save_trial_or_its_failure(RUN, good_trial(1))
    [saved] = store.trials(RUN)
    assert saved.verdict is Verdict.FAILED
    assert "cannot be written: File too large" in saved.findings[-1].text
    assert [file.name for file in store.trial_folder(RUN, 1).iterdir()] == ["trial.json"]


def test_a_trial_that_fits_stays_as_it_is(store: Store) -> None:
    store.save_trial_or_its_failure(RUN, good_trial(1))
    assert [trial.verdict for trial in store.trials(RUN)] == [Verdict.OK]
    assert (store.trial_folder(RUN, 1) / "open.sqlite").is_file()


def test_where_nothing_fits_the_campaign_ends_and_says_why(store: Store) -> None:
    with files_of_at_most(10), pytest.raises(TandemError, match="Finished trials are kept"):
        store.save_trial_or_its_failure(RUN, good_trial(1))

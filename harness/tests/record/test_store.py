"""tandem.old.store: what is on disk survives kills, full disks and other people's folders."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest
from harness_samples import good_run, good_trial

from tandem.errors import TandemError, UsageError
from tandem.old.run import Run
from tandem.old.store import Campaign, Request, Store, write_atomically
from tandem.record import store as store_

REQUEST = Request(
    implementations=["rust-async"],
    scenario="recipes",
    topology="full",
    placement="two-cores",
    plan="quick",
    seed=1,
    knobs={"WORKERS": "2"},
)
RUN = "rust-async.recipes.full"


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(store_, "NEEDED_BYTES", 1)
    return Store.create(tmp_path, REQUEST)


def make(results: Path, campaign: str, **changes: Any) -> Campaign:
    """A campaign on disk, as an earlier start of the program left it."""
    fields = {"id": campaign, "request": REQUEST, "started_at": "2026-11-21T12:00:00Z", **changes}
    made = Campaign.model_validate(fields)
    (results / campaign).mkdir()
    (results / campaign / "campaign.json").write_text(made.model_dump_json())
    return made


# ---- writing ----


def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_atomically(file, "old")
    write_atomically(file, "new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_keeps_the_old_file_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    file = tmp_path / "a.json"
    write_atomically(file, "old")

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if call == "fsync" else Path, call, full)
    with pytest.raises(TandemError, match="No space left on device") as told:
        write_atomically(file, "new")
    assert str(file) in str(told.value)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_kill_in_the_middle_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    write_atomically(file, "old")

    def killed(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, "new")
    assert file.read_text() == "old"


# ---- creating ----


def test_a_new_campaign_is_on_disk(new: Store, tmp_path: Path) -> None:
    written = Campaign.model_validate_json((new.folder / "campaign.json").read_text())
    assert new.folder == tmp_path / new.campaign.id
    assert new.campaign.id.endswith("Z-rust-async-quick")
    assert written == new.campaign
    assert not written.finished


def test_nothing_is_overwritten(new: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second campaign in the same second."""

    class Clock:
        @staticmethod
        def now(_: object) -> object:
            return new.campaign.started_at

    monkeypatch.setattr(store_, "datetime", Clock)
    with pytest.raises(TandemError, match="cannot be made: File exists"):
        Store.create(tmp_path, REQUEST)


def test_too_little_space_is_noticed_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_, "NEEDED_BYTES", shutil.disk_usage(tmp_path).total + 1)
    with pytest.raises(TandemError, match="make room first"):
        Store.create(tmp_path, REQUEST)
    assert list(tmp_path.iterdir()) == []


# ---- resuming ----


def test_the_newest_unfinished_campaign_goes_on_whatever_its_seed(tmp_path: Path) -> None:
    make(tmp_path, "20261101T000000Z-a")
    make(tmp_path, "20261102T000000Z-b", request=REQUEST.model_copy(update={"seed": 99}))
    make(tmp_path, "20261103T000000Z-c", finished=True)
    found = Store.resume(tmp_path, REQUEST)
    assert found.campaign.id == "20261102T000000Z-b"
    assert found.campaign.request.seed == 99


@pytest.mark.parametrize(
    "changes",
    [
        {"implementations": ["rust-async", "python-sync"]},
        {"scenario": "recipe"},
        {"topology": "direct"},
        {"placement": "shared"},
        {"plan": "smoke"},
        {"knobs": {}},
        {"knobs": {"WORKERS": "3"}},
    ],
)
def test_another_request_is_not_resumed(tmp_path: Path, changes: dict[str, Any]) -> None:
    make(tmp_path, "20261101T000000Z-a", request=REQUEST.model_copy(update=changes))
    with pytest.raises(UsageError, match="no unfinished campaign of rust-async"):
        Store.resume(tmp_path, REQUEST)


def test_a_finished_campaign_is_not_resumed(new: Store, tmp_path: Path) -> None:
    assert Store.resume(tmp_path, REQUEST).campaign.id == new.campaign.id
    new.finish()
    with pytest.raises(UsageError):
        Store.resume(tmp_path, REQUEST)


def test_a_campaign_of_an_earlier_version_is_not_resumed(tmp_path: Path) -> None:
    """Its trials lack the histograms that a summary is made from."""
    make(tmp_path, "20261101T000000Z-a", schema_version=1)
    with pytest.raises(UsageError):
        Store.resume(tmp_path, REQUEST)


@pytest.mark.parametrize("text", [b"", b"{", b"{}", b"[]", b'{"id": "x"}', b"\xff\xfe\x00"])
def test_a_corrupt_campaign_is_passed_over(tmp_path: Path, text: bytes) -> None:
    make(tmp_path, "20261101T000000Z-good")
    make(tmp_path, "20261102T000000Z-bad")
    (tmp_path / "20261102T000000Z-bad/campaign.json").write_bytes(text)
    (tmp_path / "20261103T000000Z-empty").mkdir()
    assert Store.resume(tmp_path, REQUEST).campaign.id == "20261101T000000Z-good"


# ---- trials and runs ----


def test_a_fresh_folder_has_nothing_of_a_killed_trial(new: Store) -> None:
    folder = new.fresh_trial_folder(RUN, 2)
    (folder / "closed.sqlite").write_text("half a file")
    other = new.fresh_trial_folder(RUN, 1)
    (other / "kept").touch()
    assert new.fresh_trial_folder(RUN, 2) == folder
    assert list(folder.iterdir()) == []
    assert (other / "kept").exists()


def test_finished_trials_come_in_order(new: Store) -> None:
    for index in (10, 2, 1):
        new.fresh_trial_folder(RUN, index)
        new.save_trial(RUN, good_trial(index))
    new.fresh_trial_folder(RUN, 3)  # was killed
    new.fresh_trial_folder("other", 4)
    new.save_trial("other", good_trial(4))
    assert [trial.index for trial in new.trials(RUN)] == [1, 2, 10]
    assert new.trials(RUN)[0] == good_trial(1)
    assert new.trials("none") == []


@pytest.mark.parametrize("text", [b"", b'{"index": 1}', b"\xff\xfe\x00"])
def test_a_trial_of_another_version_is_told_with_its_file(new: Store, text: bytes) -> None:
    file = new.fresh_trial_folder(RUN, 1) / "trial.json"
    file.write_bytes(text)
    with pytest.raises(TandemError, match="cannot be read: ") as told:
        new.trials(RUN)
    assert str(told.value).startswith(str(file))


def test_a_run_is_read_back_as_it_was(new: Store) -> None:
    new.run_folder(RUN).mkdir()
    file = new.save_run(good_run(run=RUN))
    assert file == new.folder / RUN / "run.json"
    assert Run.model_validate_json(file.read_text()) == good_run(run=RUN)


def test_the_promised_names_of_the_record(new: Store) -> None:
    """Others build on these; a test that has to change here breaks them."""
    new.run_folder(RUN).mkdir()
    record = json.loads(new.save_run(good_run(run=RUN)).read_text())
    promised = [
        "implementation",
        "scenario",
        "topology",
        "plan",
        "verdict",
        "bottleneck",
        "warnings",
        "trials",
        "summary",
    ]
    assert set(promised) <= record.keys()
    assert {
        "goodput_rps",
        "response_time_ms",
        "app_cpu_us_per_request",
        "app_memory_peak_bytes",
    } <= record["summary"].keys()
    assert {"p50", "p90", "p99"} <= record["summary"]["response_time_ms"].keys()
    assert record["schema_version"] == 2
    assert (record["implementation"], record["scenario"], record["topology"]) == (
        "rust-async",
        "recipes",
        "full",
    )
    assert (record["plan"], record["verdict"], record["bottleneck"]) == ("quick", "ok", "app-cpu")
    assert (record["warnings"], len(record["trials"])) == ([], 3)
    assert record["summary"]["app_memory_peak_bytes"] == 50 << 20


def test_floats_are_written_with_six_digits(new: Store) -> None:
    run = good_run(run=RUN)
    run.summary.goodput_rps = 1234.56789
    new.run_folder(RUN).mkdir()
    assert '"goodput_rps": 1234.57,' in new.save_run(run).read_text()


def test_the_owner_of_the_repository_gets_the_results(new: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[Path, tuple[int, int]] = {}

    def chown(path: Path, user: int, group: int, follow_symlinks: bool) -> None:
        assert not follow_symlinks
        given[path] = (user, group)

    monkeypatch.setattr(os, "chown", chown)
    owner = new.folder.parent.stat()
    new.give_to(new.folder.parent)
    assert given == {
        new.folder: (owner.st_uid, owner.st_gid),
        new.folder / "campaign.json": (owner.st_uid, owner.st_gid),
    }

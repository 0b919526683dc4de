"""tandem.engine.journal: what is on disk survives kills, full disks and other people's folders."""

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest
from harness_engine import made_trial, request, trial_spec
from harness_samples import NOW

from tandem.engine import journal as journal_
from tandem.engine.journal import BEGUN, Begun, Journal
from tandem.errors import TandemError, UsageError
from tandem.record import store
from tandem.record.request import Conditions, Variant
from tandem.record.store import RESULT, TRIALS
from tandem.record.window import Verdict

REQUEST = request(settings={"WORKERS": "2"})


@pytest.fixture
def new(tmp_path: Path) -> Journal:
    return Journal.begin(tmp_path, REQUEST)


def begun(results: Path, name: str, finished: bool = False, **changes: Any) -> Path:
    """A study on disk, as an earlier start of the program left it."""
    fields = {"request": REQUEST, "started_at": "2026-11-21T12:00:00Z", **changes}
    (results / name / TRIALS).mkdir(parents=True)
    (results / name / BEGUN).write_text(Begun.model_validate(fields).model_dump_json())
    if finished:
        (results / name / RESULT).write_text("{}")
    return results / name


# ---- beginning ----


def test_a_new_study_is_on_disk(new: Journal, tmp_path: Path) -> None:
    written = Begun.model_validate_json((new.folder / BEGUN).read_text())
    assert new.folder.parent == tmp_path
    assert new.folder.name.endswith("Z-bench-rust-async-smoke")
    assert (written.request, written.schema_version) == (REQUEST, 3)
    assert new.trials() == []
    assert not (new.folder / RESULT).exists()


def test_two_within_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_, "datetime", Mock(now=lambda _: NOW))
    names = [Journal.begin(tmp_path, REQUEST).folder.name for _ in range(3)]
    first = "20261121T120000Z-bench-rust-async-smoke"
    assert names == [first, f"{first}-2", f"{first}-3"]


def test_the_name_of_a_folder_is_one_word_and_no_path(tmp_path: Path) -> None:
    odd = Variant(label="contract/broken:WORKERS=2,X=$(rm)", implementation="contract/broken")
    folder = Journal.begin(tmp_path, request(variants=[odd], plan="/some/where/mine.toml")).folder
    assert folder.parent == tmp_path
    assert folder.name.endswith("-bench-contract-broken-WORKERS-2-X-rm--mine")


def test_too_little_space_is_noticed_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", shutil.disk_usage(tmp_path).total + 1)
    with pytest.raises(TandemError, match="free some space first"):
        Journal.begin(tmp_path, REQUEST)
    assert list(tmp_path.iterdir()) == []


# ---- resuming ----


def test_the_newest_unfinished_study_goes_on_whatever_its_seed(tmp_path: Path) -> None:
    begun(tmp_path, "20261101T000000Z-a")
    begun(tmp_path, "20261102T000000Z-b", request=REQUEST.model_copy(update={"seed": 99, "salt": "99"}))
    begun(tmp_path, "20261103T000000Z-c", finished=True)
    found = Journal.resume(tmp_path, REQUEST)
    assert found.folder.name == "20261102T000000Z-b"
    assert found.request.seed == 99, "its order is that of its own seed"
    assert found.request.salt == "99", "and its data are those that it began with"
    assert found.started_at == datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "changes",
    [
        {"study": "compare"},
        {"variants": [Variant(label="node", implementation="node")]},
        {"variants": [Variant(label="x", implementation="rust-async", settings={"WORKERS": "1"})]},
        {"scenario": "recipe"},
        {"conditions": Conditions(topology="direct", placement="shared")},
        {"conditions": Conditions(topology="full", placement="shared", db_rtt_ms=5)},
        {"plan": "quick"},
        {"settings": {}},
        {"options": {"over": "connections"}},
    ],
)
def test_another_request_is_not_resumed(tmp_path: Path, changes: dict[str, Any]) -> None:
    begun(tmp_path, "20261101T000000Z-a", request=REQUEST.model_copy(update=changes))
    with pytest.raises(UsageError, match="no unfinished bench of rust-async"):
        Journal.resume(tmp_path, REQUEST)


def test_a_study_of_another_version_is_named(tmp_path: Path) -> None:
    file = begun(tmp_path, "20261101T000000Z-a", schema_version=4) / BEGUN
    with pytest.raises(TandemError, match=rf"^{file} .* another version .* \(schema 4, this is 3\)"):
        Journal.resume(tmp_path, REQUEST)


@pytest.mark.parametrize("text", [b"", b"{", b"{}", b"[]", b'{"id": "x"}', b"\xff\xfe\x00"])
def test_a_corrupt_study_is_passed_over_and_told_where_there_is_no_other(tmp_path: Path, text: bytes) -> None:
    bad = begun(tmp_path, "20261102T000000Z-bad")
    (bad / BEGUN).write_bytes(text)
    (tmp_path / "20261103T000000Z-empty").mkdir()
    with pytest.raises(UsageError, match=r"cannot be read: .*20261102T000000Z-bad/request\.json"):
        Journal.resume(tmp_path, REQUEST)
    begun(tmp_path, "20261101T000000Z-good")
    assert Journal.resume(tmp_path, REQUEST).folder.name == "20261101T000000Z-good"


# ---- trials ----

SPEC = trial_spec()


def test_a_trial_is_found_again_by_its_spec(new: Journal) -> None:
    assert new.find(SPEC) is None
    new.save(made_trial(SPEC))
    assert new.find(SPEC) == made_trial(SPEC)
    assert new.find(SPEC.again()) is None, "the second attempt is another trial"
    new.save(made_trial(SPEC.again(), Verdict.VOID))
    assert [trial.spec.attempt for trial in new.trials()] == [1, 2]


def test_a_trial_of_another_spec_is_named_with_the_remedy(new: Journal) -> None:
    """The plan's file was edited between the start and --resume: one study must not mix two."""
    new.save(made_trial(SPEC))
    other = SPEC.model_copy(update={"windows": []})
    with pytest.raises(TandemError, match=rf"^{new.folder}/.*1-one\.json cannot be used: .*Remove it"):
        new.find(other)


@pytest.mark.parametrize("text", [b"", b'{"spec": 1}', b'{"spec": {', b"\xff\xfe\x00"])
def test_a_trial_that_cannot_be_read_is_named_with_the_remedy(new: Journal, text: bytes) -> None:
    file = new.folder / TRIALS / "1-one.json"
    file.write_bytes(text)
    remedy = rf"^{file}.* cannot be read: .*Move it away to measure that trial again"
    for read in (lambda: new.find(SPEC), new.trials):
        with pytest.raises(TandemError, match=remedy):
            read()


def test_a_kill_while_a_trial_is_written_leaves_none(new: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        new.save(made_trial(SPEC))
    monkeypatch.undo()
    assert new.find(SPEC) is None
    assert new.trials() == [], "what is half there is not taken for a trial"
    new.save(made_trial(SPEC))
    assert len(new.trials()) == 1


def test_a_fresh_folder_has_nothing_of_a_killed_trial(new: Journal) -> None:
    folder = new.fresh_raw(SPEC)
    (folder / "closed.sqlite").write_text("half a file")
    other = new.fresh_raw(trial_spec("2-one"))
    (other / "kept").touch()
    assert new.fresh_raw(SPEC) == folder
    assert list(folder.iterdir()) == []
    assert (other / "kept").exists()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Every write beyond `size` bytes of a file fails, as on a disk that is nearly full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_trial_that_does_not_fit_is_kept_as_failed_in_place_of_its_raw_files(new: Journal) -> None:
    (new.fresh_raw(SPEC) / "closed.sqlite").write_bytes(b"x" * 4000)
    with files_of_at_most(3500):
        new.save(made_trial(SPEC))
    [saved] = new.trials()
    assert saved.verdict is Verdict.FAILED
    assert "cannot be written: File too large" in saved.findings[-1].text
    assert not new.raw(SPEC).exists()
    other = trial_spec("2-one")
    (new.fresh_raw(other) / "closed.sqlite").write_bytes(b"x")
    new.save(made_trial(other))
    assert new.trials()[1].verdict is Verdict.OK, "the control: where it fits, it stays"
    assert (new.raw(other) / "closed.sqlite").is_file()


def test_where_nothing_fits_the_study_ends_and_says_why(new: Journal) -> None:
    with files_of_at_most(10), pytest.raises(TandemError, match="Finished trials are kept"):
        new.save(made_trial(SPEC))


def test_the_names_of_files_are_safe_and_not_taken_for_each_other(new: Journal) -> None:
    new.save(made_trial(spec := trial_spec("1-contract/broken:X=1")))
    assert [file.name for file in (new.folder / TRIALS).iterdir()] == ["1-contract-broken-X-1.json"]
    assert new.find(spec) is not None
    with pytest.raises(TandemError, match="another trial specification"):
        new.find(trial_spec("1-contract-broken-X/1"))


def test_floats_are_written_with_six_digits(new: Journal) -> None:
    trial = made_trial(SPEC)
    trial.windows[0].only.goodput_rps = 1234.56789
    new.save(trial)
    assert '"goodput_rps":1234.57,' in (new.folder / TRIALS / "1-one.json").read_text()


def test_the_owner_of_the_repository_gets_the_results(new: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    chown = Mock()
    monkeypatch.setattr(os, "chown", chown)
    owner = new.folder.parent.stat()
    new.give_to(new.folder.parent)
    files = (new.folder, new.folder / BEGUN, new.folder / TRIALS)
    given = [call(file, owner.st_uid, owner.st_gid, follow_symlinks=False) for file in files]
    chown.assert_has_calls(given, any_order=True)
    assert chown.call_count == 3

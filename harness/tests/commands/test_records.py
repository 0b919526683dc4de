"""tandem.commands.records: which records there are, which have to be measured again, and how one takes the place of another."""

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeLab, request, session
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import begun
from tandem.commands import records
from tandem.engine.journal import Journal
from tandem.engine.run import run
from tandem.errors import TandemError, UsageError
from tandem.record import store
from tandem.record.packed import pack
from tandem.record.request import Request
from tandem.record.window import Verdict
from tandem.studies.bench.study import Bench
from tandem.studies.registry import of_today, read_folder

ASKED = request("rust-async", "node", plan="smoke")


def measured(catalog: Catalog, results: Path, asked: Request = ASKED, **lab: Any) -> Path:
    return run(Bench, asked, session(catalog, results, FakeLab(**lab)))[1].folder


@pytest.fixture
def committed(real: Catalog, tmp_path: Path) -> Path:
    """A record, where committed ones are."""
    folder = tmp_path / "results/comparisons/mine"
    folder.parent.mkdir(parents=True)
    new = measured(real, tmp_path / "elsewhere")
    pack(new, *read_folder(new)[1:], folder, tmp_path / "archives")
    _, result, _ = read_folder(folder)
    store.write_model(folder / store.RESULT, result.model_copy(update={"id": "before"}))
    return folder


def test_every_committed_record_is_listed_with_what_it_takes(real: Catalog) -> None:
    results = ROOT / "results"
    found = [records.committed(real, results, folder, "none") for folder in records.folders(results)]
    names = [one.folder for one in found]
    assert {"reference", "comparisons/falcon", "explanations/published-python"} <= {*names}
    assert {f"reference-experiments/{name}" for name in ("file-io", "hyper-delay")} <= {*names}
    assert not any(one.today for one in found), "another harness made them"
    [lost] = [one for one in found if one.folder == "comparisons/python-async"]
    assert lost.expected_s is None
    assert all((one.expected_s or 0) > 60 for one in found if one is not lost), "of files, too"
    assert "python-async-slow" in lost.state


def test_what_this_harness_made_is_not_due(real: Catalog, committed: Path) -> None:
    _, result, trials = read_folder(committed)
    for one in result.environments.values():
        one.hashes["harness/tandem/"] = "abc"
    results = committed.parents[1]
    shutil.rmtree(committed)
    pack(committed, result, trials, committed, results)
    assert records.committed(real, results, committed, "abc").state == "measured by this harness"
    assert records.committed(real, results, committed, "def").state == "to measure again"


def test_a_record_is_made_anew_in_its_place(
    real: Catalog, committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, archives = committed.parents[1], tmp_path / "of-new"
    asked: list[tuple[Request, bool]] = []

    def make(kind: Any, wanted: Request, resume: bool, as_json: bool) -> Any:
        asked.append((wanted, resume))
        made = run(kind, wanted, session(real, results, FakeLab()))
        (made[1].folder / "raw/1-node").mkdir(parents=True, exist_ok=True)
        (made[1].folder / "raw/1-node/closed.sqlite").write_text("rows")
        return made

    monkeypatch.setattr(records, "make", make)
    assert records.made_anew(real, results, committed, archives, as_json=False) is None
    assert asked == [(ASKED, False)]
    kind, after, trials = read_folder(committed)
    assert (kind, after.id != "before", len(trials)) == (Bench, True, 6)
    assert sorted(file.name for file in committed.iterdir()) == [store.RESULT, store.PACKED], "no rows"
    records.fetch(committed, str(archives))
    assert (committed / "raw/1-node/closed.sqlite").read_text() == "rows"
    assert [folder.name for folder in committed.parent.iterdir()] == ["mine"]


@pytest.mark.parametrize("ends", [Verdict.VOID, TandemError("the disk is full")])
def test_what_does_not_come_out_well_leaves_the_record(
    real: Catalog, committed: Path, monkeypatch: pytest.MonkeyPatch, ends: Any
) -> None:
    results = committed.parents[1]
    before = (committed / store.RESULT).read_text()

    def make(kind: Any, wanted: Request, resume: bool, as_json: bool) -> Any:
        if isinstance(ends, TandemError):
            raise ends
        return run(kind, wanted, session(real, results, FakeLab(verdicts=dict.fromkeys(range(20), ends))))

    monkeypatch.setattr(records, "make", make)
    why = records.made_anew(real, results, committed, results, as_json=False)
    assert why
    assert ("the disk is full" in why) == isinstance(ends, TandemError)
    assert (committed / store.RESULT).read_text() == before


@pytest.fixture
def kept(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record with raw files, packed, after a commit that has them."""
    folder = tmp_path / "results/comparisons/mine"
    folder.parent.mkdir(parents=True)
    measured(real, tmp_path / "elsewhere").rename(folder)
    (folder / "raw/note.txt").write_text("seen")
    monkeypatch.setattr(records, "ROOT", tmp_path)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm all"):
        subprocess.run(["git", "-C", tmp_path, *command.split()], check=True)
    records.replace(folder, folder, tmp_path / "archives")
    return folder


def test_raw_files_come_back_from_their_archive_or_from_git(kept: Path, tmp_path: Path) -> None:
    assert not (kept / "raw").exists()
    for archives in (tmp_path / "archives", tmp_path / "none"):
        records.fetch(kept, str(archives))
        assert (kept / "raw/note.txt").read_text() == "seen"
        assert (kept / "request.json").is_file()
        records.replace(kept, kept, tmp_path / "archives")
        assert sorted(file.name for file in kept.iterdir()) == [store.RESULT, store.PACKED]
    records.fetch(kept, (tmp_path / "archives").as_uri())
    assert (kept / "raw/note.txt").is_file()


def test_raw_files_that_are_nowhere_or_are_others_are_told(kept: Path, tmp_path: Path) -> None:
    [archive] = (tmp_path / "archives").iterdir()
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-20])
    with pytest.raises(TandemError, match="cannot be read"):
        records.fetch(kept, str(archive.parent))
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(kept / store.RESULT, "raw/note.txt")
    with pytest.raises(TandemError, match="has other files"):
        records.fetch(kept, str(archive.parent))
    assert not (kept / "raw").exists()
    shutil.rmtree(tmp_path / ".git")
    archive.unlink()
    with pytest.raises(TandemError, match="does not have its commit"):
        records.fetch(kept, str(archive.parent))


def test_an_interrupted_one_is_gone_on_with(real: Catalog, tmp_path: Path) -> None:
    assert not begun(tmp_path, ASKED)
    Journal.begin(tmp_path, ASKED)
    assert begun(tmp_path, ASKED.model_copy(update={"seed": 99}))
    assert not begun(tmp_path, request("node", plan="smoke"))


def test_experiments_are_asked_for_as_their_files_have_them_now(real: Catalog) -> None:
    """What was measured under an older file would be refused: its digest is another."""
    for name in ("hyper-delay", "file-io"):
        kind, result, _ = read_folder(ROOT / "results/reference-experiments" / name)
        old = result.request.model_copy(update={"options": {**result.request.options, "digest": "old"}})
        with pytest.raises(UsageError, match="has changed since"):
            kind(real, old)
        assert kind(real, of_today(real, old)).request.options["digest"] != "old"

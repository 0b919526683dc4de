"""tandem.record.store: a file is complete or not there; what cannot be read is named."""

import errno
import json
import os
from pathlib import Path
from typing import NoReturn

import pytest
from harness_engine import made_trial

from tandem.errors import TandemError
from tandem.record.request import Conditions
from tandem.record.store import file_name, read_model, read_trial, room_for, write_atomically, write_model
from tandem.record.trial import Phase, Trial


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


def test_a_record_is_read_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    write_model(file, made_trial())
    assert read_trial(file) == made_trial()
    assert file.read_text().endswith("}\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"name": "x"}', r"duration_s: Field required\. Do this\.$"),
        (b'{"name": "x", "duration_s": 1, "surprise": 2}', "surprise: Extra inputs are not permitted"),
        (b'{"name": "x", "dura', "Invalid JSON"),
        (b"", "Invalid JSON"),
        (b"\xff\xfe\x00", "codec can't decode"),
        (None, "No such file"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_key_and_the_remedy(
    tmp_path: Path, text: bytes | None, told: str
) -> None:
    file = tmp_path / "phase.json"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(TandemError, match=told) as error:
        read_model(Phase, file, " Do this.")
    assert str(error.value).startswith(f"{file}: the record cannot be read: ")


def test_the_path_of_a_key_deep_inside_is_told(tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    told = made_trial().model_dump(mode="json")
    del told["windows"][1]["windows"]["one"]["goodput_rps"]
    file.write_text(json.dumps(told))
    with pytest.raises(TandemError, match="windows -> 1 -> windows -> one -> goodput_rps: Field required"):
        read_model(Trial, file)


def test_room(tmp_path: Path) -> None:
    folder = tmp_path / "results/new"
    room_for(folder)
    assert folder.is_dir()
    with pytest.raises(TandemError, match="cannot be created: File exists"):
        room_for(folder)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("rust-async", "rust-async"),
        ("contract/broken", "contract-broken"),
        ("node:DB_POOL_MAX=4,DB_PREPARE=0", "node-DB-POOL-MAX-4-DB-PREPARE-0"),
        ("../../etc", "..-..-etc"),
        ("a~2", "a~2"),
    ],
)
def test_a_name_in_a_path_is_one_word(name: str, word: str) -> None:
    assert file_name(name) == word


def test_records_of_the_time_when_labs_shared_a_study_are_read() -> None:
    told = {"topology": "full", "placement": "shared", "further_labs": []}
    assert "further_labs" not in Conditions.model_validate(told).model_dump()
    with pytest.raises(ValueError, match="further_labs"):
        Conditions.model_validate(told | {"further_labs": ["other"]})

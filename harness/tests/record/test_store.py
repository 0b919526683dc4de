"""tandem.record.store: a file is complete or not there; what cannot be read is named."""

import errno
import hashlib
import json
import lzma
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from harness_engine import environment_of, made_trial, request, result_of

from tandem.analysis import histogram
from tandem.errors import TandemError
from tandem.record import result as shared
from tandem.record.packed import pack, unpack
from tandem.record.result import Concluded, Conclusions, Result, per_variant, shared_once
from tandem.record.store import (
    PACKED,
    RESULT,
    TRIALS,
    file_name,
    in_lines,
    read_model,
    read_trial,
    read_trials,
    room_for,
    write_atomically,
    write_model,
)
from tandem.record.trial import Phase
from tandem.record.window import Verdict


def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_atomically(file, "old")
    write_atomically(file, "new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("harm", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_a_full_disk_which_is_told_and_a_kill_keep_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, harm: BaseException
) -> None:
    file, full = tmp_path / "a.json", isinstance(harm, OSError)
    write_atomically(file, "old")
    monkeypatch.setattr(os if call == "fsync" else Path, call, Mock(side_effect=harm))
    with pytest.raises(TandemError if full else KeyboardInterrupt) as told:
        write_atomically(file, "new")
    assert file.read_text() == "old"
    if full:
        assert re.search(f"{file} .*No space left on device", str(told.value))
        assert list(tmp_path.iterdir()) == [file]


def test_a_record_is_read_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    write_model(file, made_trial())
    assert read_trial(file) == made_trial()
    assert file.read_text().endswith("}\n")
    file.write_text(file.read_text().replace('"goodput_rps":', '"goodput":'))
    with pytest.raises(TandemError, match="windows -> 0 -> windows -> one -> goodput_rps: Field required"):
        read_trial(file)


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


# ---- packed ----


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A finished study's folder with two trials, of which the second has the first name, and a log."""
    folder = tmp_path / "study"
    (folder / TRIALS).mkdir(parents=True)
    for name, hour in (("1-b", 1), ("2-a", 0)):
        trial = made_trial()
        trial.spec.name, trial.started_at = name, datetime(2026, 1, 1, hour, tzinfo=UTC)
        for record in trial.windows:
            for window in record.windows.values():
                window.service_time_hdr = histogram.encode(np.array([0.001, 0.25]))
        write_model(folder / TRIALS / f"{name}.json", trial)
    environments = {label: environment_of(label) for label in ("node", "go")}
    found = Concluded(verdict=Verdict.OK, conclusions=Conclusions(notes=["short"]))
    write_model(folder / RESULT, result_of(request("node", "go"), found, environments=environments))
    (folder / "raw").mkdir()
    (folder / "raw/app.log").write_text("ended\n")
    return folder


def packed(study: Path, into: Path, archives: Path) -> Path:
    pack(study, read_model(Result[Conclusions], study / RESULT), read_trials(study), into, archives)
    return into


def test_a_packed_study_has_the_same_trials_in_order_of_time(study: Path, tmp_path: Path) -> None:
    folder = packed(study, tmp_path / "packed", tmp_path / "archives")
    assert sorted(file.name for file in folder.iterdir()) == [RESULT, PACKED]
    old, new = (read_model(Result[Conclusions], at / RESULT) for at in (study, folder))
    environments, trials = unpack(folder / PACKED, new.packed_sha256)
    assert trials == read_trials(study)
    assert [trial.spec.name for trial in trials] == ["2-a", "1-b"]
    assert new.model_copy(update={"environments": environments, "packed_sha256": None, "raw": None}) == old
    assert '\n   {"label":"go","implementation":"go"}\n' in (folder / RESULT).read_text(), "no defaults"


def test_packing_is_the_same_every_time(study: Path, tmp_path: Path) -> None:
    for name in "ab":
        packed(study, tmp_path / name, tmp_path / f"of-{name}")
        os.utime(study / "raw/app.log", (1, 1))
    one, other = ([file.read_bytes() for file in sorted(tmp_path.glob(f"*{name}/*"))] for name in "ab")
    assert one == other
    assert len(one) == 3


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda b: b"", "its SHA-256 is "),
        (lambda b: b[:-30], "its SHA-256 is "),
        (lambda b: lzma.compress(lzma.decompress(b).replace(b'"good":1', b'"good":2')), "its SHA-256 is "),
        (None, "No such file"),
    ],
)
def test_packed_trials_that_were_harmed_are_named(
    study: Path, tmp_path: Path, harm: Callable[[bytes], bytes] | None, told: str
) -> None:
    file = packed(study, tmp_path / "packed", tmp_path / "archives") / PACKED
    before = file.read_bytes()
    sha256 = hashlib.sha256(before).hexdigest()
    assert unpack(file, sha256), "the control"
    file.unlink()
    if harm is not None:
        assert harm(before) != before
        file.write_bytes(harm(before))
    with pytest.raises(TandemError, match=f"^{re.escape(str(file))}: the trials cannot be read: .*{told}"):
        unpack(file, sha256)


@pytest.mark.parametrize("text", [b"", b"{}", lzma.compress(b"{}\n{}\n"), lzma.compress(b"[")])
def test_packed_trials_of_another_form_are_named(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / PACKED
    file.write_bytes(text)
    with pytest.raises(TandemError, match=f"{PACKED}: the trials cannot be read: "):
        unpack(file, hashlib.sha256(text).hexdigest())


def test_json_in_lines_has_one_for_each_key_and_object() -> None:
    value = {"a": {"b": [{"c": 1}, {"c": {"d": 2.5e-8}}], "e": []}, "f": {}, "g": [1, 2]}
    text = in_lines(value)
    assert json.loads(text) == value
    assert [line.strip() for line in text.splitlines()][2:5] == ['"b": [', '{"c":1},', '{"c":{"d":2.5e-8}}']


# ---- what environments share ----

ONE = {"a": {"x": 1, "y": 2}, "b": "same", "c": {}}
ALIKE = [ONE, {**ONE, "a": {"x": 1, "y": 3}}, {**ONE, "a": {"x": 1, "y": 3, "z": 4}, "c": {"only": "here"}}]


def test_what_is_alike_stands_once_and_comes_back_whole() -> None:
    common = shared.common(ALIKE)
    assert common == {"a": {"x": 1, "y": 3}, "b": "same", "c": {}}
    own = [shared.difference(one, common) for one in ALIKE]
    assert own == [{"a": {"y": 2}}, {}, {"a": {"z": 4}, "c": {"only": "here"}}]
    assert [shared.laid_over(common, one) for one in own] == ALIKE


def test_environments_are_read_in_the_form_of_old_results_too() -> None:
    every = {"node": environment_of("node"), "go": environment_of("go", settings={"WORKERS": "2"})}
    whole = {label: one.model_dump(mode="json") for label, one in every.items()}
    stored = shared_once(every).model_dump(mode="json")
    assert len(json.dumps(stored)) < 0.8 * len(json.dumps(whole))
    assert per_variant(stored) == per_variant(whole) == whole
    assert per_variant(shared_once({}).model_dump(mode="json")) == per_variant({}) == {}

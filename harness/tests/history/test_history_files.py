"""tandem.history.files: nights are kept and merged by copying; what is broken, old, late or too much is noticed."""

import errno
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from harness_nights import FIRST, alarm_answer, night

from tandem.errors import TandemError
from tandem.history import files
from tandem.history.judged import series_of
from tandem.history.night import (
    EventAnswer,
    Frozen,
    FrozenStack,
    Night,
    Program,
    StackImage,
)


def kept(folder: Path, number: int, value: float = 0.01) -> Night:
    return files.append(folder, night(number, {"today": value}))


def test_nights_in_one_file_are_read_as_in_many(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        kept(tmp_path / "many", number)
    lines = [file.read_text() for file in sorted((tmp_path / "many/nights").iterdir())]
    (tmp_path / "nights.jsonl").write_text("".join(lines))
    assert files.read(tmp_path) == files.read(tmp_path / "many")
    (tmp_path / "nights.jsonl").write_text(lines[0] + lines[1][:50])
    found = files.read(tmp_path)
    assert len(found.nights) == 1
    assert list(found.broken) == [tmp_path / "nights.jsonl"]


def test_a_night_is_kept_once_and_read_again_in_order(tmp_path: Path) -> None:
    """A command that was killed after it kept a night keeps it again."""
    for number in (1, 2, 3):
        kept(tmp_path, number, value=number / 100)
    assert kept(tmp_path, 1, value=5.0).points[0].value == 0.01
    found = files.read(tmp_path)
    assert [one.points[0].value for one in found.nights] == [0.01, 0.02, 0.03]
    assert found.broken == {}


def test_histories_merge_by_copying(tmp_path: Path) -> None:
    for name, numbers in (("one", (1, 3)), ("other", (2, 4))):
        for number in numbers:
            kept(tmp_path / name, number, value=number / 100)
    shutil.copytree(tmp_path / "other", tmp_path / "one", dirs_exist_ok=True)
    assert [one.points[0].value for one in files.read(tmp_path / "one").nights] == [0.01, 0.02, 0.03, 0.04]


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 2}', '{"schema_version": 99}', "[1]", "\0\0"])
def test_a_file_that_cannot_be_read_is_named_and_stays(tmp_path: Path, text: str) -> None:
    for number in (1, 2, 3):
        kept(tmp_path, number)
    [_, bad, _] = sorted(tmp_path.glob("nights/*.json"))
    bad.write_text(text)
    found = files.read(tmp_path)
    assert len(found.nights) == 2
    assert [*found.broken] == [bad]
    assert bad.read_text() == text
    with pytest.raises(TandemError, match=f"{bad.name}: the record cannot be read"):
        kept(tmp_path, 2)


@pytest.mark.parametrize("place", [files.ANSWERS, files.FROZEN, files.STACKS, files.EVENTS])
def test_a_broken_answer_or_frozen_program_is_named_too(tmp_path: Path, place: str) -> None:
    kept(tmp_path, 1)
    files.freeze(tmp_path, Frozen(implementation="node", program=Program(tag="good"), frozen_at=FIRST))
    bad = tmp_path / place / "node-later.json"
    bad.parent.mkdir(exist_ok=True)
    bad.write_text('{"implementation": "node", ')
    found = files.read(tmp_path)
    assert found.frozen["node"].program.tag == "good", "the one before counts"
    assert len(found.nights) == 1
    assert [*found.broken] == [bad]


def test_a_clock_that_went_back_is_noticed(tmp_path: Path) -> None:
    for number in (1, 3):
        assert kept(tmp_path, number).clock is None
    late = kept(tmp_path, 2)
    assert late.clock is not None
    assert "went back" in late.clock
    found = files.read(tmp_path).nights
    assert len(found) == 3
    [series] = series_of(found).values()
    assert len(series.nights) == 2, "its place is not known, so it is in no series"


def test_a_full_disk_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path, 1)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TandemError, match=r"nights/2026.*No space left"):
        kept(tmp_path, 2)
    monkeypatch.undo()
    assert len([*(tmp_path / "nights").iterdir()]) == 1
    assert len(files.read(tmp_path).nights) == 1


def test_the_second_is_refused(tmp_path: Path) -> None:
    """In a process of its own, as two commands are."""
    script = f"from tandem.history import files; from pathlib import Path\nwith files.locked(Path({str(tmp_path)!r})): print('in')"
    with files.locked(tmp_path):
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert said.returncode != 0
        assert "another nightly uses" in said.stderr
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "in\n"


def test_the_newest_frozen_program_and_stack_count(tmp_path: Path) -> None:
    kept(tmp_path, 1)
    assert files.read(tmp_path).stack is None
    for day, tag in ((2, "new"), (1, "old")):
        at = FIRST + timedelta(days=day)
        files.freeze(tmp_path, Frozen(implementation="node", program=Program(tag=tag), frozen_at=at))
        images = {"db": StackImage(tag=tag, content="c")}
        files.freeze_stack(tmp_path, FrozenStack(images=images, frozen_at=at))
    found = files.read(tmp_path)
    assert found.frozen["node"].program.tag == "new"
    assert found.first["node"].program.tag == "old", "it stays for ever"
    assert found.stack is not None
    assert found.stack.images["db"].tag == "new"


def test_series_are_told_apart_by_the_frozen_sources() -> None:
    commit = "0123456789abcdef"
    assert Program(tag="t", commit=commit).name == commit[:12]
    assert Program(tag="t", commit=commit, dirty=True).name == Program(tag="t").name == "t"


def test_answers_are_kept(tmp_path: Path) -> None:
    given = alarm_answer("1", "2", word="machine")
    files.keep_answer(tmp_path, given)
    event = EventAnswer(
        id="e", series=given.series, night="1", what=["kernel a -> b"], answered_at=FIRST, level=0.0, scatter=0.01, ratio=None,
        moved=None, result="r", command="just compare",
    )  # fmt: skip
    files.keep_answer(tmp_path, event)
    found = files.read(tmp_path)
    assert (found.answers, found.events) == ([given], [event])

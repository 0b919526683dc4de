"""tandem.history.files: nights are kept and merged by copying; what is broken, old, late or too much is noticed."""

import errno
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tandem.errors import TandemError
from tandem.history import files
from tandem.history.judged import series_of
from tandem.history.night import (
    AlarmAnswer,
    EventAnswer,
    Frozen,
    FrozenStack,
    Night,
    Point,
    Program,
    SeriesKey,
    StackImage,
)

FIRST = datetime(2026, 1, 1, 1, tzinfo=UTC)


def night(number: int, value: float = 0.01, machine: str = "m", **changes: object) -> Night:
    started = FIRST + timedelta(days=number)
    whole = {
        "id": f"{started:%Y%m%dT%H%M%SZ}-nightly-all",
        "machine": machine,
        "cpu_model": "c",
        "started_at": started,
        "programs": {"node": Program(tag="aaa", commit="1" * 40)},
        "frozen": {"node": "f"},
        "points": [
            Point(
                implementation="node",
                scenario="index",
                metric="goodput_rps",
                line="today",
                value=value,
                blocks=4,
            )
        ],
        **changes,
    }
    return Night.model_validate(whole)


def test_nights_in_one_file_are_read_as_in_many(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        files.append(tmp_path / "many", night(number))
    lines = [file.read_text() for file in sorted((tmp_path / "many/nights").iterdir())]
    (tmp_path / "nights.jsonl").write_text("".join(lines))
    assert files.read(tmp_path) == files.read(tmp_path / "many")
    (tmp_path / "nights.jsonl").write_text(lines[0] + lines[1][:50])
    found = files.read(tmp_path)
    assert len(found.nights) == 1
    assert list(found.broken) == [tmp_path / "nights.jsonl"]


def test_what_is_kept_is_read_again_in_order(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        files.append(tmp_path, night(number, value=number / 100))
    found = files.read(tmp_path)
    assert [one.points[0].value for one in found.nights] == [0.01, 0.02, 0.03]
    assert found.broken == {}


def test_a_night_is_kept_once(tmp_path: Path) -> None:
    """A command that was killed after it kept a night keeps it again."""
    files.append(tmp_path, night(1))
    assert files.append(tmp_path, night(1, value=5.0)).points[0].value == 0.01
    assert len(files.read(tmp_path).nights) == 1


def test_histories_merge_by_copying(tmp_path: Path) -> None:
    for name, numbers in (("one", (1, 3)), ("other", (2, 4))):
        for number in numbers:
            files.append(tmp_path / name, night(number, value=number / 100))
    shutil.copytree(tmp_path / "other", tmp_path / "one", dirs_exist_ok=True)
    assert [one.points[0].value for one in files.read(tmp_path / "one").nights] == [0.01, 0.02, 0.03, 0.04]


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 2}', '{"schema_version": 99}', "[1]", "\0\0"])
def test_a_file_that_cannot_be_read_is_named_and_stays(tmp_path: Path, text: str) -> None:
    for number in (1, 2, 3):
        files.append(tmp_path, night(number))
    [_, bad, _] = sorted(tmp_path.glob("nights/*.json"))
    bad.write_text(text)
    found = files.read(tmp_path)
    assert len(found.nights) == 2
    assert [*found.broken] == [bad]
    assert bad.read_text() == text
    with pytest.raises(TandemError, match=f"{bad.name}: the record cannot be read"):
        files.append(tmp_path, night(2))


@pytest.mark.parametrize("place", [files.ANSWERS, files.FROZEN, files.STACKS, files.EVENTS])
def test_a_broken_answer_or_frozen_program_is_named_too(tmp_path: Path, place: str) -> None:
    files.append(tmp_path, night(1))
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
        assert files.append(tmp_path, night(number)).clock is None
    kept = files.append(tmp_path, night(2))
    assert kept.clock is not None
    assert "went back" in kept.clock
    found = files.read(tmp_path).nights
    assert len(found) == 3
    [series] = series_of(found).values()
    assert len(series.nights) == 2, "its place is not known, so it is in no series"


def test_a_full_disk_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.append(tmp_path, night(1))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TandemError, match=r"nights/2026.*No space left"):
        files.append(tmp_path, night(2))
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


def test_the_newest_frozen_program_counts(tmp_path: Path) -> None:
    for day, tag in ((2, "new"), (1, "old")):
        at = FIRST + timedelta(days=day)
        files.freeze(tmp_path, Frozen(implementation="node", program=Program(tag=tag), frozen_at=at))
    found = files.read(tmp_path)
    assert found.frozen["node"].program.tag == "new"
    assert found.first["node"].program.tag == "old", "it stays for ever"


def test_the_newest_stack_counts(tmp_path: Path) -> None:
    assert files.read(tmp_path).stack is None
    for day, tag in ((2, "new"), (1, "old")):
        images = {"db": StackImage(tag=tag, content="c")}
        files.freeze_stack(tmp_path, FrozenStack(images=images, frozen_at=FIRST + timedelta(days=day)))
    found = files.read(tmp_path)
    assert found.stack is not None
    assert found.stack.images["db"].tag == "new"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (Program(tag="t", commit="0123456789abcdef"), "0123456789ab"),
        (Program(tag="t", commit="0123456789abcdef", dirty=True), "t"),
        (Program(tag="t"), "t"),
    ],
)
def test_series_are_told_apart_by_the_frozen_sources(program: Program, name: str) -> None:
    assert program.name == name


def test_answers_are_kept(tmp_path: Path) -> None:
    key = SeriesKey(
        machine="m", cpu_model="c", implementation="node", scenario="i", metric="x", line="today", frozen="f"
    )
    given = AlarmAnswer(
        id="a", series=key, since="1", raised="2", answered_at=FIRST, word="machine", worse=True
    )
    files.keep_answer(tmp_path, given)
    event = EventAnswer(
        id="e", series=key, night="1", what=["kernel a -> b"], answered_at=FIRST, level=0.0, scatter=0.01, ratio=None,
        moved=None, result="r", command="just compare",
    )  # fmt: skip
    files.keep_event(tmp_path, event)
    found = files.read(tmp_path)
    assert (found.answers, found.events) == ([given], [event])

"""tandem.history.judged: which series moved since when, whom it is put on, and what an answer changes."""

import errno
import random
import shutil
import subprocess
import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_nights import FIRST, alarm_answer, night, point
from harness_places import ROOT
from harness_samples import there

from benchmarks import detection
from tandem.analysis import change
from tandem.analysis.change import LEARNED, family_limit
from tandem.errors import TandemError
from tandem.history import files
from tandem.history.judged import JudgedSeries, crept, doubted, events, judge, series_of, shared_limits, steps
from tandem.history.night import EventAnswer, Frozen, FrozenStack, Line, Night, Program, StackImage

CHANGED = 60


def nights(
    count: int = 100,
    step: float = 0.0,
    frozen_step: float = 0.0,
    frozen_from: int = CHANGED,
    images: int = 1,
    cpu_model: str = "c",
    seed: int = 1,
) -> list[Night]:
    """Nights of one implementation. step: of today's line from CHANGED on; frozen_step: of the weather, from frozen_from on. images: so many
    different ones, the last of them from CHANGED on."""
    chance = random.Random(seed)
    out = []
    for number in range(count):
        late = number >= CHANGED
        values: dict[Line, float] = {
            "today": chance.gauss(0, 0.008) + (step if late else 0),
            "frozen": chance.gauss(0, 0.008),
            "weather": 4 + chance.gauss(0, 0.008) + (frozen_step if number >= frozen_from else 0),
        }
        image = images - 1 if late else number * max(1, images - 1) // CHANGED
        program = {"node": Program(tag=f"image-{image}", commit=str(image))}
        out.append(night(number, values, cpu_model=cpu_model, programs=program))
    return out


def only(judged: list[JudgedSeries]) -> JudgedSeries:
    [one] = judged
    return one


@pytest.mark.parametrize(
    ("every", "said", "moved"),
    [
        pytest.param(nights(LEARNED), "learning", [], id="too few nights"),
        pytest.param(nights(), "steady", [], id="nothing happened"),
        pytest.param(nights(frozen_step=0.05), "steady", [], id="weather alone is no alarm"),
        pytest.param(nights(step=0.05, frozen_step=0.05), "machine", ["weather"], id="both lines moved"),
    ],
)
def test_what_is_no_alarm(every: list[Night], said: str, moved: list[str]) -> None:
    found = only(judge(every, []))
    assert (found.said, found.nights, found.moved) == (said, len(every), moved)
    assert (found.raised is None) == (said != "machine")


def test_a_step_is_seen_its_images_are_named_and_the_whole_history_shows_it() -> None:
    every = nights(step=0.02, images=5)
    found = only(judge(every, []))
    assert (found.said, found.up) == ("alarm", True)
    place = [one.id for one in every]
    assert abs(place.index(there(found.since)) - CHANGED) <= 2
    assert CHANGED <= place.index(there(found.raised)) <= CHANGED + 8
    assert (there(found.good).tag, found.between[-1].tag) == ("image-3", "image-4")
    [found_over_all] = steps(every).values()
    assert [abs(place.index(one) - CHANGED) <= 2 for one in found_over_all] == [True]
    assert steps(nights()) == {}


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_machine_that_moved_nights_before_is_not_blamed(seed: int) -> None:
    """Its figures are compared in the same blocks. They go on raising alarms until the new level is learned."""
    every = nights(step=0.03, frozen_step=0.05, frozen_from=LEARNED + 5, images=2, seed=seed)
    found = only(judge(every, []))
    assert (found.said, found.moved) == ("alarm", [])
    assert found.good is not None


def test_an_answered_alarm_is_none_any_more() -> None:
    """The series begins anew at the change, and learns the new level."""
    every = nights(count=CHANGED + LEARNED + 40, step=0.05)
    found = only(judge(every, []))
    assert found.said == "alarm"
    answer = alarm_answer(every[CHANGED].id, found.raised or "", found.key)
    again = only(judge(every, [answer]))
    assert (again.said, again.nights) == ("steady", LEARNED + 40)


# ---- all series of a night ----


def test_a_night_of_many_series_needs_more_for_an_alarm() -> None:
    """The same step raises an alarm alone, and none yet where seventy series could."""
    every = nights(count=CHANGED + 3, step=0.02, seed=2)
    assert only(judge(every, [])).said == "alarm"
    chance = random.Random(5)
    for one in every:
        one.points += [
            point("today", chance.gauss(0, 0.008), implementation=f"i{n}", scenario="s") for n in range(69)
        ]
    assert shared_limits(series_of(every)) == {"m": family_limit(70)}
    own = [one for one in judge(every, []) if one.key.implementation == "node"]
    assert [one.said for one in own] == ["steady"]
    merged = [one.model_copy(update={"points": one.points[:3]}) for one in every]
    merged += [one.model_copy(update={"machine": "other"}) for one in every]
    [here] = [one for one in judge(merged, []) if one.key.machine == "m"]
    assert here.said == "alarm", "the series of another machine, whose history was merged, do not count"


def test_another_cpu_is_another_series_and_makes_the_family_no_larger() -> None:
    every = [*nights(30), *nights(30, cpu_model="d")]
    assert [one.key.cpu_model for one in judge(every, [])] == ["c", "d"]
    assert shared_limits(series_of(every)) == {"m": family_limit(1)}


def test_a_night_of_few_blocks_weighs_less() -> None:
    """Odd nights of one block each, among nights of four, whose own scatter says that blocks make it."""
    every, chance = nights(count=100), random.Random(1)
    for number, one in enumerate(every):
        few = number >= CHANGED and number % 2 == 0
        for own in one.points:
            own.value = 0.012 if few and own.line == "today" else chance.gauss(0, 0.004)
            own.blocks, own.sd = (1, None) if few else (4, 0.008)
    found = only(judge(every, []))
    assert found.said == "steady"
    for one in every:
        for own in one.points:
            own.blocks = None
    assert only(judge(every, [])).said == "alarm", "the negative control: alike, they raise one"


# ---- events ----


def under(every: list[Night], since: int = CHANGED, **changes: object) -> list[Night]:
    """From one night on something else is under the programs."""
    base: dict[str, object] = {
        "kernel": "6.1",
        "microcode": "0x1",
        "stack": {"db": StackImage(tag="d1", content="s")},
        "frozen_images": {"node": Program(tag="f1", commit="f" * 40)},
    }
    return [
        one.model_copy(update={**base, **(changes if number >= since else {})})
        for number, one in enumerate(every)
    ]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"kernel": "6.2"}, "kernel 6.1 -> 6.2"),
        ({"microcode": "0x2"}, "microcode 0x1 -> 0x2"),
        ({"stack": {"db": StackImage(tag="d2", content="s")}}, "stack's db d1 -> d2"),
        ({"frozen_images": {"node": Program(tag="f2", commit="f" * 40)}}, "frozen image of f f1 -> f2"),
    ],
)
def test_what_came_under_the_programs_is_an_event_and_no_new_series(
    changes: dict[str, Any], what: str
) -> None:
    every = under(nights(images=2), **changes)
    assert events(every) == {("m", "c", "node"): {every[CHANGED].id: [what]}}
    assert only(judge(every, [])).nights == 100
    stepped = only(judge(under(nights(images=2, step=0.03), **changes), []))
    assert (stepped.said, stepped.events) == ("alarm", [what])


def test_what_was_there_before_or_is_not_known_is_no_event() -> None:
    every = under(nights())
    assert events(every) == {}
    assert events(nights()) == {}, "nights of before it was noted"
    assert events([*nights(CHANGED), *every[CHANGED:]]) == {}, "the first that is known"
    back = [night.model_copy(update={"kernel": "6.2" if n == 50 else "6.1"}) for n, night in enumerate(every)]
    assert len(events(back)["m", "c", "node"]) == 1, "a pool of hosts has several kernels: each is new once"


def test_an_event_asks_at_once_for_what_moved_most_and_for_all_that_left_their_range() -> None:
    every = under(nights(count=CHANGED + 1, images=2), kernel="6.2")
    [one] = doubted(every[-1], every, [])
    assert (one.what, one.night, one.program.tag) == (["kernel 6.1 -> 6.2"], every[-1].id, "image-1")
    assert one.level == pytest.approx(0, abs=0.004)
    assert one.scatter == pytest.approx(0.008, rel=0.4)
    chance = random.Random(5)
    for number, each in enumerate(every):
        late = number >= CHANGED
        each.points += [
            point("today", chance.gauss(0, 0.008) + (0.05 if late and n < 3 else 0), scenario=f"s{n}")
            for n in range(20)
        ]
    assert {one.key.scenario for one in doubted(every[-1], every, [])} == {"s0", "s1", "s2"}


def test_an_event_asks_nothing_where_nothing_can_be_told() -> None:
    own: dict[str, Any] = {"frozen_images": {"node": Program(tag="image-1", commit="1")}}
    for every in (
        under(nights(count=CHANGED + 1, images=2)),
        under(nights(count=CHANGED + 1, images=2), kernel="6.2", **own),
        under(nights(count=LEARNED, images=2), since=LEARNED - 1, kernel="6.2"),
    ):
        assert doubted(every[-1], every, []) == []
    early = under(nights(count=CHANGED + 5, images=2), kernel="6.2")
    assert doubted(early[-1], early, []) == [], "it came nights ago"


# ---- the first image ----


def creeping(a_night: float, count: int = 200) -> list[Night]:
    """Today's image gets slower by as much each night; every forty nights the frozen image is frozen again."""
    chance, out = random.Random(3), []
    for number, one in enumerate(nights(count)):
        frozen = number - number % 40
        values: dict[Line, float] = {"today": (number - frozen) * a_night, "first": number * a_night}
        points = [point(line, value + chance.gauss(0, 0.008)) for line, value in values.items()]
        first = {"node": Program(tag="first", commit="1" * 40)}
        changes = {"points": points, "frozen": {"node": f"f{frozen}"}, "first_images": first}
        out.append(one.model_copy(update=changes))
    return out


def test_what_creeps_shows_against_the_first_image_alone() -> None:
    """Frozen again every forty nights, each series is too short and its drift too small; the first image stays."""
    every = creeping(0.0002)
    assert not [one for one in judge(every, []) if one.raised]
    [found] = crept(every)
    assert found.series.frozen == "1" * 12
    assert found.mean == pytest.approx(0.04, abs=0.01)
    assert found.interval[0] > 0
    assert crept(creeping(0.0)) == []
    assert len([key for key in series_of(every) if key.line == "first"]) == 1, (
        "freezing again does not end it"
    )


# ---- what is committed is what it finds ----


def test_neighbours_are_drawn_together() -> None:
    drawn = detection.again([float(n) for n in range(31)])(np.random.default_rng(1), 20, 30)
    runs = drawn.reshape(20, -1, detection.NEIGHBOURS)
    assert {*np.diff(runs, axis=2).ravel()} == {1.0, -30.0}, "the last is followed by the first"
    assert len({*runs[:, :, 0].ravel()}) > 20


def test_a_large_step_is_seen_at_once_and_a_small_one_later() -> None:
    found = detection.detect("x", detection.normal, series=40)
    assert detection.first_at(found.seen["5 %"], 0.5) == 2
    late, soon = (there(detection.first_at(found.seen[step], 0.9)) for step in ("2 %", "5 %"))
    assert late > soon
    assert all(later >= earlier for seen in found.seen.values() for earlier, later in pairwise(seen))


def test_the_committed_curves_are_those_of_todays_judge() -> None:
    """Who changes the judge draws them anew: the benchmark says how."""
    committed = (ROOT / "results/reference-nightly/detection.json").read_text()
    first = detection.Detections.model_validate_json(committed).found[0]
    assert detection.detect(first.series, detection.normal) == first


def test_a_family_raises_few_at_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = detection.of_family("x", detection.heavy, families=2).at_limit
    monkeypatch.setattr(change, "family_limit", lambda _: 3.5)
    often = there(detection.of_family("x", detection.heavy, families=2).at_limit)
    assert often < 10, "the control: at a lower one"
    assert rare is None or rare > 4 * often


# ---- nights are kept and merged by copying; what is broken, old, late or too much is noticed ----


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


def test_nights_are_kept_once_and_histories_merge_by_copying(tmp_path: Path) -> None:
    """A command that was killed after it kept a night keeps it again."""
    for name, numbers in (("one", (1, 3)), ("other", (2, 4))):
        for number in numbers:
            kept(tmp_path / name, number, value=number / 100)
    assert kept(tmp_path / "one", 1, value=5.0).points[0].value == 0.01
    shutil.copytree(tmp_path / "other", tmp_path / "one", dirs_exist_ok=True)
    found = files.read(tmp_path / "one")
    assert [one.points[0].value for one in found.nights] == [0.01, 0.02, 0.03, 0.04]
    assert found.broken == {}


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
    files.keep(tmp_path, Frozen(implementation="node", program=Program(tag="good"), frozen_at=FIRST))
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
    assert "went back" in there(kept(tmp_path, 2).clock)
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
        files.keep(tmp_path, Frozen(implementation="node", program=Program(tag=tag), frozen_at=at))
        images = {"db": StackImage(tag=tag, content="c")}
        files.keep(tmp_path, FrozenStack(images=images, frozen_at=at))
    found = files.read(tmp_path)
    assert found.frozen["node"].program.tag == "new"
    assert found.first["node"].program.tag == "old", "it stays for ever"
    assert there(found.stack).images["db"].tag == "new"


def test_series_are_told_apart_by_the_frozen_sources() -> None:
    commit = "0123456789abcdef"
    assert Program(tag="t", commit=commit).name == commit[:12]
    assert Program(tag="t", commit=commit, dirty=True).name == Program(tag="t").name == "t"


def test_answers_are_kept(tmp_path: Path) -> None:
    given = alarm_answer("1", "2", word="machine")
    files.keep(tmp_path, given)
    what = {"night": "1", "what": ["kernel"], "level": 0.0, "scatter": 0.01, "ratio": None, "moved": None}
    at = {"id": "e", "series": given.series, "answered_at": FIRST, "result": "r", "command": "c"}
    event = EventAnswer.model_validate({**what, **at})
    files.keep(tmp_path, event)
    found = files.read(tmp_path)
    assert (found.answers, found.events) == ([given], [event])

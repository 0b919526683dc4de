"""tandem.history.judged: which series moved since when, whom it is put on, and what an answer changes."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from tandem.analysis.change import LEARNED
from tandem.history.judged import JudgedSeries, judge, steps
from tandem.history.night import AlarmAnswer, Line, Night, Point, Program

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
METRIC = "duet_cpu_us_per_request"
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
        started = FIRST + timedelta(days=number)
        out.append(
            Night(
                id=f"{started:%Y%m%dT%H%M%SZ}",
                machine="m",
                cpu_model=cpu_model,
                started_at=started,
                programs={"node": Program(tag=f"image-{image}", commit=str(image))},
                frozen={"node": "f"},
                points=[
                    Point(implementation="node", scenario="index", metric=METRIC, line=line, value=value)
                    for line, value in values.items()
                ],
            )
        )
    return out


def only(judged: list[JudgedSeries]) -> JudgedSeries:
    [one] = judged
    return one


def test_too_few_nights_are_not_judged() -> None:
    assert only(judge(nights(LEARNED), [])).said == "learning"


def test_nothing_happened() -> None:
    found = only(judge(nights(), []))
    assert (found.said, found.nights, found.raised) == ("steady", 100, None)


def test_a_step_is_seen_and_its_images_are_named() -> None:
    every = nights(step=0.02, images=5)
    found = only(judge(every, []))
    assert found.said == "alarm"
    assert found.up
    place = [night.id for night in every]
    assert found.since is not None
    assert found.raised is not None
    assert abs(place.index(found.since) - CHANGED) <= 2
    assert CHANGED <= place.index(found.raised) <= CHANGED + 8
    assert found.good is not None
    assert found.good.tag == "image-3"
    assert [program.tag for program in found.between][-1] == "image-4"


def test_where_the_frozen_line_moved_too_it_is_the_machine() -> None:
    found = only(judge(nights(step=0.05, frozen_step=0.05), []))
    assert found.said == "machine"
    assert found.moved == ["weather"]


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_machine_that_moved_nights_before_is_not_blamed(seed: int) -> None:
    """Its figures are compared in the same blocks. They go on raising alarms until the new level is learned."""
    every = nights(step=0.03, frozen_step=0.05, frozen_from=LEARNED + 5, images=2, seed=seed)
    found = only(judge(every, []))
    assert (found.said, found.moved) == ("alarm", [])
    assert found.good is not None


def test_weather_alone_is_no_alarm() -> None:
    assert only(judge(nights(frozen_step=0.05), [])).said == "steady"


def test_an_answered_alarm_is_none_any_more() -> None:
    """The series begins anew at the change, and learns the new level."""
    every = nights(count=CHANGED + LEARNED + 40, step=0.05)
    found = only(judge(every, []))
    assert found.said == "alarm"
    answer = AlarmAnswer(
        id="a",
        series=found.key,
        since=every[CHANGED].id,
        raised=found.raised or "",
        answered_at=FIRST,
        word="confirmed",
        worse=True,
    )
    again = only(judge(every, [answer]))
    assert (again.said, again.nights) == ("steady", LEARNED + 40)


def test_another_cpu_is_another_series() -> None:
    every = [*nights(30), *nights(30, cpu_model="d")]
    assert [one.key.cpu_model for one in judge(every, [])] == ["c", "d"]


def test_the_whole_history_shows_the_step() -> None:
    every = nights(step=0.02)
    [found] = steps(every).values()
    place = [night.id for night in every]
    assert [abs(place.index(one) - CHANGED) <= 2 for one in found] == [True]
    assert steps(nights()) == {}

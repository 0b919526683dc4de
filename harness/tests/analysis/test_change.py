"""tandem.analysis.change by simulation: false alarms and delays within the limits that the judge is held to."""

from collections.abc import Sequence

import numpy as np
import pytest

from tandem.analysis import change
from tandem.analysis.ratios import Floats

NOISE = 0.008
"""Of a night's ln ratio in like programs."""
NIGHTS, SERIES, STEP_AT = 200, 150, 100


def noise(seed: int, nights: int = NIGHTS, series: int = SERIES, heavy: bool = False) -> Floats:
    chance = np.random.default_rng(seed)
    drawn = chance.standard_t(3, (series, nights)) if heavy else chance.standard_normal((series, nights))
    return np.asarray(drawn * NOISE)


def alarms(values: Sequence[float], limit: float = change.LIMIT) -> list[change.Alarm]:
    """Alarms of a series whose nights weigh alike."""
    return change.cusum(change.scaled(values), change.LEARNED, limit)


def delays(values: Floats, limit: float = change.LIMIT) -> Floats:
    """Nights from the change to the first alarm on its side, of each series; inf without one."""
    found = []
    for one in values:
        late = [alarm.at - STEP_AT + 1 for alarm in alarms(one, limit) if alarm.at >= STEP_AT and alarm.up]
        found.append(late[0] if late else np.inf)
    return np.asarray(found, float)


def false_alarms(values: Floats) -> int:
    return sum(len(alarms(one)) for one in values)


def test_with_known_level_and_noise_alarms_are_as_rare_as_the_tables_say() -> None:
    """Siegmund (1985): 2,820 values between alarms for k = 1 and h = 3.5. The clip makes them rarer still."""
    nights = 400_000
    drawn = np.random.default_rng(1).standard_normal(nights)
    plain, clipped = (
        len(change.cusum(distances)) for distances in (drawn, np.clip(drawn, -change.CLIP, change.CLIP))
    )
    assert 2200 < nights / plain < 3400
    assert clipped < plain


def test_with_level_and_noise_from_the_nights_before_they_are_rarer_than_one_in_two_years() -> None:
    values = noise(2, nights=365, series=200)
    judged = 200 * (365 - change.LEARNED)
    assert judged / false_alarms(values) > 800


def test_heavy_tails_cost_more_alarms_and_no_storm() -> None:
    values = noise(3, nights=365, heavy=True)
    assert SERIES * (365 - change.LEARNED) / false_alarms(values) > 120


@pytest.mark.parametrize(
    ("step", "half_within", "most_within", "limit"),
    [
        (0.01, 14, np.inf, change.LIMIT),
        (0.02, 4, 7, change.LIMIT),
        (0.05, 2, 3, change.LIMIT),
        (0.02, 6, np.inf, change.family_limit(70)),
    ],
)
def test_a_step_is_seen_in_time(step: float, half_within: int, most_within: float, limit: float) -> None:
    """The last one with the limit for all series of a night."""
    values = noise(4)
    values[:, STEP_AT:] += step
    found = delays(values, limit)
    assert np.median(found) <= half_within
    assert np.mean(found <= most_within) >= 0.9


def test_a_drift_is_seen_before_it_is_three_percent() -> None:
    values = noise(5)
    values[:, STEP_AT:] += 0.001 * np.arange(NIGHTS - STEP_AT)
    assert np.quantile(delays(values), 0.9) <= 30


def test_spikes_alone_raise_nothing() -> None:
    """One odd night in twenty, of ten times the noise: the clip leaves 2 of a sum of 3.5."""
    values = noise(6)
    spikes = np.zeros_like(values)
    spikes[:, 10::20] = 10 * NOISE
    assert SERIES * (NIGHTS - change.LEARNED) / false_alarms(values + spikes) > 300
    quiet = np.full((1, NIGHTS), 0.0)
    quiet[:, 50::20] = 1.0
    assert false_alarms(quiet) == 0


def test_the_place_of_a_step_is_found() -> None:
    values = noise(7)
    values[:, STEP_AT:] += 0.02
    places = [
        next(alarm.since for alarm in alarms(one) if alarm.at >= STEP_AT and alarm.up) for one in values
    ]
    assert abs(float(np.median(places)) - STEP_AT) <= 1


def mixed(
    seed: int, between: float = 0.0, series: int = SERIES
) -> tuple[Floats, list[int], list[list[float | None]]]:
    """Series of nights of one and three blocks in turn, their blocks, and the standard deviations between them. between: the
    part of the variance of a block that its night shares."""
    chance = np.random.default_rng(seed)
    blocks = [1, 3] * (NIGHTS // 2)
    own = NOISE * np.sqrt(1 - between) * chance.standard_normal((series, NIGHTS, 3))
    own[:, ::2, 1:] = np.nan
    shared = NOISE * np.sqrt(between) * chance.standard_normal((series, NIGHTS))
    sds = np.nanstd(own, axis=2) * np.sqrt(3 / 2)
    known = [[None if n % 2 == 0 else float(sd) for n, sd in enumerate(row)] for row in sds]
    return shared + np.nanmean(own, axis=2), blocks, known


@pytest.mark.parametrize("between", [0.0, 0.5, 1.0])
def test_a_night_scatters_by_its_blocks(between: float) -> None:
    """One and three blocks are told apart by as much as their noise is, and no more where nights make it."""
    values, blocks, sds = mixed(9, between, series=100)
    found = np.array([change.scaled(v, blocks, sd) for v, sd in zip(values, sds, strict=True)])
    plain = np.array([change.scaled(v) for v in values])
    weighed, alike = ((np.std(one[:, ::2]), np.std(one[:, 1::2])) for one in (found, plain))
    assert weighed[0] == pytest.approx(weighed[1], rel=0.1)
    if between == 0.0:
        assert alike[0] > 1.4 * alike[1], "the negative control: unweighed, nights of one block look odd"


def test_weights_take_false_alarms_away() -> None:
    values, blocks, sds = mixed(10, series=200)
    plain = sum(len(change.cusum(change.scaled(v))) for v in values)
    weighed = sum(len(change.cusum(change.scaled(v, blocks, sd))) for v, sd in zip(values, sds, strict=True))
    assert weighed < 0.9 * plain


def test_equal_blocks_change_nothing() -> None:
    [values] = noise(11, series=1)
    assert (change.scaled(values, [3] * NIGHTS, [0.004] * NIGHTS) == change.scaled(values)).all()
    assert (change.scaled(values, [None] * NIGHTS) == change.scaled(values)).all()
    some: list[int | None] = [None, *[3] * (NIGHTS - 1)]
    assert (change.scaled(values, some) == change.scaled(values)).all(), "not known: as many as the others"


@pytest.mark.parametrize("heavy", [False, True])
def test_all_series_of_a_night_have_one_limit(heavy: bool) -> None:
    """Seventy series, a year: each with the limit for one raises alarms every few nights, with that for all hardly any."""
    year = noise(12, nights=365, series=70, heavy=heavy)
    alone = sum(len(alarms(one)) for one in year)
    together = sum(len(alarms(one, change.family_limit(70))) for one in year)
    assert alone > (40 if heavy else 8)
    assert together <= (8 if heavy else 1)
    assert change.family_limit(1) == change.LIMIT < change.family_limit(2)


def test_the_whole_length_finds_what_the_sum_may_miss() -> None:
    values = noise(8, nights=100, series=60)
    assert sum(bool(change.levels(one)) for one in values) <= 2
    values[:, 60:] += 0.01
    assert sum(bool(change.levels(one)) for one in values) >= 50
    assert change.levels([0.0, 0.0, 5.0, 5.0]) == [], "too short"
    assert (alarms([0.5] * 100), change.levels([0.5] * 100)) == ([], []), "all equal"


@pytest.mark.parametrize("bad", range(1, 9))
def test_bisection_ends_between_the_last_good_and_the_first_bad(bad: int) -> None:
    """Nine images; every one from `bad` on differs."""
    seen: list[tuple[int, bool]] = []
    low, high = change.bisected(9, seen)
    while high - low > 1:
        middle = (low + high) // 2
        seen.append((middle, middle >= bad))
        low, high = change.bisected(9, seen)
    assert (low, high) == (bad - 1, bad)
    assert len(seen) <= 3

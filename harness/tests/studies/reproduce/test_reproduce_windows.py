"""tandem.studies.reproduce.windows: how long a window is, what of it is measured, and which rates waiting allows."""

from typing import Any

import numpy as np
import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.errors import UsageError
from tandem.studies.reproduce.experiment import ExperimentPlan
from tandem.studies.reproduce.windows import (
    RowWindow,
    opened_first,
    patience_s,
    trips_ceiling,
    trips_implied,
    waiting_ceilings,
    window_times,
)

FULL = ExperimentPlan(starts=5, window_s=8, requests=10_000, cap_s=60)
SMOKE = ExperimentPlan(starts=2, window_s=3, cap_s=3, limits={"drill_s": 3})


@pytest.mark.parametrize(
    ("plan", "ceiling_rps", "delay_ms", "seconds", "measured_s"),
    [
        (FULL, 5000, 20, 8, 7.25),
        (FULL, 500, 200, 23, 19.8),
        (FULL, 100, 1000, 60, 56),
        (FULL, 2, 1000, 60, 56),
        (FULL, None, None, 8, 7.25),
        (SMOKE, 100, 1000, 5, 3),
        (SMOKE, 5000, 20, 3, 2.25),
    ],
)
def test_how_long_a_window_is(
    plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None, seconds: int, measured_s: float
) -> None:
    found = window_times(plan, ceiling_rps, delay_ms)
    assert (found.seconds, round(found.measured_s, 6)) == (seconds, measured_s)


@PROPERTY
@given(st.integers(50, 5000), st.integers(1, 60), st.floats(1, 5000))
def test_no_wave_of_a_long_delay_is_cut(delay_ms: int, window_s: int, ceiling_rps: float) -> None:
    plan = ExperimentPlan(starts=1, window_s=window_s, requests=10_000, cap_s=60)
    found, delay_s = window_times(plan, ceiling_rps, delay_ms), delay_ms / 1e3
    waves = found.measured_s / delay_s
    assert waves == pytest.approx(round(waves), abs=1e-6)
    assert round(waves) >= 3
    assert found.trim_start_s / delay_s % 1 == pytest.approx(0.5, abs=1e-6)
    assert found.trim_start_s >= 1.5 * delay_s - 1e-6
    assert found.trim_end_s >= 0.25 - 1e-9
    # Requests that all take the delay and 1 ms more: whatever the window, the rate is right.
    ends = np.concatenate([np.full(100, n * (delay_s + 1e-4)) for n in range(1, round(60 / delay_s) + 60)])
    inside = (ends >= found.trim_start_s) & (ends < found.seconds - found.trim_end_s)
    assert inside.sum() / found.measured_s == pytest.approx(100 / delay_s, rel=0.02 + 1.1e-4 / delay_s)


def test_connections_are_opened_before_the_measured_part() -> None:
    few, many = opened_first(5, 100), opened_first(5, 10_000)
    assert (few.seconds, few.trim_start_s, few.trim_end_s) == (5, 1.5, 0.5)
    assert (many.seconds, many.trim_start_s, many.trim_end_s) == (9, 5.5, 0.5)
    assert opened_first(12, 100).measured_s == 9
    with pytest.raises(UsageError, match="window_s = 2 is too short"):
        opened_first(2, 100)


@pytest.mark.parametrize(
    ("options", "connections", "requests", "seconds"),
    [
        ({"requests": 1_000_000}, 10, 24_000, 3),
        ({"requests": 10_000, "rampup_s": 10}, 2, 3_600, 3),
        ({"requests": 1_000}, 2, 1_000, 1),
    ],
)
def test_smoke_makes_fewer_requests_by_drill(
    options: dict[str, Any], connections: int, requests: int, seconds: int
) -> None:
    own = RowWindow(generator="drill", connections=connections, generator_options=options)
    spec = own.spec("w", "v", SMOKE, None, {})
    assert spec.generator_options == {**options, "requests": requests}
    assert spec.seconds == seconds
    assert spec.trim_start_s == pytest.approx(seconds / 10)
    assert own.told(FULL) == options


def test_ceilings_of_waiting() -> None:
    assert waiting_ceilings(100, 20, 32) == {"connections/delay": 5000, "threads/delay": 1600}
    assert waiting_ceilings(100, 20, None) == {"connections/delay": 5000}
    assert waiting_ceilings(100, 0, 32) == waiting_ceilings(100, None, 32) == {}


def test_ceilings_of_round_trips() -> None:
    [ceiling] = trips_ceiling(10, 20, 16.0).values()
    assert ceiling == pytest.approx(20 / (10 * 0.016))
    assert trips_implied(20, 16.0, ceiling) == pytest.approx(10)
    assert trips_ceiling(10, None, 16.0) == trips_ceiling(None, 20, 16.0) == {}
    assert trips_implied(20, 16.0, 0.0) is None


def test_a_request_that_rightly_waits_is_given_the_time() -> None:
    assert [patience_s(100, ceiling) for ceiling in (2.0, 5000.0, None)] == [100, 10, 10]

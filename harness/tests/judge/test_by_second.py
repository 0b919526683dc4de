"""tandem.judge.by_second: an open loop second by second, and when a backlog grows."""

import numpy as np
import pytest
from harness_samples import floats, there

from tandem.judge.by_second import Responses, by_second, growth, per_second


def queue(
    load: float, seconds: int = 10, rate_rps: int = 500, noise: float = 0.2, seed: int = 1
) -> Responses:
    """A single server, deterministic arrivals, lognormal service: Lindley's recursion."""
    random = np.random.default_rng(seed)
    due = np.arange(seconds * rate_rps) / rate_rps
    service = load / rate_rps * random.lognormal(-(noise**2) / 2, noise, len(due))
    response, waiting = np.empty(len(due)), 0.0
    for i, own in enumerate(service):
        response[i] = waiting + own
        waiting = max(0.0, response[i] - 1 / rate_rps)
    return Responses(due, response)


@pytest.mark.parametrize("load", [0.5, 0.9, 0.98, 1.02, 1.1, 1.5])
def test_a_backlog_grows_where_the_server_is_too_slow(load: float) -> None:
    for seed in range(10):
        found = there(growth(queue(load, seed=seed), 2, 9))
        assert found.growing is (load > 1)
        if load > 1:
            assert found.slope_ms_per_s == pytest.approx(1e3 * (load - 1), abs=10, rel=0.05)
    assert growth(queue(load), 2, 5) is None, "it needs four seconds"


def test_one_stall_is_not_a_growing_backlog() -> None:
    still = queue(0.5)
    stall = np.where((still.due_s > 7) & (still.due_s < 7.4), 7.4 - still.due_s, 0)
    assert not there(growth(Responses(still.due_s, still.response_s + stall), 2, 9)).growing


def test_quantiles_of_each_second() -> None:
    found = Responses(floats(0.1, 0.2, 2.5), floats(0.010, 0.030, 0.5))
    assert per_second(found, [0.5, 1.0], 0, 3) == [
        [pytest.approx(20.0), None, pytest.approx(500.0)],
        [pytest.approx(30.0), None, pytest.approx(500.0)],
    ]
    assert per_second(found, [0.5], 0, 0.5) == [[]], "no whole second"
    table = by_second(found, 3)
    assert (table.answered, table.p50_ms) == ([2, 0, 1], per_second(found, [0.5], 0, 3)[0])
    assert table.p999_ms[1] is None

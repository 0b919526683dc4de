"""tandem.judge.by_second: what rows imply."""

import numpy as np
import pytest
from harness_samples import answered, floats, there

from tandem.judge.by_second import by_second, choice_p, growth, implied_rows, per_second
from tandem.load.rows import OpenLoop


def queue(load: float, seconds: int = 10, rate_rps: int = 500, noise: float = 0.2, seed: int = 1) -> OpenLoop:
    """A single server, deterministic arrivals, lognormal service: Lindley's recursion."""
    random = np.random.default_rng(seed)
    due = np.arange(seconds * rate_rps) / rate_rps
    service = load / rate_rps * random.lognormal(-(noise**2) / 2, noise, len(due))
    response, waiting = np.empty(len(due)), 0.0
    for i, own in enumerate(service):
        response[i] = waiting + own
        waiting = max(0.0, response[i] - 1 / rate_rps)
    return answered(due, response)


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
    stall = np.where((still.intended_s > 7) & (still.intended_s < 7.4), 7.4 - still.intended_s, 0)
    assert not there(growth(answered(still.intended_s, still.response_s + stall), 2, 9)).growing


def test_quantiles_of_each_second() -> None:
    found = answered(floats(0.1, 0.2, 2.5), floats(0.010, 0.030, 0.5))
    assert per_second(found, [0.5, 1.0], 0, 3) == [
        [pytest.approx(20.0), None, pytest.approx(500.0)],
        [pytest.approx(30.0), None, pytest.approx(500.0)],
    ]
    assert per_second(found, [0.5], 0, 0.5) == [[]], "no whole second"
    table = by_second(found, 3)
    assert (table.answered, table.p50_ms) == ([2, 0, 1], per_second(found, [0.5], 0, 3)[0])
    assert table.p999_ms[1] is None


KEYS = {1: 100, 2: 200, 3: 300, 4: 300}
STEPS = {1: 5, 2: 6, 3: 4, 4: 8}
VISIBLE = {n: 1000 + n for n in range(72)}


@pytest.mark.parametrize(
    ("lengths", "own", "rows", "error"),
    [
        ({100: 10, 200: 20}, 0, 10 * 5 + 20 * 6, 0.0),
        ({300: 100}, 0, 100 * 6, 100**0.5 * 2),  # two keys of one length
        ({}, 40, 40 * 5.75, 40**0.5 * np.std([5, 6, 4, 8])),  # the harness's own are of any key
    ],
)
def test_a_length_tells_the_rows(lengths: dict[int, int], own: int, rows: float, error: float) -> None:
    found = implied_rows(lengths, KEYS, {"steps": STEPS}, own=own)["steps"]
    assert (found.rows, found.error, found.most) == pytest.approx((rows, error, 8))
    assert implied_rows(lengths, {}, {}, own=own) == {}, "of what depends on nothing"


def drawn(weights: list[float], number: int) -> dict[int, int]:
    """So many answers, drawn from 72 lengths."""
    counts = np.random.default_rng(7).multinomial(number, np.array(weights) / sum(weights))
    return {1000 + n: int(count) for n, count in enumerate(counts)}


def test_an_even_choice_is_likely_and_an_uneven_one_is_not() -> None:
    for number in (150, 3_000, 30_000, 1_000_000):
        assert there(choice_p(drawn([1.0] * 72, number), VISIBLE)) > 1e-4
    always, never, preferred = [1.0] + [0.0] * 71, [0.0] + [1.0] * 71, [1.3] * 36 + [1.0] * 36
    for weights, number in ((always, 150), (never, 8_000), (preferred, 8_000)):
        assert there(choice_p(drawn(weights, number), VISIBLE)) < 1e-9
    # Two of one length come twice as often.
    assert choice_p({100: 100, 200: 100, 300: 200}, KEYS) == pytest.approx(1.0)
    assert there(choice_p({100: 133, 200: 133, 300: 134}, KEYS)) < 1e-9


def test_few_answers_and_no_choice_say_nothing() -> None:
    assert choice_p({1000: 143}, VISIBLE) is choice_p({1000: 3000}, {1: 1000}) is None

"""tandem.analysis.network: exact where it can be, against mean value analysis and against a simulation of permits."""

import heapq
import itertools
import random
from collections.abc import Sequence

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.network import CUSTOMERS, Network, Span, Station, gains, limit, solve

DEMANDS = st.floats(0.05, 20)
DELAYS = st.one_of(st.just(0.0), st.floats(0.1, 100))


def plain(customers: int, delay_ms: float, *stations: Station) -> Network:
    return Network(customers, (Span("client", None, stations, delay_ms),))


def nested(
    customers: int, permits: int | None, held: Station, delay_ms: float, outside: float = 0.0
) -> Network:
    """A pool whose holder computes and travels, and a core outside of it."""
    around = (Station("proxy", outside),) if outside else ()
    return Network(customers, (Span("pool", permits, (held,), delay_ms), Span("client", None, around)))


def mva(customers: int, delay_ms: float, demands: Sequence[float]) -> float:
    """Exact mean value analysis of single servers (Reiser and Lavenberg): the throughput per second."""
    queues, rate = [0.0] * len(demands), 0.0
    for n in range(1, customers + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        rate = n / (delay_ms + sum(times))
        queues = [rate * time for time in times]
    return rate * 1e3


@PROPERTY
@given(st.integers(1, 60), DELAYS, st.lists(DEMANDS, min_size=1, max_size=4))
def test_without_permits_it_is_mean_value_analysis(n: int, delay: float, demands: list[float]) -> None:
    stations = [Station(str(i), demand) for i, demand in enumerate(demands)]
    assert solve(plain(n, delay, *stations)).throughput_rps == pytest.approx(mva(n, delay, demands))


@pytest.mark.parametrize(
    ("servers", "customers", "rps"), [(1, 1, 500), (1, 9, 500), (2, 1, 500), (2, 2, 1000), (4, 9, 2000)]
)
def test_one_station_is_exact(servers: int, customers: int, rps: float) -> None:
    found = solve(plain(customers, 0.0, Station("app", 2.0, servers)))
    assert found.throughput_rps == pytest.approx(rps)
    assert found.utilisation["app"] == pytest.approx(min(1.0, customers / servers))
    assert found.response_ms == pytest.approx(customers / rps * 1e3)


def test_the_machine_repairman_is_exact() -> None:
    """Two servers, three customers, exponential: by the balance equations of the birth-death chain."""
    think, work = 10.0, 4.0
    weights = [1.0]
    for n in range(1, 4):
        weights.append(weights[-1] * (3 - n + 1) / think * work / min(n, 2))
    busy = sum(w * min(n, 2) for n, w in enumerate(weights)) / sum(weights)
    assert solve(plain(3, think, Station("app", work, 2))).throughput_rps == pytest.approx(busy / work * 1e3)


@PROPERTY
@given(st.integers(1, 60), st.integers(1, 60), DEMANDS, DELAYS, DEMANDS, st.integers(1, 4))
def test_asymptotic_bounds_hold(
    n: int, permits: int, held: float, delay: float, outside: float, servers: int
) -> None:
    asked = nested(n, permits, Station("db", held, servers), delay, outside)
    rate = solve(asked).throughput_rps / 1e3
    bounds = (n / (held + delay + outside), servers / held, 1 / outside, permits / (held + delay))
    assert rate <= min(bounds) * (1 + 1e-9)
    assert rate >= 1 / (held + delay + outside) * (1 - 1e-9)


@PROPERTY
@given(st.integers(1, 40), st.integers(1, 40), DEMANDS, DELAYS, DEMANDS)
def test_more_of_anything_never_slows(
    n: int, permits: int, held: float, delay: float, outside: float
) -> None:
    found = gains(nested(n, permits, Station("db", held), delay, outside))
    assert set(found) == {CUSTOMERS, "pool", "db", "proxy"}
    assert min(found.values()) >= 1 - 1e-9
    assert max(found.values()) <= 2 + 1e-9
    enough = solve(nested(n, n, Station("db", held), delay, outside))
    free = solve(plain(n, delay, Station("db", held), Station("proxy", outside)))
    assert enough.throughput_rps == pytest.approx(free.throughput_rps), "enough permits are none"
    assert enough.utilisation["pool"] <= 1 + 1e-9


def test_permits_that_are_all_held_are_told() -> None:
    """Little: what is held is throughput x time."""
    asked = nested(50, 4, Station("db", 0.1), 40.0, 0.01)
    found = solve(asked)
    assert found.throughput_rps == pytest.approx(4 / 40.1 * 1e3, rel=0.01)
    assert found.utilisation["pool"] == pytest.approx(1, abs=0.001)
    assert limit(gains(asked)) == "pool"
    large = solve(nested(1000, 900, Station("db", 0.01), 1000.0, 0.01))
    assert large.throughput_rps == pytest.approx(900, rel=0.001), "many customers keep their digits"


def simulated(
    customers: int, threads: int, pool: int, app_ms: float, trip_ms: float, wait_ms: float, seed: int
) -> float:
    """Requests per second by events: a thread is held for wait, core and connection; the connection for the core and the
    trip. The core serves in the order of arrival, one at a time; all times are exponential."""
    draw, sequence = random.Random(seed).expovariate, itertools.count()
    events: list[tuple[float, int, str]] = []
    free = {"thread": threads, "pool": pool, "core": 1}
    queues = {"thread": 0, "pool": 0, "core": 0}
    now, done, until, skipped, begun_ms = 0.0, 0, 60_000, 5_000, 0.0

    def after(mean_ms: float, what: str) -> None:
        heapq.heappush(events, (now + (draw(1 / mean_ms) if mean_ms else 0.0), next(sequence), what))

    def take(what: str) -> None:
        if not free[what]:
            queues[what] += 1
            return
        free[what] -= 1
        {
            "thread": lambda: after(wait_ms, "waited"),
            "pool": lambda: take("core"),
            "core": lambda: after(app_ms, "computed"),
        }[what]()

    def give(what: str) -> None:
        free[what] += 1
        if queues[what]:
            queues[what] -= 1
            take(what)

    for _ in range(customers):
        take("thread")
    while done < until:
        now, _, what = heapq.heappop(events)
        if what == "waited":
            take("pool")
        elif what == "computed":
            give("core")
            after(trip_ms, "answered")
        else:
            give("pool")
            give("thread")
            done += 1
            begun_ms = now if done == skipped else begun_ms
            take("thread")
    return (until - skipped) / (now - begun_ms) * 1e3


@pytest.mark.parametrize(
    ("customers", "threads", "pool", "app", "trip", "wait", "limited"),
    [
        (50, 50, 50, 1.0, 32.0, 0.0, "app"),
        (50, 20, 20, 1.0, 32.0, 0.0, "pool+threads"),
        (50, 40, 5, 1.0, 10.0, 0.0, "pool"),
        (50, 8, 20, 1.0, 10.0, 20.0, "threads"),
        (10, 10, 6, 2.0, 8.0, 4.0, "app"),
        (6, 40, 40, 1.0, 60.0, 0.0, CUSTOMERS),
    ],
)
def test_a_simulation_agrees(
    customers: int, threads: int, pool: int, app: float, trip: float, wait: float, limited: str
) -> None:
    asked = Network(
        customers,
        (
            Span("pool", pool, (Station("app", app),), trip),
            Span("threads", threads, (), wait),
            Span("client", None),
        ),
    )
    seen = simulated(customers, threads, pool, app, trip, wait, seed=17)
    assert solve(asked).throughput_rps == pytest.approx(seen, rel=0.03)
    assert limit(gains(asked)) == limited


def test_what_cannot_be_solved() -> None:
    with pytest.raises(ValueError, match="nothing in the network takes time"):
        solve(plain(3, 0.0))
    with pytest.raises(ValueError, match="not 5000"):
        solve(plain(5000, 1.0))

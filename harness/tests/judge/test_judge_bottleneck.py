"""tandem.judge.bottleneck: every tag is reached by a construction of its own, and missed just below its limit."""

from typing import Any

import pytest
from harness_samples import good_window, host, pooler, proxy, quiet_roles, role

from tandem.judge.bottleneck import Concurrency as At
from tandem.judge.bottleneck import bottleneck, is_own, resources, tags
from tandem.record.window import DbRtt, Role, Window
from tandem.wording import limited_by, with_parts

ENOUGH = At(50)
"""As many database connections as clients."""
FAR = At(50, round_trips=8)
OWN = "for a connection from the application's own pool"
INFERRED = "50 connections share 20 database connections, and no CPU is exhausted"
SET = ("loadgen", "proxy", "pgbouncer", "db")


def alone(name: str, cores: float, cpuset: str = "8", available: int = 1) -> Window:
    """One role on CPUs of its own; the others are quiet."""
    return good_window(roles=quiet_roles(**{name: role(cores, cpuset, available)}))


def app(share: float, **others: Role) -> Window:
    """An application whose busiest thread has all its CPU time."""
    return good_window(roles=quiet_roles(app=role(share, "4", busiest_thread_cores=share), **others))


def thread(cores: float | None) -> Window:
    return good_window(roles=quiet_roles(app=role(1.0, "4-5", 2, busiest_thread_cores=cores)))


def on_one_core(**larger: float) -> Window:
    """The application alone on core 1, everything else on core 0, none of them above its own limit."""
    shared = {name: role(larger.get(name, 0.2), "0") for name in {**dict.fromkeys(SET), **larger}}
    return good_window(roles={**shared, "app": role(0.6, "1", busiest_thread_cores=0.6)})


def queued(mean: float | None, **changes: Any) -> Window:
    return good_window(proxy=proxy(queue_mean=mean), **changes)


def locked(mean: float | None) -> Window:
    return good_window(lock_waits_mean=mean)


def far(goodput_rps: float, loaded_ms: float = 16.0) -> Window:
    """Eight round trips of 15 ms on 20 connections let 167 requests a second through."""
    trip = DbRtt(setting=15, before_p50=15.0, during_p50=loaded_ms, during_p90=40.0, samples=9)
    return good_window(goodput_rps=goodput_rps, db_rtt_ms=trip, pooler=None)


def waited(own_ms: float | None, pooler_us: float | None = 10.0) -> Window:
    """A fifth of 5 ms is the limit: 1 ms, which are 333 us in PgBouncer for each of three statements."""
    return good_window(app_pool_wait_ms=own_ms, pooler=pooler(wait_us_per_query=pooler_us))


@pytest.mark.parametrize(
    ("window", "at_once", "tag"),
    [
        # CPUs that several share: the largest user names the set; below 90 % it limits nothing.
        *((on_one_core(**{name: 0.36}), ENOUGH, tag) for name, tag in zip(
            SET, ("generator", "proxy", "pooler", "database"), strict=True)),
        (on_one_core(loadgen=0.2, proxy=0.1, pgbouncer=0.1, db=0.2, faults=0.35), ENOUGH, "faults"),
        (on_one_core(), ENOUGH, "latency-bound"),
        (good_window(roles={name: role(0.4 + 0.1 * (name == "db"), "", 2) for name in quiet_roles()}), ENOUGH, "database"),
        # One thread at a full core.
        (thread(0.95), ENOUGH, "app-thread"),
        (thread(0.85), ENOUGH, "latency-bound"),
        (thread(None), ENOUGH, "latency-bound"),
        # What is as near to its limit as the generator, which is one from 70 % on, ties with it.
        (app(0.75, loadgen=role(0.72, "3")), ENOUGH, "app-cpu+generator"),
        (app(0.6, loadgen=role(0.72, "3")), ENOUGH, "generator"),
        (app(0.85, db=role(0.96, "2")), ENOUGH, "database"),
        # HAProxy's queue: a fifth of the connections, unless a CPU or what is inside explains it.
        *((queued(n), ENOUGH, "latency-bound") for n in (9.9, None)),
        (queued(10.5), ENOUGH, "proxy"),
        (queued(25.0, roles=app(0.97).roles), ENOUGH, "app-cpu"),
        (queued(25.0), At(20), "proxy"),
        (queued(25.0), At(20, None, 25), "pool-wait"),
        (queued(25.0), At(handler_threads=5, admitted=25), "thread-pool"),
        (queued(25.0), At(40, None, 25), "proxy"),
        # Half of 5 ms in HAProxy's queue: a fifth of what is left is 0.5 ms.
        *((queued(25.0, app_pool_wait_ms=ms), At(20, None, 40), tag)
          for ms, tag in ((0.51, "pool-wait"), (0.49, "latency-bound"))),
        # Locks: a fifth of the connections that can be in use, which are no more than threads.
        *((locked(n), at, "latency-bound") for n, at in ((None, ENOUGH), (9.9, ENOUGH), (None, At()))),
        *((locked(n), at, "database") for n, at in ((10.5, ENOUGH), (4.1, At(20)), (1.0, At(20, 4)))),
        *((locked(n), at, "pool-wait") for n, at in ((3.9, At(20)), (1.0, At(20, 20)))),
        # The distance, by the idle round trip: under load it contains queues, and those are no distance.
        (far(400), FAR, "distance"),
        (far(320), FAR, "latency-bound"),
        (far(320, 30.0), FAR, "latency-bound"),
        (far(160), At(20, round_trips=8), "pool-wait+distance"),
        (far(100), At(20, round_trips=8), "pool-wait"),
        (far(30), At(20, 4, round_trips=8), "thread-pool+distance"),
        (far(30), At(20, 20, round_trips=8), "pool-wait"),
        # Connections and threads: the scarcer of both is named, and what is measured wins over both numbers.
        *((good_window(), at, "pool-wait") for at in (At(49), At(20, 49), At(10, 10))),
        *((good_window(), at, "latency-bound") for at in (ENOUGH, At(), At(handler_threads=50))),
        (good_window(), At(handler_threads=49), "thread-pool"),
        *((good_window(pooler=None), at, "pool-wait") for at in (At(20), At(4, 20))),
        (good_window(pooler=None), At(), "latency-bound"),
        (good_window(pooler=None), At(20, 4), "thread-pool"),
        (waited(0.0), At(10, 10), "thread-pool"),
        (waited(None, 500.0), At(20, 4), "pool-wait"),
        (waited(3.0), At(20, 4), "pool-wait"),
        (waited(3.0), At(), "latency-bound"),
        (waited(None, 500.0), ENOUGH, "pool-wait"),
        (waited(None, 200.0), ENOUGH, "latency-bound"),
        (waited(None, None), ENOUGH, "latency-bound"),
        *((waited(ms), at, tag) for at in (At(20), ENOUGH) for ms, tag in (
            (1.01, "pool-wait"), (0.99, "latency-bound"), (0.0, "latency-bound"))),
        (app(0.95), At(20), "app-cpu"),
        # An open loop: its rate was given, whatever waits meanwhile.
        (good_window("open"), At(20), "offered-load"),
        (good_window("open", lock_waits_mean=20.0), At(20), "offered-load"),
        (good_window("open", app_pool_wait_ms=3.0), ENOUGH, "offered-load"),
        # Nothing is claimed where what others took of the CPU may have exhausted it, but for what is exhausted all the same.
        *((app(used).model_copy(update={"host": host(**taken)}), ENOUGH, tag)
          for taken, used, tag in (
              ({"foreign_cpu_share": 0.06}, 0.75, "unknown"), ({"steal_share": 0.03}, 0.75, "unknown"),
              ({"steal_share": 0.03}, 0.2, "latency-bound"))),
        (app(0.95).model_copy(update={"host": host(steal_share=0.03)}), ENOUGH, "app-cpu"),
    ],
)  # fmt: skip
def test_the_limit(window: Window, at_once: At, tag: str) -> None:
    assert bottleneck(window, at_once)[0] == tag


@pytest.mark.parametrize("available", [1, 2])
@pytest.mark.parametrize(
    ("name", "limit", "tag"),
    [
        ("loadgen", 0.70, "generator"),
        ("proxy", 0.80, "proxy"),
        ("pgbouncer", 0.80, "pooler"),
        ("faults", 0.80, "faults"),
        ("db", 0.80, "database"),
        ("own-cache", 0.80, "beside"),
        ("app", 0.80, "app-cpu"),
    ],
)
def test_a_role_above_its_share(name: str, limit: float, tag: str, available: int) -> None:
    for load, below in (("closed", "latency-bound"), ("open", "offered-load")):
        for share, told in ((limit + 0.02, tag), (limit - 0.02, below)):
            window = alone(name, share * available, "8-9"[: 2 * available - 1], available)
            assert bottleneck(window.model_copy(update={"load": load}), ENOUGH)[0] == told


def test_what_is_as_busy_is_told_as_one() -> None:
    """Within 10 points nobody knows which of two was the limit; the most used comes first."""
    told, evidence = bottleneck(app(0.88, db=role(0.96, "2")), ENOUGH)
    assert tags(told) == ["database", "app-cpu"]
    assert evidence[-1] == "within 10 points: core 2 96%, core 4 88%"
    assert limited_by(told) == "the database and the application's CPU, within 10 points"


def test_a_rate_is_the_implementations_where_nothing_shared_was_as_busy() -> None:
    assert is_own("app-cpu") is is_own("pool-wait+distance") is True
    assert is_own("database+app-cpu") is is_own("offered-load") is False


def test_the_resources_are_ranked_with_their_parts() -> None:
    shared = {"db": role(0.52), "pgbouncer": role(0.35), "proxy": role(0.07), "loadgen": role(0.04)}
    busy = role(1.2, "1-2", 2, busiest_thread_cores=0.7)
    found = resources(good_window(roles={"app": busy, **shared}), At(20, 64))
    assert [(one.name, round(one.utilisation, 2)) for one in found] == [
        ("database connections", 1.0),
        ("core 0", 0.98),
        ("handler threads", 0.77),
        ("one thread of the application", 0.7),
        ("cores 1-2", 0.6),
    ]
    assert found[1].parts == {"db": 0.52, "pgbouncer": 0.35, "proxy": 0.07, "loadgen": 0.04}
    assert with_parts(found[1].name, found[1].utilisation, found[1].parts) == (
        "core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %"
    )
    assert with_parts("handler threads", 0.77, {}) == "handler threads 77 %"
    used = {one.name: one.utilisation for one in resources(far(30), At(20, 4, 8))}
    assert (used["handler threads"], used["database connections"]) == (1.0, 0.2), "no thread, no connection"


def test_the_evidence_names_every_role_the_busiest_first() -> None:
    _, evidence = bottleneck(alone("db", 0.75), ENOUGH)
    assert evidence[0] == "db 0.75 of 1 cores (75%)"
    assert {line.split()[0] for line in evidence[:5]} == {"app", "proxy", "pgbouncer", "db", "loadgen"}
    assert "at this cost per request the CPUs of app would be exhausted at 800/s" in evidence


@pytest.mark.parametrize(
    ("window", "at_once", "told"),
    [
        (on_one_core(db=0.36), ENOUGH, "db is the largest user of the exhausted core 0"),
        (on_one_core(db=0.36), ENOUGH, "CPU set 0 96% busy"),
        (queued(10.5), ENOUGH, "HAProxy's queue"),
        (locked(10.5), ENOUGH, "wait for a lock"),
        (good_window(pooler=None), At(20, 4), "50 connections share 4 handler threads, and no CPU is exhausted"),
        (good_window(pooler=None), At(20), INFERRED),
    ],
)  # fmt: skip
def test_the_evidence_says_why(window: Window, at_once: At, told: str) -> None:
    assert any(told in line for line in bottleneck(window, at_once)[1])
    assert not any(told in line for line in bottleneck(good_window(), ENOUGH)[1]), "the control"


def test_which_pool_waits() -> None:
    own, both = (bottleneck(waited(3.0, us), ENOUGH)[1] for us in (10.0, 500.0))
    assert own[-1].endswith(OWN)
    assert both[-2].endswith(OWN)
    assert both[-1].endswith("in PgBouncer")
    assert [sum(OWN in line for line in lines) for lines in (own, both)] == [1, 1], "told once"
    assert bottleneck(waited(0.1, 500.0), ENOUGH)[1][-1].endswith("in PgBouncer")


@pytest.mark.parametrize(
    "window",
    [
        waited(3.0),
        good_window(roles=quiet_roles(db=role(0.95, "2")), app_pool_wait_ms=3.0),
        good_window(lock_waits_mean=15.0, app_pool_wait_ms=3.0),
        good_window("open", app_pool_wait_ms=3.0),
    ],
)
def test_what_the_pool_tells_is_evidence_whatever_the_limit_is(window: Window) -> None:
    evidence = bottleneck(window, At(20))[1]
    assert f"a checkout waits 3.0 of 5.0 ms (60%) {OWN}" in evidence
    assert INFERRED not in evidence

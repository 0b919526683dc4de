"""tandem.judge.bottleneck: every tag is reached by a construction of its own."""

from typing import Literal

import pytest
from harness_samples import good_window, host, pooler, proxy, quiet_roles, role

from tandem.judge.bottleneck import Concurrency, bottleneck, is_own, resources, tags
from tandem.record.window import DbRtt, Role
from tandem.wording import limited_by, with_parts

Load = Literal["closed", "open"]


@pytest.mark.parametrize(
    ("name", "limit", "tag"),
    [
        ("loadgen", 0.70, "generator"),
        ("proxy", 0.80, "proxy"),
        ("pgbouncer", 0.80, "pooler"),
        ("db", 0.80, "database"),
        ("app", 0.80, "app-cpu"),
    ],
)
@pytest.mark.parametrize("available", [1, 2])
@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_role_above_its_share(name: str, limit: float, tag: str, available: int, load: Load) -> None:
    cpuset = "8" if available == 1 else "8-9"

    def told(share: float) -> str:
        return bottleneck(
            good_window(load, roles=quiet_roles(**{name: role(share * available, cpuset, available)})),
            Concurrency(50),
        )[0]

    assert told(limit + 0.02) == tag
    assert told(limit - 0.02) == ("latency-bound" if load == "closed" else "offered-load")


@pytest.mark.parametrize(
    ("queue_mean", "tag"), [(9.9, "latency-bound"), (10.5, "proxy"), (None, "latency-bound")]
)
def test_requests_that_wait_in_the_proxy(queue_mean: float | None, tag: str) -> None:
    """A fifth of the connections; a record from before the figure was kept has none."""
    window = good_window()
    assert window.proxy is not None
    window.proxy = window.proxy.model_copy(update={"queue_mean": queue_mean})
    told, evidence = bottleneck(window, Concurrency(50))
    assert told == tag
    assert any("HAProxy's queue" in line for line in evidence) == (tag == "proxy")


@pytest.mark.parametrize(
    ("waiting", "tag"), [(None, "latency-bound"), (9.9, "latency-bound"), (10.5, "database")]
)
def test_connections_that_wait_for_a_lock(waiting: float | None, tag: str) -> None:
    """A fifth of the fifty that can be in use; it is the reason for waiting in front of the pool, too."""
    told, evidence = bottleneck(good_window(lock_waits_mean=waiting), Concurrency(50))
    assert told == tag
    assert any("wait for a lock" in line for line in evidence) == (tag == "database")
    # Four of twenty connections, and no more than that.
    assert bottleneck(good_window(lock_waits_mean=4.1), Concurrency(20))[0] == "database"
    assert bottleneck(good_window(lock_waits_mean=3.9), Concurrency(20))[0] == "pool-wait"
    # A given rate is met or not, whatever waits meanwhile; and who has no database waits for no lock.
    assert bottleneck(good_window("open", lock_waits_mean=20.0), Concurrency(20))[0] == "offered-load"
    assert bottleneck(good_window(lock_waits_mean=None), Concurrency())[0] == "latency-bound"


def test_what_is_as_busy_is_told_as_one() -> None:
    """Within 10 points nobody knows which of two was the limit; the most used comes first."""
    roles = quiet_roles(app=role(0.88, "4", busiest_thread_cores=0.88), db=role(0.96, "2"))
    told, evidence = bottleneck(good_window(roles=roles), Concurrency(50))
    assert tags(told) == ["database", "app-cpu"]
    assert evidence[-1] == "within 10 points: core 2 96%, core 4 88%"
    assert limited_by(told) == "the database and the application's CPU, within 10 points"
    roles["app"] = role(0.85, "4", busiest_thread_cores=0.85)
    assert bottleneck(good_window(roles=roles), Concurrency(50))[0] == "database", "11 points below it"


def test_what_is_not_exhausted_ties_with_what_is_only_from_near() -> None:
    """The generator is the limit from 70 % on. An application at 75 % is not exhausted, and as near."""
    busy = quiet_roles(loadgen=role(0.72, "3"), app=role(0.75, "4"))
    assert bottleneck(good_window(roles=busy), Concurrency(50))[0] == "app-cpu+generator"
    busy["app"] = role(0.6, "4")
    assert bottleneck(good_window(roles=busy), Concurrency(50))[0] == "generator"


def test_a_rate_is_the_implementations_where_nothing_shared_was_as_busy() -> None:
    assert is_own("app-cpu")
    assert is_own("pool-wait+distance")
    assert not is_own("database+app-cpu")
    assert not is_own("offered-load")


def test_the_resources_are_ranked_with_their_parts() -> None:
    shared = {"db": role(0.52), "pgbouncer": role(0.35), "proxy": role(0.07), "loadgen": role(0.04)}
    app = role(1.2, "1-2", 2, busiest_thread_cores=0.7)
    found = resources(good_window(roles={"app": app, **shared}), Concurrency(20, 64))
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


def test_a_far_database_is_a_limit_by_its_idle_round_trip() -> None:
    """Eight round trips of 15 ms on 20 connections let 167 requests a second through. Under load a round trip looks
    longer because of queues, and those are no distance."""

    def told(goodput_rps: float, loaded_ms: float, pool: int = 50) -> str:
        trip = DbRtt(setting=15, before_p50=15.0, during_p50=loaded_ms, during_p90=40.0, samples=9)
        return bottleneck(
            good_window(goodput_rps=goodput_rps, db_rtt_ms=trip), Concurrency(pool, round_trips=8)
        )[0]

    assert told(400, 16.0) == "distance"
    assert told(320, 16.0) == told(320, 30.0) == "latency-bound"
    assert told(160, 16.0, pool=20) == "pool-wait+distance"
    assert told(100, 16.0, pool=20) == "pool-wait"


def test_a_queue_in_front_of_an_exhausted_cpu_is_its_consequence() -> None:
    roles = quiet_roles(app=role(0.97, "4", busiest_thread_cores=0.97))
    assert bottleneck(good_window(roles=roles, proxy=proxy(queue_mean=25.0)), Concurrency(50))[0] == "app-cpu"


@pytest.mark.parametrize(
    ("name", "tag"),
    [("loadgen", "generator"), ("proxy", "proxy"), ("pgbouncer", "pooler"), ("db", "database")],
)
def test_an_exhausted_shared_set_is_named_after_its_largest_user(name: str, tag: str) -> None:
    """Two cores: the application alone on core 1, everything else on core 0, none of them above its own limit."""
    shared: dict[str, Role] = {n: role(0.2, "0") for n in ("loadgen", "proxy", "pgbouncer", "db")}
    roles = {**shared, name: role(0.36, "0"), "app": role(0.6, "1", busiest_thread_cores=0.6)}
    told, evidence = bottleneck(good_window(roles=roles), Concurrency(50))
    assert told == tag
    assert "CPU set 0 96% busy" in evidence
    assert f"{name} is the largest user of the exhausted core 0" in evidence


def test_all_cpus_are_a_shared_set_too() -> None:
    """The placement `shared`: no role has CPUs of its own, and five times 0.4 of 2 cores is all there is."""
    roles = {name: role(0.4, "", 2) for name in quiet_roles()}
    told, evidence = bottleneck(good_window(roles={**roles, "db": role(0.5, "", 2)}), Concurrency(50))
    assert told == "database"
    assert "CPU set all 105% busy" in evidence


def test_a_shared_set_with_room_limits_nothing() -> None:
    roles = {n: role(0.2, "0") for n in ("loadgen", "proxy", "pgbouncer", "db")}
    told, _ = bottleneck(
        good_window(roles={**roles, "app": role(0.6, "1", busiest_thread_cores=0.6)}), Concurrency(50)
    )
    assert told == "latency-bound"


@pytest.mark.parametrize("load", ["closed", "open"])
def test_one_thread_at_a_full_core(load: Load) -> None:
    def told(thread: float | None) -> str:
        app = role(1.0, "4-5", 2, busiest_thread_cores=thread)
        return bottleneck(good_window(load, roles=quiet_roles(app=app)), Concurrency(50))[0]

    assert told(0.95) == "app-thread"
    assert told(0.85) == told(None) == ("latency-bound" if load == "closed" else "offered-load")


def test_a_queue_before_an_application_that_cannot_use_what_is_let_in() -> None:
    queued = good_window(proxy=proxy(queue_mean=25.0))
    assert bottleneck(queued, Concurrency(20))[0] == "proxy"
    assert bottleneck(queued, Concurrency(20, None, 25))[0] == "pool-wait"
    assert bottleneck(queued, Concurrency(handler_threads=5, admitted=25))[0] == "thread-pool"
    assert bottleneck(queued, Concurrency(40, None, 25))[0] == "proxy"


def test_a_pool_is_waited_for_without_a_pooler_as_well() -> None:
    assert bottleneck(good_window(pooler=None), Concurrency(20))[0] == "pool-wait"
    assert bottleneck(good_window(pooler=None), Concurrency())[0] == "latency-bound"


def test_waiting_in_the_pooler() -> None:
    def told(wait_us: float | None) -> str:
        return bottleneck(good_window(pooler=pooler(wait_us_per_query=wait_us)), Concurrency(50))[0]

    assert told(500.0) == "pool-wait"  # 3 statements x 0.5 ms of 5 ms
    assert told(200.0) == told(None) == "latency-bound"


def test_fewer_database_connections_than_clients() -> None:
    assert bottleneck(good_window(), Concurrency(49))[0] == "pool-wait"
    assert bottleneck(good_window(), Concurrency(50))[0] == "latency-bound"
    assert bottleneck(good_window(), Concurrency())[0] == "latency-bound"


def test_a_busy_cpu_is_named_before_a_full_pool() -> None:
    roles = quiet_roles(app=role(0.95, "4", busiest_thread_cores=0.95))
    assert bottleneck(good_window(roles=roles), Concurrency(20))[0] == "app-cpu"


@pytest.mark.parametrize("changes", [{"foreign_cpu_share": 0.06}, {"steal_share": 0.03}])
def test_nothing_is_claimed_when_others_took_the_cpu(changes: dict[str, float]) -> None:
    assert bottleneck(good_window(host=host(**changes)), Concurrency(50))[0] == "unknown"
    roles = quiet_roles(app=role(0.95, "4"))
    assert bottleneck(good_window(host=host(**changes), roles=roles), Concurrency(50))[0] == "app-cpu"


def test_an_open_loop_below_saturation_is_limited_by_its_rate() -> None:
    assert bottleneck(good_window("open"), Concurrency(20))[0] == "offered-load"


def test_the_evidence_names_every_role_the_busiest_first() -> None:
    _, evidence = bottleneck(good_window(roles=quiet_roles(db=role(0.75, "2"))), Concurrency(50))
    assert evidence[0] == "db 0.75 of 1 cores (75%)"
    assert {line.split()[0] for line in evidence[:5]} == {"app", "proxy", "pgbouncer", "db", "loadgen"}


def test_waiting_for_a_handler_thread() -> None:
    assert bottleneck(good_window(), Concurrency(handler_threads=49))[0] == "thread-pool"
    assert bottleneck(good_window(), Concurrency(handler_threads=50))[0] == "latency-bound"
    assert bottleneck(good_window(), Concurrency(20, 49))[0] == "pool-wait"


def test_threads_are_named_where_they_are_scarcer_than_connections() -> None:
    """Four threads beside sixteen idle connections: a pool that says nothing of its waits is not blamed for theirs."""
    told, evidence = bottleneck(good_window(pooler=None), Concurrency(20, 4))
    assert told == "thread-pool"
    assert evidence[-1] == "50 connections share 4 handler threads, and no CPU is exhausted"
    assert is_own(told)
    assert bottleneck(good_window(pooler=None), Concurrency(4, 20))[0] == "pool-wait", "the control"
    # What is measured wins over both numbers.
    waits = good_window(pooler=pooler(wait_us_per_query=500.0))
    assert bottleneck(waits, Concurrency(20, 4))[0] == "pool-wait"
    assert bottleneck(good_window(app_pool_wait_ms=3.0), Concurrency(20, 4))[0] == "pool-wait"


def test_connections_without_a_thread_are_not_in_use() -> None:
    """Of twenty only as many as there are threads: for the distance, for locks, and in the ranking."""
    trip = DbRtt(setting=15, before_p50=15.0, during_p50=16.0, during_p90=40.0, samples=9)
    far = good_window(goodput_rps=30, db_rtt_ms=trip, pooler=None)
    assert bottleneck(far, Concurrency(20, 4, round_trips=8))[0] == "thread-pool+distance"
    assert bottleneck(far, Concurrency(20, 20, round_trips=8))[0] == "pool-wait", "the control"
    assert bottleneck(good_window(lock_waits_mean=1.0), Concurrency(20, 4))[0] == "database"
    assert bottleneck(good_window(lock_waits_mean=1.0), Concurrency(20, 20))[0] == "pool-wait"
    used = {one.name: one.utilisation for one in resources(far, Concurrency(20, 4, 8))}
    assert (used["handler threads"], used["database connections"]) == (1.0, 0.2)

"""tandem.judge.bottleneck: every tag is reached by a construction of its own."""

from typing import Literal

import pytest
from harness_samples import good_window, host, pooler, proxy, quiet_roles, role

from tandem.judge.bottleneck import LIMITS, bottleneck
from tandem.record.window import Role

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
            good_window(load, roles=quiet_roles(**{name: role(share * available, cpuset, available)})), 50
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
    told, evidence = bottleneck(window, 50)
    assert told == tag
    assert any("HAProxy's queue" in line for line in evidence) == (tag == "proxy")


@pytest.mark.parametrize(
    ("waiting", "tag"), [(None, "latency-bound"), (9.9, "latency-bound"), (10.5, "database")]
)
def test_connections_that_wait_for_a_lock(waiting: float | None, tag: str) -> None:
    """A fifth of the fifty that can be in use; it is the reason for waiting in front of the pool, too."""
    told, evidence = bottleneck(good_window(lock_waits_mean=waiting), 50)
    assert told == tag
    assert any("wait for a lock" in line for line in evidence) == (tag == "database")
    # Four of twenty connections, and no more than that.
    assert bottleneck(good_window(lock_waits_mean=4.1), 20)[0] == "database"
    assert bottleneck(good_window(lock_waits_mean=3.9), 20)[0] == "pool-wait"
    # A given rate is met or not, whatever waits meanwhile; and who has no database waits for no lock.
    assert bottleneck(good_window("open", lock_waits_mean=20.0), 20)[0] == "offered-load"
    assert bottleneck(good_window(lock_waits_mean=None), None)[0] == "latency-bound"


def test_the_first_in_the_order_of_the_path_wins() -> None:
    roles = {name: role(0.99, str(i)) for i, name in enumerate(quiet_roles())}
    order = []
    while roles:
        tag, _ = bottleneck(good_window(roles=roles), 50)
        order.append(tag)
        roles.pop({tag: name for name, (tag, _) in LIMITS.items()}[tag])
        if set(roles) == {"app"}:
            break
    assert order == ["generator", "proxy", "pooler", "database"]
    assert bottleneck(good_window(roles=roles), 50)[0] == "app-cpu"


@pytest.mark.parametrize(
    ("name", "tag"),
    [("loadgen", "generator"), ("proxy", "proxy"), ("pgbouncer", "pooler"), ("db", "database")],
)
def test_an_exhausted_shared_set_is_named_after_its_largest_user(name: str, tag: str) -> None:
    """Two cores: the application alone on core 1, everything else on core 0, none of them above its own limit."""
    shared: dict[str, Role] = {n: role(0.2, "0") for n in ("loadgen", "proxy", "pgbouncer", "db")}
    roles = {**shared, name: role(0.36, "0"), "app": role(0.6, "1", busiest_thread_cores=0.6)}
    told, evidence = bottleneck(good_window(roles=roles), 50)
    assert told == tag
    assert "CPU set 0 96% busy" in evidence
    assert f"{name} is the largest user of the exhausted CPU set 0" in evidence


def test_all_cpus_are_a_shared_set_too() -> None:
    """The placement `shared`: no role has CPUs of its own, and five times 0.4 of 2 cores is all there is."""
    roles = {name: role(0.4, "", 2) for name in quiet_roles()}
    told, evidence = bottleneck(good_window(roles={**roles, "db": role(0.5, "", 2)}), 50)
    assert told == "database"
    assert "CPU set all 105% busy" in evidence


def test_a_shared_set_with_room_limits_nothing() -> None:
    roles = {n: role(0.2, "0") for n in ("loadgen", "proxy", "pgbouncer", "db")}
    told, _ = bottleneck(good_window(roles={**roles, "app": role(0.6, "1", busiest_thread_cores=0.6)}), 50)
    assert told == "latency-bound"


@pytest.mark.parametrize("load", ["closed", "open"])
def test_one_thread_at_a_full_core(load: Load) -> None:
    def told(thread: float | None) -> str:
        app = role(1.0, "4-5", 2, busiest_thread_cores=thread)
        return bottleneck(good_window(load, roles=quiet_roles(app=app)), 50)[0]

    assert told(0.95) == "app-thread"
    assert told(0.85) == told(None) == ("latency-bound" if load == "closed" else "offered-load")


def test_a_queue_before_an_application_that_cannot_use_what_is_let_in() -> None:
    queued = good_window(proxy=proxy(queue_mean=25.0))
    assert bottleneck(queued, 20)[0] == "proxy"
    assert bottleneck(queued, 20, None, 25)[0] == "pool-wait"
    assert bottleneck(queued, None, 5, 25)[0] == "thread-pool"
    assert bottleneck(queued, 40, None, 25)[0] == "proxy"


def test_a_pool_is_waited_for_without_a_pooler_as_well() -> None:
    assert bottleneck(good_window(pooler=None), 20)[0] == "pool-wait"
    assert bottleneck(good_window(pooler=None), None)[0] == "latency-bound"


def test_waiting_in_the_pooler() -> None:
    def told(wait_us: float | None) -> str:
        return bottleneck(good_window(pooler=pooler(wait_us_per_query=wait_us)), 50)[0]

    assert told(500.0) == "pool-wait"  # 3 statements x 0.5 ms of 5 ms
    assert told(200.0) == told(None) == "latency-bound"


def test_fewer_database_connections_than_clients() -> None:
    assert bottleneck(good_window(), 49)[0] == "pool-wait"
    assert bottleneck(good_window(), 50)[0] == "latency-bound"
    assert bottleneck(good_window(), None)[0] == "latency-bound"


def test_a_busy_cpu_is_named_before_a_full_pool() -> None:
    roles = quiet_roles(app=role(0.95, "4", busiest_thread_cores=0.95))
    assert bottleneck(good_window(roles=roles), 20)[0] == "app-cpu"


@pytest.mark.parametrize("changes", [{"foreign_cpu_share": 0.06}, {"steal_share": 0.03}])
def test_nothing_is_claimed_when_others_took_the_cpu(changes: dict[str, float]) -> None:
    assert bottleneck(good_window(host=host(**changes)), 50)[0] == "unknown"
    roles = quiet_roles(app=role(0.95, "4"))
    assert bottleneck(good_window(host=host(**changes), roles=roles), 50)[0] == "app-cpu"


def test_an_open_loop_below_saturation_is_limited_by_its_rate() -> None:
    assert bottleneck(good_window("open"), 20)[0] == "offered-load"


def test_the_evidence_names_every_role_the_busiest_first() -> None:
    _, evidence = bottleneck(good_window(roles=quiet_roles(db=role(0.75, "2"))), 50)
    assert evidence[0] == "db 0.75 of 1 cores (75%)"
    assert {line.split()[0] for line in evidence[:5]} == {"app", "proxy", "pgbouncer", "db", "loadgen"}


def test_waiting_for_a_handler_thread() -> None:
    assert bottleneck(good_window(), None, 49)[0] == "thread-pool"
    assert bottleneck(good_window(), None, 50)[0] == "latency-bound"
    assert bottleneck(good_window(), 20, 49)[0] == "pool-wait"

"""The application's own pool: what `GET /pool` says, when it is asked, what a window and its bottleneck make of it."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx
import pytest
from harness_engine import request
from harness_samples import good_window, pooler, quiet_roles, role
from harness_windows import conditions, measured

from tandem.catalog.catalog import Catalog
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.judge.measure import window
from tandem.lab import observe
from tandem.lab.prepare import prepare
from tandem.probes import app_pool
from tandem.probes.app_pool import AppPool, PoolCounters, PoolUse, parse
from tandem.record.window import Window

OWN = "for a connection from the application's own pool"
INFERRED = "50 connections share 20 database connections, and no CPU is exhausted"


# ---- asking ----


class Told(BaseHTTPRequestHandler):
    """Answers every request with the same."""

    status, body = 200, b""
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Connection"]))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, str], PoolCounters | None]]:
    """What is read from an application that answers with this status and body."""
    server = HTTPServer(("127.0.0.1", 0), Told)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(app_pool, "PORT", server.server_port)

    def read(status: int, body: str) -> PoolCounters | None:
        Told.status, Told.body = status, body.encode()
        Told.asked.clear()
        return AppPool("127.0.0.1").read()

    yield read
    server.shutdown()
    thread.join()
    server.server_close()


Ask = Callable[[int, str], PoolCounters | None]


def test_the_counters_of_an_application(ask: Ask) -> None:
    assert ask(200, '{"checkouts":12,"wait_us":3400}') == PoolCounters(12, 3400)
    assert Told.asked == [("/pool", "close")]


def test_an_application_that_does_not_tell_is_no_error(ask: Ask) -> None:
    assert ask(404, '{"error":"not found"}') is None


def test_an_application_that_does_not_answer_in_time_costs_only_the_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(app_pool, "PORT", silent.getsockname()[1])
        monkeypatch.setattr(app_pool, "TIMEOUT_S", 0.1)
        assert AppPool("127.0.0.1").read() is None
    assert AppPool("127.0.0.1").read() is None, "refused"


@pytest.mark.parametrize("status", [401, 500, 503])
def test_a_failure_is_not_taken_for_a_pool_that_does_not_tell(ask: Ask, status: int) -> None:
    with pytest.raises(httpx.HTTPStatusError):
        ask(status, '{"checkouts":12,"wait_us":3400}')


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"checkouts":1}',
        '{"checkouts":1,"wait_us":1.5}',
        '{"checkouts":true,"wait_us":0}',
    ],
)
def test_another_shape_is_refused(body: str) -> None:
    with pytest.raises(KeyError, match="GET /pool returned"):
        parse(body)


# ---- the window ----


@pytest.mark.parametrize(
    ("before", "after", "mean_ms"),
    [
        (PoolCounters(100, 5_000), PoolCounters(300, 405_000), 2.0),
        (PoolCounters(100, 5_000), PoolCounters(300, 5_000), 0.0),
        (PoolCounters(100, 5_000), PoolCounters(100, 5_000), None),
        (PoolCounters(300, 5_000), PoolCounters(100, 9_000), None),
        (PoolCounters(100, 5_000), PoolCounters(300, 4_000), None),
    ],
    ids=["waited", "never waited", "no checkout", "another process", "counts began anew"],
)
def test_the_mean_wait_per_checkout(before: PoolCounters, after: PoolCounters, mean_ms: float | None) -> None:
    found = window(measured(PoolUse(before, after)), conditions())
    assert found.app_pool_wait_ms == mean_ms


def test_a_pool_that_does_not_tell_has_no_figure() -> None:
    assert window(measured(), conditions()).app_pool_wait_ms is None


def test_records_from_before_stay_readable() -> None:
    found = good_window().model_dump(mode="json")
    del found["app_pool_wait_ms"]
    before = Window.model_validate(found)
    assert before.app_pool_wait_ms is None
    told = before.model_copy(update={"app_pool_wait_ms": 1.25})
    assert Window.model_validate_json(told.model_dump_json()) == told


# ---- when it is asked ----


def watched(monkeypatch: pytest.MonkeyPatch, done: list[str], pools: dict[str, Any]) -> dict[str, object]:
    """What is seen of pools around a load, by label. pools: label -> what its pool says, "no" where it has none that
    tells. done: gets what happened, in order."""

    class Asked:
        def __init__(self, address: str) -> None:
            self._label = address

        def read(self) -> PoolCounters | None:
            done.append("read")
            found: PoolCounters | None = pools[self._label]
            return found

    def app(label: str, told: object) -> Any:
        case = SimpleNamespace(pool_tells=told != "no")
        return SimpleNamespace(case=case, app=SimpleNamespace(address=label))

    monkeypatch.setattr(observe, "AppPool", Asked)
    monkeypatch.setattr(observe, "PROBES", (observe.Pools,))
    scene = observe.Scene({label: app(label, told) for label, told in pools.items()}, lambda *_: None)
    with observe.watched(scene) as [probe]:
        done.append("load")
    return {label: found for label in pools if (found := probe.part(label)) is not None}


def test_a_pool_is_asked_before_and_after_the_load_and_not_during_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    counters = PoolCounters(5, 6)
    assert watched(monkeypatch, done, {"a": counters}) == {"a": PoolUse(counters, counters)}
    assert done == ["read", "load", "read"]


def test_only_the_applications_that_tell_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    pools = {"a": None, "b": PoolCounters(1, 2), "c": "no"}
    assert watched(monkeypatch, done, pools).keys() == {"b"}
    assert done == ["read", "read", "load", "read", "read"], "who has none that tells is not asked"
    assert watched(monkeypatch, [], {}) == {}


@pytest.mark.parametrize(
    ("implementation", "scenario", "asked"),
    [
        ("rust-async", "recipes", True),
        ("rust-async", "index", False),
        ("rust-sync", "note-write", True),
        ("python-sync", "fan-out", True),
        ("python-async", "recipes", False),
        ("node", "recipes", False),
    ],
)
def test_what_declares_it_is_asked_where_there_are_statements(
    real: Catalog, tmp_path: Path, implementation: str, scenario: str, asked: bool
) -> None:
    of = request(implementation, scenario=scenario)
    assert prepare(real, of, of.variants[0], tmp_path).case.pool_tells is asked


# ---- the bottleneck ----


@pytest.mark.parametrize("usable", [20, 50])
@pytest.mark.parametrize(
    ("wait_ms", "tag"), [(1.01, "pool-wait"), (0.99, "latency-bound"), (0.0, "latency-bound")]
)
def test_what_the_pool_tells_wins_over_what_is_inferred(usable: int, wait_ms: float, tag: str) -> None:
    """A fifth of 5 ms. With fewer connections than clients it would be inferred that they wait."""
    told, evidence = bottleneck(good_window(app_pool_wait_ms=wait_ms, pooler=None), Concurrency(usable))
    assert told == tag
    assert INFERRED not in evidence
    assert sum(OWN in line for line in evidence) == 1
    assert (OWN in evidence[-1]) == (tag == "pool-wait")


def test_it_is_inferred_where_the_pool_does_not_tell() -> None:
    told, evidence = bottleneck(good_window(pooler=None), Concurrency(20))
    assert (told, evidence[-1]) == ("pool-wait", INFERRED)
    assert not any(OWN in line for line in evidence)


def test_the_evidence_says_how_much_of_the_service_time_is_waited() -> None:
    _, evidence = bottleneck(good_window(app_pool_wait_ms=3.0), Concurrency(50))
    assert evidence[-1] == f"a checkout waits 3.0 of 5.0 ms (60%) {OWN}"


@pytest.mark.parametrize(
    ("own_ms", "pooler_us", "where"),
    [(3.0, 10.0, [OWN]), (0.1, 500.0, ["in PgBouncer"]), (3.0, 500.0, [OWN, "in PgBouncer"])],
)
def test_which_pool_waits(own_ms: float, pooler_us: float, where: list[str]) -> None:
    told, evidence = bottleneck(
        good_window(app_pool_wait_ms=own_ms, pooler=pooler(wait_us_per_query=pooler_us)), Concurrency(50)
    )
    assert told == "pool-wait"
    assert all(line.endswith(place) for line, place in zip(evidence[-len(where) :], where, strict=True))
    assert sum(OWN in line for line in evidence) == 1


def test_an_exhausted_resource_is_named_first_and_the_wait_still_told() -> None:
    busy = quiet_roles(db=role(0.95, "2"))
    for found, tag in (
        (good_window(roles=busy, app_pool_wait_ms=3.0), "database"),
        (good_window(lock_waits_mean=15.0, app_pool_wait_ms=3.0), "database"),
        (good_window("open", app_pool_wait_ms=3.0), "offered-load"),
    ):
        told, evidence = bottleneck(found, Concurrency(50))
        assert told == tag
        assert f"a checkout waits 3.0 of 5.0 ms (60%) {OWN}" in evidence


def test_handler_threads_are_named_where_the_pool_is_not_waited_for() -> None:
    """A sync model with as many threads as connections: by number alone the pool is named."""
    assert bottleneck(good_window(app_pool_wait_ms=0.0), Concurrency(10, 10))[0] == "thread-pool"
    assert bottleneck(good_window(), Concurrency(10, 10))[0] == "pool-wait"


def test_a_scenario_without_statements_has_no_such_bottleneck() -> None:
    assert bottleneck(good_window(app_pool_wait_ms=3.0), Concurrency())[0] == "latency-bound"

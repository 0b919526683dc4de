"""tandem.judge.measure and bottleneck: the application's own pool, and the distance to the database."""

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from harness_engine import request
from harness_samples import codes, good_window, there
from harness_windows import conditions, measured

from tandem.catalog.catalog import Catalog
from tandem.cli.options import parse_db_rtt
from tandem.errors import UsageError
from tandem.judge.measure import window
from tandem.lab import observe
from tandem.lab.laboratory import SHARED, shared
from tandem.lab.prepare import prepare
from tandem.probes import pools as probe_pools
from tandem.probes.pools import PoolCounters, PoolUse, read_pool
from tandem.probes.toxiproxy import summary
from tandem.record.request import Conditions
from tandem.record.window import DbRtt

BODY = '{"checkouts":12,"wait_us":3400}'
SHAPES = ("", "[]", "null", "{}", '{"checkouts":1}', BODY.replace("3400", "1.5"), BODY.replace("12", "true"))
"""Bodies of another shape."""


def test_what_an_application_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, str]]()

    def ask(status: int, body: str) -> PoolCounters | None:
        def answer(request: httpx.Request) -> httpx.Response:
            asked.append((str(request.url), request.headers["Connection"]))
            return httpx.Response(status, text=body)

        client = httpx.Client(transport=httpx.MockTransport(answer))
        monkeypatch.setattr(httpx, "get", lambda url, headers, **_: client.get(url, headers=headers))
        return read_pool("app")

    assert ask(200, BODY) == PoolCounters(12, 3400)
    assert asked == [("http://app:8080/pool", "close")]
    assert ask(404, '{"error":"not found"}') is None, "it does not tell, which is no error"
    for status in (401, 500, 503):
        with pytest.raises(httpx.HTTPStatusError):
            ask(status, BODY)
    for body in SHAPES:
        with pytest.raises(KeyError, match="GET /pool returned"):
            ask(200, body)


def test_an_application_that_does_not_answer_in_time_costs_only_the_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(probe_pools, "PORT", silent.getsockname()[1])
        monkeypatch.setattr(probe_pools, "TIMEOUT_S", 0.1)
        assert read_pool("127.0.0.1") is None
    assert read_pool("127.0.0.1") is None, "refused"


@pytest.mark.parametrize(
    ("after", "mean_ms"),
    [((300, 405_000), 2.0), ((300, 5_000), 0.0), ((100, 5_000), None), ((50, 9_000), None), ((300, 4_000), None)],
    ids=["waited", "never waited", "no checkout", "another process", "counts began anew"],
)  # fmt: skip
def test_the_mean_wait_per_checkout(after: tuple[int, int], mean_ms: float | None) -> None:
    use = PoolUse(PoolCounters(100, 5_000), PoolCounters(*after))
    assert window(measured(use), conditions()).app_pool_wait_ms == mean_ms
    assert window(measured(), conditions()).app_pool_wait_ms is None, "a pool that does not tell"


def test_pools_that_tell_are_asked_before_and_after_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    done, counters = list[str](), PoolCounters(5, 6)
    pools: dict[str, Any] = {"a": None, "b": counters, "c": "has none that tells"}

    def asked(label: str) -> Any:
        done.append("read")
        return pools[label]

    def app(label: str) -> Any:
        case = SimpleNamespace(pool_tells=label != "c")
        return SimpleNamespace(case=case, app=SimpleNamespace(address=label))

    monkeypatch.setattr(observe, "read_pool", asked)
    monkeypatch.setattr(observe, "PROBES", (observe._pools,))
    with observe.watched(observe.Scene({label: app(label) for label in pools}, lambda *_: None)) as [probe]:
        done.append("load")
    assert [probe.part(label) for label in pools] == [None, PoolUse(counters, counters), None]
    assert done == ["read", "read", "load", "read", "read"], "who has none that tells is not asked"


def test_what_declares_it_is_asked_where_there_are_statements(real: Catalog, tmp_path: Path) -> None:
    def asked(implementation: str, scenario: str) -> bool:
        of = request(implementation, scenario=scenario)
        return prepare(real, of, of.variants[0], tmp_path).case.pool_tells

    assert asked("cpp-async", "recipes")
    assert asked("python-sync", "fan-out")
    assert not asked("cpp-async", "index")
    assert not asked("node", "recipes")


def test_whole_milliseconds() -> None:
    assert [parse_db_rtt(text) for text in (None, "15ms", "0ms", "250ms")] == [None, 15, 0, 250]


@pytest.mark.parametrize("text", ["0.5ms", "abc", "-5ms", "15", "", "15 ms", "1s", "251ms", "99999ms", "١ms"])
def test_anything_else_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UsageError, match=f"whole milliseconds from 0ms to 250ms.*'{text}'"):
        parse_db_rtt(text)


@pytest.mark.parametrize("db_rtt_ms", [15, None])
@pytest.mark.parametrize(
    ("topology", "upstream"),
    [("full", "pgbouncer:6432"), ("pooled", "pgbouncer:6432"), ("direct", "db:5432"), ("proxied", "db:5432")],
)
def test_it_takes_the_place_of_what_the_topology_names(
    real: Catalog, tmp_path: Path, topology: str, upstream: str, db_rtt_ms: int | None
) -> None:
    of = request(conditions=Conditions(topology=topology, placement="shared", db_rtt_ms=db_rtt_ms))
    found = prepare(real, of, of.variants[0], tmp_path)
    assert (found.case.database_address, found.case.db_rtt_ms) == (upstream, db_rtt_ms)
    variables = found.stack.variables
    if db_rtt_ms is None:
        assert (variables["DATABASE_ADDRESS"], variables.get("DB_RTT_MS")) == (upstream, None)
        assert shared(found.stack) == SHARED
    else:
        assert (variables["DATABASE_ADDRESS"], variables["DB_RTT_MS"]) == ("faults:6433", "15")
        assert shared(found.stack) == [*SHARED, "faults"]


def test_every_placement_says_where_it_runs(real: Catalog) -> None:
    for placement in real.placements.values():
        assert placement.variables["FAULTS_CPUSET"] != (placement.variables["APP_CPUSET"] or None)


def test_medians_of_the_round_trips() -> None:
    found = there(summary(15, [15.0, 15.5, 99.0], [16.0, 17.0, 18.0, 30.0]))
    assert (found.setting, found.before_p50, found.during_p50, found.samples) == (15, 15.5, 17.5, 4)
    assert 18.0 < found.during_p90 < 30.0
    assert summary(15, [15.0], []) is None


@pytest.mark.parametrize(
    ("setting", "during", "told"),
    [(15, 19.6, "warning"), (15, 40.0, "warning"), (15, 19.4, ""), (0, 3.0, ""), (15, 14.9, "invalid")],
)
def test_a_round_trip_is_as_long_as_was_asked_for(setting: int, during: float, told: str) -> None:
    trip = DbRtt(setting=setting, before_p50=15.6, during_p50=during, during_p90=19.0, samples=12)
    assert codes(good_window(db_rtt_ms=trip)) == ([("db-rtt", told)] if told else [])

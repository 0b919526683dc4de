"""`--db-rtt`: what may be asked, what it puts into the path, what is judged and shown; without it, nothing."""

from pathlib import Path

import pytest
from harness_engine import request
from harness_samples import EXPECTED, good_window, quiet_roles, role

from tandem.catalog.catalog import Catalog
from tandem.cli.options import parse_db_rtt
from tandem.errors import UsageError
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.judge.judge import gates
from tandem.lab.laboratory import SHARED, shared
from tandem.lab.prepare import Prepared, check, prepare
from tandem.probes.round_trip import summary
from tandem.record.request import Conditions, Request
from tandem.record.window import DbRtt


def asked(topology: str, db_rtt_ms: int | None, scenario: str = "recipes") -> Request:
    under = Conditions(topology=topology, placement="shared", db_rtt_ms=db_rtt_ms)
    return request(scenario=scenario, conditions=under)


def prepared(real: Catalog, folder: Path, topology: str, db_rtt_ms: int | None) -> Prepared:
    of = asked(topology, db_rtt_ms)
    return prepare(real, of, of.variants[0], folder)


def trip(during_p50: float, setting: int = 15) -> DbRtt:
    return DbRtt(setting=setting, before_p50=15.6, during_p50=during_p50, during_p90=19.0, samples=12)


# ---- what may be asked ----


@pytest.mark.parametrize(("text", "ms"), [(None, None), ("15ms", 15), ("0ms", 0), ("250ms", 250)])
def test_whole_milliseconds(text: str | None, ms: int | None) -> None:
    assert parse_db_rtt(text) == ms


@pytest.mark.parametrize("text", ["0.5ms", "abc", "-5ms", "15", "", "15 ms", "1s", "251ms", "99999ms", "١ms"])
def test_anything_else_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UsageError, match="whole milliseconds from 0ms to 250ms, such as 15ms") as caught:
        parse_db_rtt(text)
    assert f"'{text}'" in str(caught.value)


def test_a_scenario_that_never_asks_the_database_is_refused(real: Catalog) -> None:
    def checked(of: Request) -> None:
        check(real, of, of.variants)

    with pytest.raises(UsageError, match="index never asks the database: leave out --db-rtt"):
        checked(asked("full", 15, "index"))
    checked(asked("full", None, "index"))
    checked(asked("full", 15))


# ---- the path ----


@pytest.mark.parametrize(
    ("topology", "upstream"),
    [("full", "pgbouncer:6432"), ("pooled", "pgbouncer:6432"), ("direct", "db:5432"), ("proxied", "db:5432")],
)
def test_it_takes_the_place_of_what_the_topology_names(
    real: Catalog, tmp_path: Path, topology: str, upstream: str
) -> None:
    found = prepared(real, tmp_path, topology, 15)
    assert found.stack.variables["DATABASE_ADDRESS"] == "faults:6433"
    assert found.stack.variables["DB_RTT_MS"] == "15"
    assert (found.case.database_address, found.case.db_rtt_ms) == (upstream, 15)
    assert shared(found.stack) == [*SHARED, "faults"]


@pytest.mark.parametrize("topology", ["full", "direct"])
def test_without_it_nothing_changes(real: Catalog, tmp_path: Path, topology: str) -> None:
    found = prepared(real, tmp_path, topology, None)
    expected = real.topologies[topology].variables["DATABASE_ADDRESS"]
    assert found.stack.variables["DATABASE_ADDRESS"] == found.case.database_address == expected
    assert "DB_RTT_MS" not in found.stack.variables
    assert found.case.db_rtt_ms is None
    assert shared(found.stack) == SHARED


def test_every_placement_says_where_it_runs(real: Catalog) -> None:
    for placement in real.placements.values():
        assert "FAULTS_CPUSET" in placement.variables
        assert placement.variables["FAULTS_CPUSET"] != (placement.variables["APP_CPUSET"] or None)


# ---- judged and shown ----


def test_medians_of_the_round_trips() -> None:
    found = summary(15, [15.0, 15.5, 99.0], [16.0, 17.0, 18.0, 30.0])
    assert found is not None
    assert (found.setting, found.before_p50, found.during_p50, found.samples) == (15, 15.5, 17.5, 4)
    assert 18.0 < found.during_p90 < 30.0
    assert summary(15, [15.0], []) is None


@pytest.mark.parametrize("during", [19.6, 40.0])
def test_a_round_trip_that_grew_is_a_warning(during: float) -> None:
    [found] = gates(good_window(db_rtt_ms=trip(during)), EXPECTED)
    assert (found.code, found.severity) == ("db-rtt", "warning")
    assert f"was {during:.1f} ms during the load, not the 15 ms" in found.text


@pytest.mark.parametrize("found", [trip(19.4), trip(3.0, setting=0), None])
def test_a_round_trip_as_asked_is_none(found: DbRtt | None) -> None:
    assert gates(good_window(db_rtt_ms=found), EXPECTED) == []


def test_a_latency_proxy_that_is_exhausted_is_named() -> None:
    busy = quiet_roles(faults=role(0.85, "5"))
    assert bottleneck(good_window(roles=busy), Concurrency(50))[0] == "faults"
    idle = quiet_roles(faults=role(0.4, "5"))
    assert bottleneck(good_window(roles=idle), Concurrency(50))[0] == "latency-bound"


def test_the_largest_user_of_a_shared_set_may_be_it() -> None:
    shares = {"loadgen": 0.2, "proxy": 0.1, "pgbouncer": 0.1, "db": 0.2, "faults": 0.35}
    roles = {name: role(cores, "0") for name, cores in shares.items()}
    told, evidence = bottleneck(good_window(roles={**roles, "app": role(0.5, "1")}), Concurrency(50))
    assert told == "faults"
    assert "faults is the largest user of the exhausted core 0" in evidence

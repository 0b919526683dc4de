"""tandem.probes: HAProxy, PgBouncer and PostgreSQL, from captures of real ones."""

from pathlib import Path
from typing import Any

import psycopg
import pytest
from harness_places import ROOT

from tandem.probes.haproxy import SLOTS, SLOTS_FROM_PORT, ProxyCounters, parse_csv, slot, slot_port
from tandem.probes.pgbouncer import PgBouncer, PoolerCounters
from tandem.probes.postgres import changes_setting, name_statements, normalise, read_queries
from tandem.record.window import Statement


@pytest.fixture
def statistics(fixtures: Path) -> str:
    return (fixtures / "haproxy.csv").read_text()


def test_a_real_page_of_haproxy(statistics: str) -> None:
    """65 right answers and three errors went through; the statistics page's own requests are not among them."""
    assert parse_csv(statistics) == ProxyCounters(
        responses_2xx=65,
        responses_other=3,
        connection_errors=0,
        response_errors=0,
        queue_now=0,
        in_flight_now=0,
        connections_opened=2,
    )


def test_each_counter_of_haproxy_has_its_column(statistics: str) -> None:
    names, *lines = statistics.removeprefix("# ").splitlines()
    columns = names.split(",")
    values = next(line for line in lines if line.startswith("app,BACKEND,")).split(",")
    wanted = (
        "hrsp_2xx",
        "hrsp_1xx",
        "hrsp_3xx",
        "hrsp_4xx",
        "hrsp_5xx",
        "hrsp_other",
        "econ",
        "eresp",
        "qcur",
        "scur",
        "connect",
    )
    for power, column in enumerate(wanted):
        values[columns.index(column)] = str(10**power)
    found = parse_csv(
        "\n".join([f"# {names}", *(v for v in lines if not v.startswith("app,")), ",".join(values), ""])
    )
    assert found == ProxyCounters(
        responses_2xx=1,
        responses_other=111110,
        connection_errors=10**6,
        response_errors=10**7,
        queue_now=10**8,
        in_flight_now=10**9,
        connections_opened=10**10,
    )


def test_empty_columns_of_haproxy_are_nothing(statistics: str) -> None:
    names, *_ = statistics.splitlines()
    empty = "app,BACKEND" + "," * (names.count(",") - 1)
    assert parse_csv(f"{names}\n{empty}\n") == ProxyCounters(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("text", ["", "<html>503</html>"])
def test_haproxy_without_the_backend(statistics: str, text: str) -> None:
    with pytest.raises(KeyError):
        parse_csv(text or statistics.replace("app,BACKEND,", "shop,BACKEND,"))


# ---- PgBouncer ----

CONSOLE: dict[str, list[dict[str, Any]]] = {
    "SHOW STATS": [
        {"database": "pgbouncer", "total_query_count": 23, "total_query_time": 0, "total_wait_time": 0},
        {
            "database": "tandem",
            "total_query_count": 96228,
            "total_query_time": 7014331,
            "total_wait_time": 25265699,
        },
    ],
    "SHOW POOLS": [
        {"database": "pgbouncer", "user": "pgbouncer", "cl_waiting": 7, "sv_active": 7},
        {"database": "tandem", "user": "app", "cl_waiting": 3, "sv_active": 20},
        {"database": "tandem", "user": "other", "cl_waiting": 1, "sv_active": 2},
    ],
    "SHOW CLIENTS": [
        {"database": "tandem", "user": "app", "addr": "172.18.0.5"},
        {"database": "tandem", "user": "app", "addr": "172.18.0.5"},
        {"database": "tandem", "user": "app", "addr": "172.18.0.7"},
        {"database": "tandem", "user": "postgres", "addr": "172.18.0.7"},
        {"database": "pgbouncer", "user": "postgres", "addr": "172.18.0.1"},
    ],
    "SHOW VERSION": [{"version": "PgBouncer 1.24.1"}],
}
"""The columns that are used, of a real console."""


class Console:
    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.closed = False

    def execute(self, command: bytes) -> "Console":
        self.said = CONSOLE[command.decode()]
        return self

    def fetchall(self) -> list[dict[str, Any]]:
        return self.said

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    made = Console()
    monkeypatch.setattr(psycopg, "connect", lambda *_, **__: made)
    return made


def test_the_counters_of_pgbouncer(console: Console) -> None:
    pooler = PgBouncer("address", "password")
    assert pooler.read() == PoolerCounters(
        queries=96228, wait_us=25265699, clients_waiting=4, servers_active=22
    )
    assert pooler.version() == "PgBouncer 1.24.1"
    pooler.close()
    assert console.closed


def test_connections_are_counted_by_address_without_the_harnesss_own(console: Console) -> None:
    """The harness measures the way to a far database through the same proxy as the application."""
    assert PgBouncer("address", "password").connected() == {"172.18.0.5": 2, "172.18.0.7": 1}


def test_a_pgbouncer_that_nobody_used_yet(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONSOLE, "SHOW STATS", CONSOLE["SHOW STATS"][:1])
    monkeypatch.setitem(CONSOLE, "SHOW POOLS", CONSOLE["SHOW POOLS"][:1])
    assert PgBouncer("address", "password").read() == PoolerCounters(0, 0, 0, 0)


# ---- statements ----


@pytest.mark.parametrize(
    "sql",
    [
        "select a\n  from b\n where c = $1;\n",
        "SELECT a FROM b WHERE c = $1",
        "  select a from\tb where c = $1 ; ",
        "select a from b where c = $2",
        "select a from b where c = 20",
        "select a from b where c = 'note added'",
    ],
)
def test_one_spelling_for_one_statement(sql: str) -> None:
    assert normalise(sql) == "select a from b where c = ?"


def test_different_statements_stay_different() -> None:
    assert normalise("select a from b where c = $1") != normalise("select a1 from b where c = $1")


def test_calls_are_summed_by_the_contracts_names() -> None:
    queries = {"select one": "one", "select two": "two"}
    rows = [("SELECT one;", 10, 10), ("select  one", 5, 4), ("select three", 7, 0), ("vacuum", 1, 0)]
    assert name_statements(rows, queries) == {
        "one": Statement(calls=15, rows=14),
        "other": Statement(calls=8, rows=0),
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("BEGIN", "begin"),
        ("begin read write", "begin"),
        ("START TRANSACTION ISOLATION LEVEL READ COMMITTED;", "begin"),
        ("beginning", "other"),
        ("COMMIT", "commit"),
        ("END;", "commit"),
        ("ROLLBACK", "rollback"),
        ("DISCARD ALL", "reset"),
        ("SELECT pg_advisory_unlock_all()", "reset"),
        ("RESET ALL", "reset"),
        ("select 1", "other"),
    ],
)
def test_what_drivers_write_in_their_own_ways_has_a_name(text: str, name: str) -> None:
    assert name_statements([(text, 3, 0)], {}) == {name: Statement(calls=3, rows=0)}


@pytest.mark.parametrize(
    "text",
    [
        "SET synchronous_commit = off",
        "set session synchronous_commit to 'off'",
        "SET LOCAL synchronous_commit TO OFF",
        "/* nothing to see */ SET synchronous_commit = off",
        "-- nothing\nSET\n  work_mem = '1GB'",
        "select set_config('synchronous_commit', 'off', false)",
        "SELECT current_setting($1), pg_catalog.set_config($2, $3, $4)",
        "update pg_settings set setting = 'off' where name = 'synchronous_commit'",
        "ALTER ROLE app SET synchronous_commit = off",
        "do $$ begin perform 1; end $$",
        "set session characteristics as transaction isolation level serializable",
    ],
)
def test_what_can_change_a_setting(text: str) -> None:
    assert changes_setting(text)


@pytest.mark.parametrize(
    "text",
    [
        "SET TIME ZONE 'UTC'",
        "SET SESSION TIME ZONE 'UTC'",
        "SET TimeZone='UTC'",
        "SET client_encoding='UTF8'; ",
        "SET statement_timeout = '2s'",
        "BEGIN",
        "RESET ALL",
        "DISCARD ALL",
        "select id from settings",
        "insert into core_note (text) values ('set up, alter, do')",
    ],
)
def test_what_the_contract_names_or_changes_none(text: str) -> None:
    assert not changes_setting(text)


def test_the_contracts_queries_differ_from_each_other(root: Path) -> None:
    folder = root / "contract/sql/queries"
    queries = read_queries(folder)
    assert sorted(queries.values()) == sorted(file.stem for file in folder.glob("*.sql"))
    assert {"session", "recipe_random", "recipe_by_id"} <= set(queries.values())


def test_each_of_several_applications_has_its_own_line_and_port() -> None:
    heads = (
        "# pxname,svname,qcur,scur,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,econ,eresp,connect"
    )
    lines = ["slots,slot-1,0,3,0,100,0,0,0,0,0,0,50", "slots,slot-12,0,4,0,7,0,0,0,0,0,0,51"]
    text = "\n".join([heads, *lines, "slots,BACKEND,0,7,0,107,0,0,0,0,0,0,101"])
    assert parse_csv(text, slot("slot-1")).responses_2xx == 100
    assert parse_csv(text, slot("slot-12")).connections_opened == 51
    with pytest.raises(KeyError, match="slots/slot-2"):
        parse_csv(text, slot("slot-2"))
    assert (slot_port("slot-1"), slot_port("slot-24")) == (8101, 8124)


def test_haproxy_has_a_port_for_each_slot() -> None:
    """The configuration and the harness agree."""
    text = (ROOT / "compose/proxy/haproxy.cfg").read_text()
    assert f"bind :{slot_port('slot-1')}-{slot_port(f'slot-{SLOTS}')}" in text
    assert f"server-template slot- {SLOTS} " in text
    assert f"use-server slot-%[dst_port,sub({SLOTS_FROM_PORT})]" in text

"""tandem.probes: HAProxy, PgBouncer and PostgreSQL, from captures of real ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from harness_places import ROOT

from tandem.probes.haproxy import SLOTS, ProxyCounters, parse_csv, read, slot, slot_port
from tandem.probes.pools import PgBouncer, PoolerCounters
from tandem.probes.postgres import Postgres, changes_setting, name_statements, normalise, read_queries
from tandem.record.window import Statement


@pytest.fixture
def page(fixtures: Path) -> str:
    """A real page of HAProxy's statistics."""
    return (fixtures / "haproxy.csv").read_text()


COLUMNS = ["hrsp_2xx", "hrsp_1xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other", "econ", "eresp", "qcur", "scur", "connect"]  # fmt: skip


def test_each_counter_of_haproxy_has_its_column(page: str) -> None:
    """65 right answers and three errors went through; the statistics page's own requests are not among them."""
    assert parse_csv(page) == ProxyCounters(65, 3, 0, 0, queue_now=0, in_flight_now=0, connections_opened=2)
    names, *lines = page.removeprefix("# ").splitlines()
    columns = names.split(",")
    values = next(line for line in lines if line.startswith("app,BACKEND,")).split(",")
    for power, column in enumerate(COLUMNS):
        values[columns.index(column)] = str(10**power)
    rest = [line for line in lines if not line.startswith("app,")]
    found = parse_csv("\n".join([f"# {names}", *rest, ",".join(values), ""]))
    assert found == ProxyCounters(1, 111110, *(10**power for power in range(6, 11)))
    empty = "app,BACKEND" + "," * (names.count(",") - 1)
    assert parse_csv(f"# {names}\n{empty}\n") == ProxyCounters(0, 0, 0, 0, 0, 0)


def test_haproxy_without_the_backend_or_an_answer(page: str) -> None:
    for text in ("", "<html>503</html>", page.replace("app,BACKEND,", "shop,BACKEND,")):
        with pytest.raises(KeyError):
            parse_csv(text)
    with pytest.raises(OSError, match="HAProxy's runtime API does not answer"):
        read("127.0.0.1", {})


def test_each_of_several_applications_has_its_own_line_and_port() -> None:
    head = (
        "# pxname,svname,qcur,scur,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,econ,eresp,connect"
    )
    lines = ["slots,slot-1,0,3,0,100,0,0,0,0,0,0,50", "slots,slot-12,0,4,0,7,0,0,0,0,0,0,51"]
    text = "\n".join([head, *lines, "slots,BACKEND,0,7,0,107,0,0,0,0,0,0,101"])
    assert parse_csv(text, slot("slot-1")).responses_2xx == 100
    assert parse_csv(text, slot("slot-12")).connections_opened == 51
    with pytest.raises(KeyError, match="slots/slot-2"):
        parse_csv(text, slot("slot-2"))
    assert (slot_port("slot-1"), slot_port("slot-24")) == (8101, 8124)
    configured = (ROOT / "compose/proxy/haproxy.cfg").read_text()
    assert f":{slot_port('slot-1')}-{slot_port(f'slot-{SLOTS}')}" in configured
    assert f"server-template slot- {SLOTS} " in configured
    assert "use-server slot-%[dst_port,mod(100)]" in configured


# ---- PgBouncer ----


def stats(database: str, queries: int, wait_us: int) -> dict[str, Any]:
    return {"database": database, "total_query_count": queries, "total_wait_time": wait_us}


def pool(database: str, user: str, waiting: int, active: int) -> dict[str, Any]:
    return {"database": database, "user": user, "cl_waiting": waiting, "sv_active": active}


def client(database: str, user: str, number: int) -> dict[str, Any]:
    return {"database": database, "user": user, "addr": f"172.18.0.{number}"}


CONSOLE: dict[str, list[dict[str, Any]]] = {
    "SHOW STATS": [stats("pgbouncer", 23, 0), stats("tandem", 96228, 25265699)],
    "SHOW POOLS": [pool("pgbouncer", "pgbouncer", 7, 7), pool("tandem", "app", 3, 20), pool("tandem", "other", 1, 2)],
    "SHOW CLIENTS": [
        *(client("tandem", "app", number) for number in (5, 5, 7)),
        client("tandem", "probe", 7),
        client("pgbouncer", "console", 1),
    ],
    "SHOW VERSION": [{"version": "PgBouncer 1.24.1"}],
}  # fmt: skip
"""The columns that are used, of a real console."""


def test_what_the_console_of_pgbouncer_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections are counted by address and role, to whichever database."""
    console = Mock()
    console.execute = lambda command: Mock(fetchall=lambda: CONSOLE[command.decode()])
    monkeypatch.setattr(psycopg, "connect", Mock(return_value=console))
    pooler = PgBouncer("address", "password")
    assert pooler.read() == PoolerCounters(96228, 25265699, clients_waiting=4, servers_active=22)
    assert pooler.version() == "PgBouncer 1.24.1"
    others = {("172.18.0.7", "probe"): 1, ("172.18.0.1", "console"): 1}
    assert pooler.connected() == {("172.18.0.5", "app"): 2, ("172.18.0.7", "app"): 1, **others}
    for name in ("SHOW STATS", "SHOW POOLS"):
        monkeypatch.setitem(CONSOLE, name, CONSOLE[name][:1])
    assert pooler.read() == PoolerCounters(0, 0, 0, 0), "nobody used it yet"
    pooler.close()
    console.close.assert_called_once()


# ---- statements ----


EQUALS = "select a from b where c = ?"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("select a\n  from b\n where c = $1;\n", EQUALS, True),
        ("SELECT a FROM b WHERE c = $1", EQUALS, True),
        ("  select a from\tb where c = $1 ; ", EQUALS, True),
        ("select a from b where c = $2", EQUALS, True),
        ("select a from b where c = 20", EQUALS, True),
        ("select a from b where c = 'note added'", EQUALS, True),
        ("select a1 from b where c = $1", EQUALS, False),
        # An ORM asks for the children of as many rows as there are, in one list.
        ("where id IN ($1)", "WHERE id in ($1, $2,$3)", True),
        ("id in ($1::INTEGER, $2::INTEGER)", "id in ($1::INTEGER)", True),
        ("id in ($1::INTEGER, $2::TEXT)", "id in ($1::INTEGER)", False),
        ("values ($1, $2)", "values ($1)", False),
        ("f(min (1, 2))", "f(min (1))", False),
    ],
)
def test_one_spelling_for_one_statement(one: str, other: str, same: bool) -> None:
    assert (normalise(one) == normalise(other)) is same


def test_calls_are_summed_by_the_contracts_names() -> None:
    queries = {"select one": "one", "select two": "two"}
    rows = [
        ("SELECT one;", 10, 10, 1.5),
        ("select  one", 5, 4, 0.5),
        ("select three", 7, 0, 3.0),
        ("vacuum", 1, 0, 90.0),
    ]
    assert name_statements(rows, queries) == {
        "one": Statement(calls=15, rows=14, exec_ms=2.0),
        "other": Statement(calls=8, rows=0, exec_ms=93.0),
    }


def test_statements_of_programs_that_ask_side_by_side_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("select one", 2, 2, 1.0), ("select its one", 3, 3, 1.0)]
    known = SimpleNamespace(execute=lambda _: rows)
    for queries, beside, names in (
        ({"select one": "one"}, [{"select its one": "one"}, None], {"one": 5}),
        ({"select one": "one"}, [], {"one": 2, "other": 3}),
        (None, [{"select one": "one"}], {"select one": 2, "select its one": 3}),
    ):
        database = Postgres("", "", queries)
        monkeypatch.setattr(database, "_connected", lambda: known)
        assert {name: one.calls for name, one in database.statements(beside).items()} == names


def test_a_readers_own_statements_are_named_by_their_text() -> None:
    long = f"select {'a, ' * 99}b"
    rows = [("SELECT name FROM product WHERE id = $1", 25, 25, 1.0), (long, 1, 0, 0.5), ("BEGIN", 1, 0, 0.0)]
    first, second, third = name_statements(rows, None)
    assert first == "select name from product where id = ?"
    assert (len(second), second[:10], third) == (160, long[:10], "begin")


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
    assert name_statements([(text, 3, 0, 0.0)], {}) == {name: Statement(calls=3, rows=0)}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("SET synchronous_commit = off", True),
        ("set session synchronous_commit to 'off'", True),
        ("SET LOCAL synchronous_commit TO OFF", True),
        ("/* nothing to see */ SET synchronous_commit = off", True),
        ("-- nothing\nSET\n  work_mem = '1GB'", True),
        ("select set_config('synchronous_commit', 'off', false)", True),
        ("SELECT current_setting($1), pg_catalog.set_config($2, $3, $4)", True),
        ("update pg_settings set setting = 'off' where name = 'synchronous_commit'", True),
        ("ALTER ROLE app SET synchronous_commit = off", True),
        ("do $$ begin perform 1; end $$", True),
        ("set session characteristics as transaction isolation level serializable", True),
        # What the contract names, or what changes none.
        ("SET TIME ZONE 'UTC'", False),
        ("SET SESSION TIME ZONE 'UTC'", False),
        ("SET TimeZone='UTC'", False),
        ("SET client_encoding='UTF8'; ", False),
        ("SET statement_timeout = '2s'", False),
        ("BEGIN", False),
        ("RESET ALL", False),
        ("DISCARD ALL", False),
        ("select id from settings", False),
        ("insert into core_note (text) values ('set up, alter, do')", False),
    ],
)
def test_what_can_change_a_setting(text: str, changes: bool) -> None:
    assert changes_setting(text) is changes


def test_a_name_may_have_several_texts(tmp_path: Path) -> None:
    (tmp_path / "note.sql").write_text("select 1 from core_note")
    (tmp_path / "note.short.sql").write_text("select from core_note")
    assert sorted(read_queries(tmp_path).values()) == ["note", "note"]


def test_the_contracts_queries_differ_from_each_other(root: Path) -> None:
    folder = root / "contract/sql/queries"
    names = sorted(read_queries(folder).values())
    assert names == sorted(file.stem for file in folder.glob("*.sql"))
    assert {"session", "recipe_random", "recipe_by_id"} <= set(names)

"""What the database did for the application, by pg_stat_statements."""

import re
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql

from tandem.catalog.golden import Tables, of_bodies, recipes_of
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.record.window import DatabaseWork, Statement

ADMIN_PASSWORD = secrets.token_hex(16)
"""Password of the role postgres, of the role of the round trips and of PgBouncer's console (compose/). Each command draws
its own and tells no application."""
PROBE = "probe"
"""The role of the round trips (compose/db)."""
HARNESS_ROLES = {"postgres", PROBE}
"""The roles that the harness itself connects as."""
OTHER = "other"
OWN_CHARACTERS = 160
CONTROL = {
    "begin": re.compile(r"begin\b|start transaction\b"),
    "commit": re.compile(r"commit\b|end\b"),
    "rollback": re.compile(r"rollback\b|abort\b"),
    "reset": re.compile(
        r"discard\b|reset\b|close all\b|unlisten\b|deallocate\b|select pg_advisory_unlock_all\b"
    ),
    # As the contract spells it: the `SET TimeZone=` by which PgBouncer keeps its two sides equal is another.
    "time_zone": re.compile(r"set time zone\b"),
}
"""Statements that are no query of the contract, by how they begin; drivers write some in ways of their own.

pg_stat_statements counts them, because its `track_utility` is on by default; of one that is prepared, as
none of ours is, PostgreSQL 17 counts the first execution only.
"""


WAL_IN_IO = 180000
"""From this version on pg_stat_io has the flushes of the log: https://www.postgresql.org/docs/18/release-18.html"""
SETTINGS = re.compile(r"(set|alter|do|load)\b|.*\b(set_config|pg_settings)\b", re.DOTALL)
"""Beginning or part of a statement that can change a setting."""
NAMED = re.compile(
    r"set (time zone|timezone|client_encoding|datestyle|intervalstyle|standard_conforming_strings"
    r"|application_name|statement_timeout)\b"
)
"""The contract asks for a time zone and for a limit of each statement. The others PgBouncer sets itself where a client's
differ from the server connection's."""
CONTRACTS = {
    "tandem: timezone=utc",
    "app: statement_timeout=2s",
    "app: idle_in_transaction_session_timeout=10s",
}
"""The settings of database and role that compose/db makes."""


def changes_setting(sql: str) -> bool:
    """Whether a statement can change a setting that the contract does not name."""
    text = normalise(re.sub(r"/\*.*?\*/|--[^\n]*", " ", sql, flags=re.DOTALL))
    return bool(SETTINGS.match(text)) and not NAMED.match(text.replace("set session ", "set ", 1))


LISTED = re.compile(r"\bin \((\?(?:::\w+)?)(?:, ?\1)+\)")


def normalise(sql: str) -> str:
    """One spelling for one statement: single spaces, no closing semicolon, lower case, one mark for any value and any list of them.

    A statement that was parsed since the reset is shown with its constants as parameters, numbered on from its
    own; one that was parsed before it is shown as it was sent.
    """
    text = re.sub(r"\s+", " ", sql).strip().rstrip(";").strip().lower()
    return LISTED.sub(r"in (\1)", re.sub(r"\$\d+|\b\d+\b|'[^']*'", "?", text))


def read_texts(folder: Path) -> dict[str, str]:
    """The queries of a folder: name -> text."""
    return {file.stem: file.read_text() for file in sorted(folder.glob("*.sql"))}


def read_queries(folder: Path) -> dict[str, str]:
    """The queries of a folder: normalised text -> name. A further text of one name stands in NAME.WORD.sql."""
    return {normalise(text): name.partition(".")[0] for name, text in read_texts(folder).items()}


def name_statements(
    rows: list[tuple[str, int, int, float]], queries: Mapping[str, str] | None
) -> dict[str, Statement]:
    """Sums (text, calls, rows, ms) up by the contract's names and those of CONTROL; the rest goes to `other`. queries: None: each is
    named by its normalised text, up to OWN_CHARACTERS of it."""
    out: dict[str, Statement] = {}
    for text, calls, returned, exec_ms in rows:
        one = normalise(text)
        controls = (name for name, pattern in CONTROL.items() if pattern.match(one))
        known = one[:OWN_CHARACTERS] if queries is None else queries.get(one)
        own = out.setdefault(known or next(controls, OTHER), Statement(calls=0, rows=0))
        own.calls, own.rows, own.exec_ms = own.calls + calls, own.rows + returned, own.exec_ms + exec_ms
    return out


def dsn(address: str, password: str) -> str:
    """Address of the database for a connection of the owner's role."""
    return f"host={address} port=5432 dbname=tandem user=postgres password={password} connect_timeout=10"


@dataclass(frozen=True)
class StatementCounts:
    """The statements that the database ran for the applications during a load, and the rows that it has for each answer."""

    work: DatabaseWork
    rows_of: dict[str, dict[int, int]] = field(default_factory=dict)
    """Statement -> what an answer is about -> rows that the statement returns for it."""


class Postgres:
    def __init__(self, address: str, password: str, queries: Mapping[str, str] | None) -> None:
        self._dsn = dsn(address, password)
        self._queries = queries
        self._connection: psycopg.Connection | None = None
        self._set: set[str] = set()
        """Statements that changed a setting, since this was made."""

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._dsn, autocommit=True)
        return self._connection

    def forget(self) -> None:
        """Drops the connection; the database is about to be replaced."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def version(self) -> str:
        row = self._connected().execute("show server_version").fetchone()
        return str(row[0]) if row else ""

    def changed_settings(self) -> dict[str, str]:
        """The settings that are neither the program's own defaults nor of this very connection."""
        rows = self._connected().execute(
            "select name, current_setting(name) from pg_settings"
            " where source not in ('default', 'client', 'session', 'interactive') order by name"
        )
        return {str(name): str(value) for name, value in rows}

    def reset_statements(self) -> None:
        self._remember_settings()
        self._connected().execute("select public.pg_stat_statements_reset()")

    def statements(self, beside: Iterable[Mapping[str, str] | None] = ()) -> dict[str, Statement]:
        """Calls, rows and time since the reset, of the role `app` only. beside: the queries of further applications that ask it."""
        rows = self._connected().execute(
            "select s.query, s.calls, s.rows, s.total_exec_time from public.pg_stat_statements as s"
            " inner join pg_roles as r on r.oid = s.userid where r.rolname = 'app' and s.toplevel"
        )
        queries = self._queries
        if queries is not None:
            queries = {text: name for one in (queries, *beside) if one for text, name in one.items()}
        return name_statements([(str(q), int(c), int(n), float(ms)) for q, c, n, ms in rows], queries)

    def _remember_settings(self) -> None:
        # Statements from before the last reset to the seeded state were of another database, and are left out.
        rows = self._connected().execute(
            "select s.query from public.pg_stat_statements as s inner join pg_roles as r on r.oid = s.userid"
            " inner join pg_database as d on d.oid = s.dbid"
            " where r.rolname = 'app' and s.toplevel and d.datname = current_database()"
        )
        self._set |= {" ".join(str(text).split()) for (text,) in rows if changes_setting(str(text))}

    def foreign_settings(self) -> list[str]:
        """Settings that the contract does not name: settings kept for role and database, and statements of the role
        `app` since this was made."""
        self._remember_settings()
        kept = self._connected().execute(
            "select concat_ws(' in ', r.rolname, d.datname) || ': ' || setting from pg_db_role_setting as s"
            " left join pg_roles as r on r.oid = s.setrole left join pg_database as d on d.oid = s.setdatabase,"
            " unnest(s.setconfig) as setting"
        )
        return sorted(self._set | {str(one) for (one,) in kept if str(one).lower() not in CONTRACTS})

    def wal_syncs(self) -> int:
        """Flushes of the log to disk since the server's start."""
        if self._connected().info.server_version < WAL_IN_IO:
            return self._number("select wal_sync from pg_stat_wal")
        return self._number("select sum(fsyncs)::bigint from pg_stat_io where object = 'wal'")

    def sessions(self) -> tuple[Counter[tuple[str, str]], int]:
        """Address and role -> its connections right now; and how many of the role `app` wait for a lock of another."""
        rows = self._connected().execute(
            "select host(client_addr), usename, count(*),"
            " count(*) filter (where usename = 'app' and wait_event_type = 'Lock')"
            " from pg_stat_activity where client_addr is not null group by 1, 2"
        )
        found, waits = Counter[tuple[str, str]](), 0
        for address, role, number, waiting in rows:
            found[str(address), str(role)] = int(number)
            waits += int(waiting)
        return found, waits

    def rows_of(self, text: str, keys: Collection[int]) -> dict[int, int]:
        """Key -> rows that a query of the contract, whose one parameter it is, returns for it."""
        of_key = text.replace("$1", "asked.key")
        query = f"select asked.key, (select count(*) from ({of_key}) as found) from unnest(%s::integer[]) as asked (key)"
        rows = self._connected().execute(query.encode(), [list(keys)])
        return {int(key): int(number) for key, number in rows}

    def count(self, table: str) -> int:
        """Rows of a table of the contract."""
        return self._number(sql.SQL("select count(*) from {}").format(sql.Identifier(table)))

    def _number(self, query: LiteralString | sql.Composed) -> int:
        row = self._connected().execute(query).fetchone()
        assert row is not None
        return int(row[0])


def right_answers(address: str, script: Path, scenarios: Iterable[Scenario]) -> Tables:
    """The right answers to what can come in these scenarios, for the data as they are. address: of the database. script:
    contract/sql/golden.sql. Raises TandemError."""
    asked = [recipes_of(one) for one in scenarios if one.answer.golden == "recipes"]
    results = []
    try:
        with psycopg.connect(dsn(address, ADMIN_PASSWORD), autocommit=True) as connection:
            if all(asked):  # one that names none may get any
                ids = ",".join(str(key) for key in {key for keys in asked for key in keys})
                connection.execute("select set_config('tandem.recipes', %s, false)", [f"{{{ids}}}"])
            cursor = connection.execute(script.read_bytes())
            while cursor.nextset():  # the first result is that of a function's creation
                if cursor.description:
                    results.append({int(key): str(body).encode() for key, body in cursor})
    except (psycopg.Error, OSError) as error:
        raise TandemError(f"the right answers cannot be written: {error}") from None
    return of_bodies(results)

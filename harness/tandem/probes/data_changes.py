"""What the owner of the data does to it while it is asked for: locks a table, changes what a user sees."""

import itertools
import re
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Self

import psycopg
from psycopg import sql

from tandem.probes.postgres import dsn

LOCK_TIMEOUT = "1500ms"
"""Limit above PostgreSQL's deadlock_timeout, after which an autovacuum gives way."""
SESSIONS = "user_sessions_session"
_TABLE = re.compile(r'\b(?:from|join|into)\s+"?([a-z_]+)', re.IGNORECASE)
_VISIBLE = (
    "(content_type_id = 1 and object_id = %(user)s or content_type_id = 20 and object_id in"
    " (select team_id from core_membership where user_id = %(user)s and is_active))"
)
_RECIPES = f"select id from core_recipe where {_VISIBLE}"
VOWELS = 5
_MOVED = "{0} = translate({0}, 'aeiou', 'eioua')"
_OF_RECIPES = (
    ("core_recipe", "name", "id"),
    ("core_ingredient", "name", "recipe_id"),
    ("core_step", "text", "recipe_id"),
    ("core_section", "title", "recipe_id"),
    ("core_note", "text", "recipe_id"),
    ("timeline_event", "action", "recipe_id"),
)
"""Tables with rows of a recipe, a text of theirs that answers show, and the column that says of which recipe."""
CHANGING_SHARE = 0.25
"""Share of the time in which rows that keep changing are written: the database has to answer as well."""


def tables_in(texts: Iterable[str]) -> set[str]:
    """The tables that statements name."""
    return {table for text in texts for table in _TABLE.findall(text)}


@contextmanager
def _locked(connection: psycopg.Connection, table: str) -> Iterator[None]:
    with connection.transaction():
        connection.execute(f"set local lock_timeout = '{LOCK_TIMEOUT}'".encode())
        connection.execute(sql.SQL("lock table {} in access exclusive mode").format(sql.Identifier(table)))
        yield


class DataOwner:
    """Three connections of the owner's role: one changes, one locks the sessions, one reads meanwhile. Use it as a
    context."""

    def __init__(self, address: str, password: str) -> None:
        self._dsn = dsn(address, password)

    def __enter__(self) -> Self:
        connections = (psycopg.connect(self._dsn, autocommit=True) for _ in range(3))
        self._changes, self._locks, self._reads = connections
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (self._locks, self._changes, self._reads):
            connection.close()

    def locked(self, table: str) -> AbstractContextManager[None]:
        """Inside, nobody else can read the table. What is changed inside is there for all at its end."""
        return _locked(self._changes, table)

    def sessions_locked(self) -> AbstractContextManager[None]:
        """Inside, nobody can find out whose a session is. It may end before a `locked` inside it does."""
        return _locked(self._locks, SESSIONS)

    def change(self, user: int, mark: str) -> tuple[int, frozenset[int]]:
        """Renames what the user sees and adds a note to each; then the user has left a team. Returns the team and the
        ids of its recipes."""
        given = {"user": user, "mark": mark}
        self._changes.execute(
            f"update core_recipe set name = %(mark)s || ' ' || id where {_VISIBLE}".encode(), given
        )
        self._changes.execute(
            "insert into core_note (recipe_id, text, created, modified, created_by_id)"
            f" select id, %(mark)s, now(), now(), %(user)s from core_recipe where {_VISIBLE}".encode(),
            given,
        )
        left = self._changes.execute(
            "update core_membership set is_active = false where user_id = %(user)s and is_active"
            " and team_id <> %(user)s returning team_id",
            given,
        ).fetchone()
        assert left is not None, f"user {user} is a member of no other team"
        recipes = self._changes.execute(
            "select id from core_recipe where content_type_id = 20 and object_id = %s", left
        )
        return int(left[0]), frozenset(int(key) for (key,) in recipes)

    @contextmanager
    def changing(self, user: int) -> Iterator[None]:
        """Inside, each statement about what the user sees has another result each time, with as many rows in the same order and
        of the same lengths."""
        ended = threading.Event()
        updates = self._updates(user)

        def change() -> None:
            for number in itertools.count(1):
                began_s = time.monotonic()
                with self._changes.pipeline(), self._changes.transaction():
                    for text, keys in updates:
                        self._changes.execute(text.encode(), (keys,), prepare=True)
                rest_s = (time.monotonic() - began_s) * (1 / CHANGING_SHARE - 1)
                if ended.wait(rest_s) and number % VOWELS:  # after so many changes a text is what it was
                    return

        with ThreadPoolExecutor(1) as thread:
            running = thread.submit(change)
            try:
                yield
            finally:
                ended.set()
            running.result()

    def _updates(self, user: int) -> list[tuple[str, list[int]]]:
        """Statements that change a row of each kind of each recipe that the user sees, and the keys of those rows."""

        def update(table: str, change: str, query: str) -> tuple[str, list[int]]:
            keys = self._changes.execute(query.encode(), {"user": user})
            return f"update {table} set {change} where id = any(%s)", [int(key) for (key,) in keys]

        found = []
        for table, text, of in _OF_RECIPES:
            first = f"select min(id) from {table} where {of} in ({_RECIPES}) group by {of}"
            found.append(update(table, _MOVED.format(text), first))
        notes = f"select id from core_note where recipe_id in ({_RECIPES})"
        reactions = f"select id from core_reaction where note_id in ({notes})"
        found.append(update("core_reaction", "created = created + interval '1 second'", reactions))
        teams = "select team_id from core_membership where user_id = %(user)s"
        return [*found, update("core_team", _MOVED.format("name"), teams)]

    def set_session(self, key: str, valid: bool) -> None:
        """Make a session end long ago, or much later."""
        text = "update user_sessions_session set expire_date = %s::timestamptz where session_key = %s"
        self._changes.execute(text, ("2100-01-01Z" if valid else "2020-01-01Z", key))

    def has(self, table: str, key: int) -> bool:
        """Whether a row of that id can be read, on the connection that changes nothing."""
        query = sql.SQL("select 1 from {} where id = %s").format(sql.Identifier(table))
        return self._reads.execute(query, (key,)).fetchone() is not None

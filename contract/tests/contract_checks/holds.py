"""What holds the application's statements up, and how many are held."""

from collections.abc import Iterator
from contextlib import contextmanager

from contract_checks.backend import Backend
from contract_checks.stack import Stack

AT_LOCK = """
    select count(*)::int from pg_stat_activity
    where usename = 'app' and client_addr = %s::inet and state = 'active' and wait_event_type = 'Lock'
"""
FAR = ("user_sessions_session", "core_ingredient", "core_step", "core_note")


@contextmanager
def locked(stack: Stack, *tables: str) -> Iterator[None]:
    """Statements on these tables wait."""
    with stack.connect() as owner, owner.transaction():
        owner.execute(f"lock table {', '.join(tables)} in access exclusive mode".encode())
        yield


def at_lock(backend: Backend) -> int:
    """How many statements of the container wait for a lock."""
    return int(backend.stack.query(AT_LOCK, backend.host)[0][0])


@contextmanager
def far_away(stack: Stack, seconds: float) -> Iterator[None]:
    """A recipe's statements on the tables of FAR take so much longer."""
    with stack.connect() as owner:
        try:
            for table in FAR:
                slow = f"select * from {table}_near where (select pg_sleep({seconds})) is not null"
                owner.execute(f"alter table {table} rename to {table}_near".encode())
                owner.execute(f"create view {table} as {slow}; grant select on {table} to app".encode())
            yield
        finally:
            for table in FAR:
                owner.execute(f"drop view {table}; alter table {table}_near rename to {table}".encode())

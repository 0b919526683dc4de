"""Which statements run, in which order, and when a connection is given up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg
import pytest
from rows import DASHBOARD_ROWS, ROWS

from recipes import database
from recipes.config import QUERIES, Settings
from recipes.database import Connection, create_pool, from_pool, guarded, one_for_this_request
from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.models import dashboard_from_rows, recipe_from_rows
from recipes.repository import Repository, read_queries

pytestmark = pytest.mark.anyio

NAME_OF = {text: name for name, text in read_queries(QUERIES).items()}
PARTS = ["ingredients", "steps", "sections", "notes", "reactions", "timeline_events"]
TABLES: dict[str, Any] = {
    **ROWS,
    **{f"dashboard_{name}": rows for name, rows in DASHBOARD_ROWS.items()},
    "event_insert": [],
}


class Row(tuple[Any, ...]):
    """As asyncpg's Record: a tuple whose columns have names too."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(0 if key == "id" else key)


class FakeConnection:
    def __init__(self, session: int | None = 1, recipe: tuple[Any, ...] | None = ROWS["recipe"]) -> None:
        self.session, self.recipe = session, recipe
        self.note: int | None = 9
        self.statements: list[tuple[str, Any]] = []
        self.terminated = False
        self.closed = False

    async def execute(self, query: str) -> str:
        self.statements.append((query, ()))
        return query

    async def fetchval(self, query: str, *arguments: Any) -> int | None:
        name = NAME_OF[query]
        self.statements.append((name, arguments))
        return self.session if name == "session" else self.note

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        self.statements.append((NAME_OF[query], arguments))
        return Row(self.recipe) if self.recipe else None

    async def fetch(self, query: str, *arguments: Any) -> Any:
        self.statements.append((NAME_OF[query], arguments))
        return TABLES[NAME_OF[query]]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        self.statements.append(("BEGIN", ()))
        try:
            yield
        except Exception:
            self.statements.append(("ROLLBACK", ()))
            raise
        self.statements.append(("COMMIT", ()))

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.terminated = True


def repository(connection: Any, *, set_time_zone: bool = False) -> Repository:
    return Repository(lambda: guarded(given(connection)), read_queries(QUERIES), set_time_zone=set_time_zone)


@asynccontextmanager
async def given(connection: Any) -> AsyncIterator[Connection]:
    yield connection


async def test_eight_statements_on_one_connection() -> None:
    connection = FakeConnection()
    recipe = await repository(connection).recipe_by_id("key", 7)
    assert recipe == recipe_from_rows(**ROWS)
    assert connection.statements == [
        ("session", ("key",)),
        ("recipe_by_id", (1, 7)),
        *((part, (7,)) for part in PARTS),
    ]


@pytest.mark.parametrize(
    "use",
    [
        lambda repository: repository.recipe_by_id("key", 7),
        lambda repository: repository.write_note("key", 7, "text"),
        lambda repository: repository.dashboard("key"),
    ],
    ids=["recipe", "note", "dashboard"],
)
async def test_a_request_sets_the_time_zone_first_and_once_if_asked_to(
    use: Callable[[Repository], Awaitable[object]],
) -> None:
    connection, plain = FakeConnection(), FakeConnection()
    await use(repository(connection, set_time_zone=True))
    await use(repository(plain))
    assert connection.statements == [("SET TIME ZONE 'UTC'", ()), *plain.statements]


async def test_random_recipe_asks_for_the_user_only() -> None:
    connection = FakeConnection()
    await repository(connection).random_recipe("key")
    assert connection.statements[1] == ("recipe_random", (1,))


async def test_no_session_ends_after_one_statement() -> None:
    connection = FakeConnection(session=None)
    with pytest.raises(Unauthorized):
        await repository(connection).recipe_by_id("key", 7)
    assert len(connection.statements) == 1
    assert not connection.terminated


async def test_no_recipe_ends_after_two_statements() -> None:
    connection = FakeConnection(recipe=None)
    with pytest.raises(NotFound):
        await repository(connection).recipe_by_id("key", 7)
    assert len(connection.statements) == 2


async def test_a_note_and_its_event_are_one_transaction() -> None:
    connection = FakeConnection()
    assert await repository(connection).write_note("key", 7, "text") == 9
    assert connection.statements == [
        ("session", ("key",)),
        ("BEGIN", ()),
        ("note_insert", (1, 7, "text")),
        ("event_insert", (1, 7)),
        ("COMMIT", ()),
    ]


async def test_a_note_on_no_recipe_is_rolled_back() -> None:
    connection = FakeConnection()
    connection.note = None
    with pytest.raises(NotFound):
        await repository(connection).write_note("key", 7, "text")
    assert [name for name, _ in connection.statements] == ["session", "BEGIN", "note_insert", "ROLLBACK"]


async def test_a_dashboard_is_five_statements() -> None:
    connection = FakeConnection()
    assert await repository(connection).dashboard("key") == dashboard_from_rows(1, **DASHBOARD_ROWS)
    assert connection.statements == [
        ("session", ("key",)),
        *((f"dashboard_{name}", (1,)) for name in ("recipes", "teams", "notes", "events")),
    ]


async def test_the_first_error_of_a_dashboard_is_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fetch(*_: Any) -> None:
        raise ConnectionResetError

    connection = FakeConnection()
    monkeypatch.setattr(connection, "fetch", fetch)
    with pytest.raises(DatabaseUnavailable) as raised:
        await repository(connection).dashboard("key")
    assert isinstance(raised.value.__cause__, ConnectionResetError)


def told(error: asyncpg.PostgresError, severity: str) -> asyncpg.PostgresError:
    """As the server says it; PgBouncer's severity is without the second letter `V`."""
    error.severity = severity
    return error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(),
        TimeoutError(),
        asyncpg.AdminShutdownError(),
        asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
        asyncpg.QueryCanceledError("canceling statement due to statement timeout"),
        asyncpg.TooManyConnectionsError(),
        asyncpg.ReadOnlySQLTransactionError(),
        asyncpg.InvalidCachedStatementError(),
        told(asyncpg.ProtocolViolationError("query_wait_timeout"), "FATAL"),
        told(asyncpg.IdleInTransactionSessionTimeoutError(), "FATAL"),
    ],
    ids=repr,
)
async def test_a_database_that_is_away_is_an_outage(error: Exception) -> None:
    connection = FakeConnection()
    with pytest.raises(DatabaseUnavailable) as raised:
        async with guarded(given(connection)):
            raise error
    assert raised.value.__cause__ is error
    assert connection.terminated


@pytest.mark.parametrize("after_s", [0, 0.02])
@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_connection_that_was_lost_is_an_outage(error: Exception, after_s: float) -> None:
    connection = FakeConnection()
    asyncio.get_running_loop().call_later(after_s, setattr, connection, "closed", True)
    with pytest.raises(DatabaseUnavailable):
        async with guarded(given(connection)):
            raise error


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.UndefinedTableError(),
        asyncpg.DeadlockDetectedError(),
        asyncpg.StatementTooComplexError(),
        asyncpg.FeatureNotSupportedError(),
        asyncpg.InvalidSQLStatementNameError(),
        asyncpg.InFailedSQLTransactionError(),
        told(asyncpg.ProtocolViolationError("bind message supplies 1 parameters, but requires 2"), "ERROR"),
        asyncpg.InternalClientError("unknown error in protocol implementation"),
        asyncpg.InterfaceError("another operation is in progress"),
        asyncpg.exceptions.DataError("invalid input for query argument $1"),
    ],
    ids=repr,
)
async def test_a_bug_is_not_mistaken_for_an_outage(error: Exception) -> None:
    connection = FakeConnection()
    with pytest.raises(type(error)):
        async with guarded(given(connection)):
            raise error
    assert connection.terminated


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (ConnectionRefusedError(), DatabaseUnavailable),
        (asyncpg.InvalidPasswordError(), DatabaseUnavailable),
        (asyncpg.InvalidCatalogNameError(), DatabaseUnavailable),
        (asyncpg.InterfaceError("invalid dsn"), asyncpg.InterfaceError),
    ],
    ids=repr,
)
async def test_whoever_gets_no_connection_is_told_of_an_outage(error: Exception, becomes: type[Exception]) -> None:
    @asynccontextmanager
    async def refused() -> AsyncIterator[Connection]:
        raise error
        yield

    with pytest.raises(becomes):
        async with guarded(refused()):
            pass


class LateToClose(FakeConnection):
    async def close(self, timeout: float) -> None:  # noqa: ASYNC109
        raise TimeoutError


class LatePool:
    """Its reset after a request comes too late."""

    async def acquire(self) -> FakeConnection:
        return FakeConnection()

    async def release(self, _: FakeConnection, timeout: float) -> None:  # noqa: ASYNC109
        assert timeout == database.ACQUIRE_TIMEOUT_S
        raise TimeoutError


async def test_a_note_that_is_stored_is_acknowledged_however_late_its_connection_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def connect() -> LateToClose:
        return LateToClose()

    monkeypatch.setattr(asyncpg, "connect", connect)
    pool: Any = LatePool()
    slots = asyncio.Semaphore(1)
    for connect_late in (lambda: one_for_this_request(slots, {}), lambda: from_pool(slots, pool)):
        late = partial(lambda end: guarded(end()), connect_late)
        assert await Repository(late, read_queries(QUERIES)).write_note("key", 7, "text") == 9


async def test_no_connection_is_replaced_for_being_used() -> None:
    pool: Any = create_pool(Settings())
    # 1,000 statements a second for a century.
    assert pool._max_queries > 3e12


class OneConnection:
    """A pool of one, with the queue that asyncpg's pool has."""

    def __init__(self) -> None:
        self._free: asyncio.LifoQueue[FakeConnection] = asyncio.LifoQueue()
        self._free.put_nowait(FakeConnection())

    async def acquire(self) -> FakeConnection:
        return await self._free.get()

    async def release(self, connection: FakeConnection, timeout: float) -> None:  # noqa: ASYNC109
        self._free.put_nowait(connection)


@pytest.mark.parametrize(("slots", "served"), [(1, ["waiting", "newcomer"]), (2, ["newcomer", "waiting"])])
async def test_who_waits_for_a_connection_is_served_before_a_newcomer(slots: int, served: list[str]) -> None:
    """With a slot too many it is the queue that decides."""
    pool: Any = OneConnection()
    semaphore, used, order = asyncio.Semaphore(slots), asyncio.Event(), []

    async def ask(name: str) -> None:
        async with from_pool(semaphore, pool):
            order.append(name)

    async def first() -> None:
        async with from_pool(semaphore, pool):
            await used.wait()
        await ask("newcomer")

    async with asyncio.TaskGroup() as group:
        group.create_task(first())
        await asyncio.sleep(0.01)
        group.create_task(ask("waiting"))
        await asyncio.sleep(0.01)
        used.set()
    assert order == served


async def test_who_waits_too_long_is_told_and_takes_nothing_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "ACQUIRE_TIMEOUT_S", 0.02)
    pool: Any = OneConnection()
    slots = asyncio.Semaphore(1)
    async with guarded(from_pool(slots, pool)):
        with pytest.raises(DatabaseUnavailable):
            async with guarded(from_pool(slots, pool)):
                pass
        await asyncio.sleep(0.03)  # who has a connection keeps it for longer than others may wait for one
    async with guarded(from_pool(slots, pool)) as connection:
        assert isinstance(connection, FakeConnection)

"""The engine with its pool, and a session for each request. https://docs.sqlalchemy.org/en/21/orm/extensions/asyncio.html"""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import event, exc
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from shared.config import Settings

# Waiting for a free connection, and for a login.
ACQUIRE_TIMEOUT_S = 2.5
STATEMENT_TIMEOUT_S = 2.0


def engine_of(settings: Settings) -> AsyncEngine:
    url, _, _ = settings.database_url.partition("?")
    engine = create_async_engine(
        url.replace("postgresql://", "postgresql+asyncpg://"),
        # A fixed size. https://docs.sqlalchemy.org/en/21/core/pooling.html
        pool_size=settings.pool_size,
        max_overflow=0,
        pool_timeout=ACQUIRE_TIMEOUT_S,
        # https://magicstack.github.io/asyncpg/current/api/index.html#connection
        connect_args={
            "ssl": False,
            "timeout": ACQUIRE_TIMEOUT_S,
            "command_timeout": STATEMENT_TIMEOUT_S,
            # As the server spells it: at asyncpg's `utf-8` PgBouncer sends a SET for every new connection.
            "server_settings": {"client_encoding": "UTF8"},
        },
    )
    event.listen(engine.sync_engine, "checkout", refuse_closed)
    return engine


def refuse_closed(connection: Any, *_: object) -> None:
    """In place of `pool_pre_ping`, which would ask the server in each request: asyncpg knows when it was left.
    https://docs.sqlalchemy.org/en/21/core/events.html#sqlalchemy.events.PoolEvents.checkout"""
    if connection.driver_connection.is_closed():
        # The others are closed too, as a rule.
        raise exc.InvalidatePoolError


def sessions_of(engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
    return async_sessionmaker(engine, expire_on_commit=False)


async def session(request: Request) -> AsyncIterator[AsyncSession]:
    """A request's session takes a connection with its first statement, and gives it back here."""
    sessions: Any = request.state.sessions
    async with sessions() as session:
        yield session


# Ends before the answer is sent, so that the connection does not wait for the client.
# https://fastapi.tiangolo.com/tutorial/dependencies/dependencies-with-yield/#early-exit-and-scope
DatabaseSession = Annotated[AsyncSession, Depends(session, scope="function")]

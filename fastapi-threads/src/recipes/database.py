"""The engine with its pool, and a session for each request. https://docs.sqlalchemy.org/en/21/orm/session_basics.html"""

from collections.abc import Iterator
from select import POLLIN, poll
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import Engine, create_engine, event, exc
from sqlalchemy.orm import Session, sessionmaker

from shared.config import Settings

# Waiting for a free connection.
ACQUIRE_TIMEOUT_S = 2.5


def engine_of(settings: Settings) -> Engine:
    engine = create_engine(
        settings.database_url.replace("postgresql://", "postgresql+psycopg://"),
        # A fixed size. https://docs.sqlalchemy.org/en/21/core/pooling.html
        pool_size=settings.pool_size,
        max_overflow=0,
        pool_timeout=ACQUIRE_TIMEOUT_S,
        # There is no such type here: one statement less for each login.
        use_native_hstore=False,
        connect_args={
            # https://www.postgresql.org/docs/17/libpq-connect.html#LIBPQ-PARAMKEYWORDS; 2 s is the least.
            "connect_timeout": 2,
            "tcp_user_timeout": 2000,
        },
    )
    event.listen(engine, "checkout", refuse_closed)
    return engine


def refuse_closed(connection: Any, *_: object) -> None:
    """In place of `pool_pre_ping`, which would ask the server in each request: idle, it has only its end to read.
    https://docs.sqlalchemy.org/en/21/core/events.html#sqlalchemy.events.PoolEvents.checkout"""
    poller = poll()
    poller.register(connection.fileno(), POLLIN)
    if poller.poll(0):
        # The others have ended too, as a rule.
        raise exc.InvalidatePoolError


def sessions_of(engine: Engine) -> sessionmaker[Session]:
    return sessionmaker(engine, expire_on_commit=False)


def session(request: Request) -> Iterator[Session]:
    """A request's session takes a connection with its first statement, and gives it back here."""
    sessions: Any = request.state.sessions
    with sessions() as session:
        yield session


# Ends before the answer is sent, so that the connection does not wait for the client.
# https://fastapi.tiangolo.com/tutorial/dependencies/dependencies-with-yield/#early-exit-and-scope
DatabaseSession = Annotated[Session, Depends(session, scope="function")]

"""The settings of the database connections, seen from PostgreSQL's side; each with a container of its own."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from contract_checks import statements
from contract_checks.backend import Backend
from contract_checks.docker import wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session, visible
from contract_checks.needs import for_scenario, needs
from contract_checks.server_log import Message, statement_log

KEY = session(1)
N = 12
AT_ONCE = 4
POOL = 5  # odd, so that it does not divide among two workers
CROWD = 7  # workers, more than there are connections
CLIENTS = 40
TRIES = 3  # of a busy machine, on which one connection may be all that was opened in time
RESET = re.compile(r"discard|reset |unlisten|close all|deallocate|select pg_advisory_unlock_all")


def connections(backend: Backend) -> int:
    """How many connections the container has to PostgreSQL now."""
    count = "select count(*)::int from pg_stat_activity where usename = 'app' and client_addr = %s::inet"
    return int(backend.stack.query(count, backend.host)[0][0])


def ask(backend: Backend, times: int = N) -> None:
    """Asks for recipes, several at once; every answer must be right."""
    keys = visible(1)[:times]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for key, answer in zip(
            keys, pool.map(lambda key: backend.get(f"{RECIPES}/{key}", KEY), keys), strict=True
        ):
            assert_golden(answer, key)


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_pool_max(backend: Backend) -> None:
    """40 clients that all wait for the database hold at most DB_POOL_MAX connections, but not just one; also with more workers
    than that."""
    for settings in ({}, {"WORKERS": str(CROWD)}):
        if backend.implementation.honours(**settings) == settings:
            _assert_pool_max(backend, settings)


def _assert_pool_max(backend: Backend, settings: dict[str, str]) -> None:
    most = 0
    with backend.variant(DB_POOL_MAX=str(POOL), **settings) as variant:
        ask(variant, 3)
        for _ in range(TRIES):
            # Connections that are not kept are gone a moment after their answers.
            wait_until(lambda: connections(variant) == 0, 0.5)
            most = max(most, _most_connections(variant))
            if most > 1:
                break
    what = " ".join(f"{name}={value}" for name, value in {"DB_POOL_MAX": POOL, **settings}.items())
    assert most <= POOL, f"{what}, but there were {most} connections"
    assert most > 1, f"{what}, but {CLIENTS} clients at once used {most} connection"


def _most_connections(backend: Backend) -> int:
    """Of clients whose requests all stop at their first statement, so that the pool fills to its limit."""
    most = 0
    with ThreadPoolExecutor(CLIENTS) as pool:
        with backend.stack.connect() as owner, owner.transaction():
            owner.execute("lock table user_sessions_session in access exclusive mode")
            waiting = [pool.submit(backend.get, f"{RECIPES}/1", KEY) for _ in range(CLIENTS)]
            began = time.monotonic()
            # On a busy machine the first connections take their time.
            while (spent := time.monotonic() - began) < 0.6 or (most <= 1 and spent < 3):
                most = max(most, connections(backend))
        for answer in [answer.result() for answer in waiting]:
            # There, some have waited for a connection longer than the implementation allows.
            if answer.status == 503:
                assert_error(answer, 503, what="after waiting for a connection")
            else:
                assert_golden(answer, 1)
    return most


def logged(backend: Backend, **settings: str) -> tuple[list[Message], int]:
    """What a container with these settings sends for N requests, and how many connections it keeps."""
    with statement_log(backend.stack) as read, backend.variant(**settings) as variant:
        ask(variant)
        wait_until(lambda: connections(variant) == 0, 0.5)
        return read(variant.host), connections(variant)


@needs("DB_PERSISTENT")
@for_scenario("recipe")
def check_persistent(backend: Backend) -> None:
    """1: requests share connections, which stay; 0: a connection for each request, which runs all of it and is closed."""
    messages, left = logged(backend, DB_PERSISTENT="1", DB_POOL_MAX=str(POOL))
    used = {message.pid for message in messages if message.runs}
    assert 1 <= len(used) <= POOL, (
        f"DB_PERSISTENT=1, DB_POOL_MAX={POOL}: {len(used)} connections for {N} requests"
    )
    assert left, "DB_PERSISTENT=1, but no connection is left after the last request"

    messages, left = logged(backend, DB_PERSISTENT="0")
    ours = [m for m in messages if m.runs and not RESET.match(m.text.lower())]
    each = sorted(Counter(message.pid for message in ours).values())
    assert len(each) == N, f"DB_PERSISTENT=0: {len(each)} connections for {N} requests"
    assert set(each) == {8}, f"DB_PERSISTENT=0: statements on each connection: {each}"
    assert not left, f"DB_PERSISTENT=0, but {left} connections are left after the last request"


@needs("DB_PREPARE")
@for_scenario("recipe")
def check_prepared(backend: Backend) -> None:
    """1: each connection prepares a statement once, by name, and runs it from then on; 0: the text goes out every time."""
    messages, _ = logged(backend, DB_PREPARE="1", DB_POOL_MAX="2")
    text = sorted({message.text[:60] for message in messages if message.runs and not message.prepared})
    assert not text, f"DB_PREPARE=1, but these ran unprepared: {text}"
    parsed = Counter((message.pid, message.name) for message in messages if message.kind == "parse")
    used = {message.pid for message in messages if message.runs}
    # A driver may give a name again only if it had thrown the statement away.
    again = {statement: times for statement, times in parsed.items() if times > 1}
    assert not again, f"DB_PREPARE=1, but statements are prepared again: {again}"
    # All nine queries may be prepared beforehand, though a request needs eight of them.
    most = len(statements.queries()) * len(used)
    assert 8 <= len(parsed) <= most, f"DB_PREPARE=1: {len(parsed)} preparations, {len(used)} connections"

    messages, _ = logged(backend, DB_PREPARE="0")
    named = sorted({f"{message.kind} {message.name}" for message in messages if message.prepared})
    assert not named, f"DB_PREPARE=0, but these have names: {named}"
    runs = sum(message.runs for message in messages)
    assert runs == 8 * N, f"DB_PREPARE=0: {runs} statements for {N} requests"


@needs("DB_RESET")
@for_scenario("recipe")
def check_reset(backend: Backend) -> None:
    """DB_RESET=1: one reset for each request, and the eight statements as ever; 0: no reset."""
    for value in ("1", "0"):
        with backend.variant(DB_RESET=value) as variant:
            statements.reset(backend.stack)
            ask(variant)
            wait_until(lambda: _resets(backend) >= N, 0.5)
            found = statements.seen(backend.stack)
        expected = N if value == "1" else 0
        resets = [s for s in found if RESET.match(s.text)]
        most = max((s.calls for s in resets), default=0)
        assert most == expected, f"DB_RESET={value}: {most} resets for {N} requests: {resets}"
        others = {s.text: s.calls for s in found if s not in resets}
        names = ("session", "recipe_by_id", *statements.PARTS)
        assert others == dict.fromkeys(names, N), f"DB_RESET={value}: not the eight {N} times each: {others}"


def _resets(backend: Backend) -> int:
    return max((s.calls for s in statements.seen(backend.stack) if RESET.match(s.text)), default=0)


CHECKS = (
    check_pool_max,
    check_persistent,
    check_prepared,
    check_reset,
)

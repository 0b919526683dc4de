"""The settings of the database connections, seen from PostgreSQL's side. One container serves all checks of the defaults."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

from contract_checks.backend import Backend
from contract_checks.dashboard import PATH as DASHBOARD
from contract_checks.dashboard import READS
from contract_checks.docker import wait_until
from contract_checks.errors import ODD, assert_error
from contract_checks.golden import RECIPES, assert_golden, assert_golden_dashboard, session, visible
from contract_checks.holds import locked
from contract_checks.needs import for_scenario, needs
from contract_checks.notes import assert_written, cleared, write
from contract_checks.server_log import Message, spelled, statement_log
from contract_checks.statements import PARTS, queries

KEY = session(1)
RECIPE = ("session", "recipe_by_id", *PARTS)
ZONE = "set time zone 'utc'"
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
        with locked(backend.stack, "user_sessions_session"):
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


@cache
def logged(backend: Backend, **settings: str) -> tuple[list[Message], int]:
    """What a container with these settings sends for N requests, and how many connections it keeps. Checks share it."""
    settings = backend.implementation.honours(DB_POOL_MAX=str(POOL)) | settings
    with statement_log(backend.stack) as read, backend.variant(**settings) as variant:
        ask(variant)
        wait_until(lambda: connections(variant) == 0, 0.5)
        return read(variant.host), connections(variant)


def ran(messages: list[Message]) -> dict[int, list[str]]:
    """What ran on each connection, in its order, by the contract's names."""
    found: dict[int, list[str]] = {}
    for message in messages:
        if message.runs:
            found.setdefault(message.pid, []).append(spelled(message))
    return found


@needs("DB_PERSISTENT")
@for_scenario("recipe")
def check_persistent(backend: Backend) -> None:
    """1: requests share connections, which stay; 0: a connection for each request, which runs all of it and is closed."""
    messages, left = logged(backend)
    used = len(ran(messages))
    assert 1 <= used <= POOL, f"DB_PERSISTENT=1, DB_POOL_MAX={POOL}: {used} connections for {N} requests"
    assert left, "DB_PERSISTENT=1, but no connection is left after the last request"

    messages, left = logged(backend, DB_PERSISTENT="0")
    each = [sum(not RESET.match(text) for text in texts) for texts in ran(messages).values()]
    each = [statements for statements in each if statements]
    assert len(each) == N, f"DB_PERSISTENT=0: {len(each)} connections for {N} requests"
    assert set(each) == {8}, f"DB_PERSISTENT=0: statements on each connection: {each}"
    assert not left, f"DB_PERSISTENT=0, but {left} connections are left after the last request"


@needs("DB_PREPARE")
@for_scenario("recipe")
def check_prepared(backend: Backend) -> None:
    """1: each connection prepares a statement once, by name, and runs it from then on; 0: the text goes out every time."""
    messages, _ = logged(backend)
    text = sorted({message.text[:60] for message in messages if message.runs and not message.prepared})
    assert not text, f"DB_PREPARE=1, but these ran unprepared: {text}"
    parsed = Counter((message.pid, message.name) for message in messages if message.kind == "parse")
    # A driver may give a name again only if it had thrown the statement away.
    again = {statement: times for statement, times in parsed.items() if times > 1}
    assert not again, f"DB_PREPARE=1, but statements are prepared again: {again}"
    # All nine queries may be prepared beforehand, though a request needs eight of them.
    used = len(ran(messages))
    most = len(queries()) * used
    assert 8 <= len(parsed) <= most, f"DB_PREPARE=1: {len(parsed)} preparations, {used} connections"

    messages, _ = logged(backend, DB_PREPARE="0")
    named = sorted({f"{message.kind} {message.name}" for message in messages if message.prepared})
    assert not named, f"DB_PREPARE=0, but these have names: {named}"
    runs = sum(message.runs for message in messages)
    assert runs == 8 * N, f"DB_PREPARE=0: {runs} statements for {N} requests"


@needs("DB_RESET")
@for_scenario("recipe")
def check_reset(backend: Backend) -> None:
    """DB_RESET=1: one reset for each request, and the eight statements as ever; 0: no reset."""
    for settings, expected in ({"DB_RESET": "1"}, N), ({}, 0):
        calls = Counter(text for texts in ran(logged(backend, **settings)[0]).values() for text in texts)
        resets = {text: calls.pop(text) for text in [*calls] if RESET.match(text)}
        what = f"DB_RESET={settings.get('DB_RESET', '0')}, {N} requests"
        assert max(resets.values(), default=0) == expected, f"{what}: the resets are {resets}"
        assert calls == dict.fromkeys(RECIPE, N), f"{what}: not the eight {N} times each: {calls}"


@needs("DB_TIME_ZONE")
@for_scenario("recipe")
def check_time_zone(backend: Backend) -> None:
    """`request`: whatever asks the database sets the zone first, once, on its connection; `connection`: nothing does."""
    _assert_whole_requests(logged(backend)[0], "connection", [*RECIPE])
    database = backend.stack
    with (
        cleared(database),
        statement_log(database) as read,
        backend.variant(DB_TIME_ZONE="request") as variant,
    ):
        ask(variant)
        wait_until(lambda: sum(message.runs for message in read(variant.host)) >= 9 * N, 1)
        at_once = read(variant.host)
        _assert_whole_requests(at_once, "request", [ZONE, *RECIPE])
        asked = [name for names in _one_of_each(variant) for name in (ZONE, *names)]
        wait_until(lambda: sum(one.runs for one in read(variant.host)[len(at_once) :]) >= len(asked), 1)
        found = [one for one in read(variant.host)[len(at_once) :] if one.runs]
    names = [spelled(message) for message in found]
    # The four reads of the dashboard, which come last, may run at once.
    names = [*(n for n in names if n not in READS), *sorted(n for n in names if n in READS)]
    assert names == asked, f"DB_TIME_ZONE=request: statements are {names}, not {asked}"
    for one, following in pairwise(found):
        assert spelled(one) != ZONE or one.pid == following.pid, (
            f"the zone is set on one connection, '{spelled(following)}' runs on another"
        )


def _assert_whole_requests(messages: list[Message], value: str, each: list[str]) -> None:
    """With several requests at once, every connection runs whole requests, each of which is `each`."""
    on_each = ran(messages).values()
    requests = [names[i : i + len(each)] for names in on_each for i in range(0, len(names), len(each))]
    assert requests == [each] * N, f"DB_TIME_ZONE={value}, several at once: {requests}, not {N} times {each}"


def _one_of_each(backend: Backend) -> list[list[str]]:
    """One request of each kind that is served; returns what the database is asked for each, but for the zone."""
    asked = [[*RECIPE], ["session"]]
    assert_golden(backend.get(f"{RECIPES}/1", KEY), 1)
    assert_error(backend.get(f"{RECIPES}/1", "unknown"), 401, what="an unknown session")
    assert_error(backend.get(f"{RECIPES}/0", KEY), *ODD, 404, what="a bad id")
    assert_error(backend.get(f"{RECIPES}/1"), 401, what="no session")
    assert backend.get("/healthz").status == 200
    if backend.implementation.serves("recipes"):
        assert backend.get(RECIPES, KEY).status == 200
        asked.append(["session", "recipe_random", *PARTS])
    if backend.implementation.serves("note-write"):
        assert_written(write(backend, 1, b'{"text":"x"}'), "a note")
        asked.append(["session", "begin", "note_insert", "event_insert", "commit"])
    if backend.implementation.serves("fan-out"):
        assert_golden_dashboard(backend.get(DASHBOARD, session(2)), 2)
        asked.append(["session", *sorted(READS)])
    return asked


CHECKS = (
    check_pool_max,
    check_persistent,
    check_prepared,
    check_reset,
    check_time_zone,
)

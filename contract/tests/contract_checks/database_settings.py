"""The settings of the database connections, seen from PostgreSQL's side. One container serves all checks of the defaults."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

from contract_checks.backend import Answer, Backend
from contract_checks.dashboard import PATH as DASHBOARD
from contract_checks.dashboard import READS
from contract_checks.docker import wait_until
from contract_checks.golden import RECIPES, assert_golden, session, visible
from contract_checks.holds import locked
from contract_checks.needs import for_scenario, needs
from contract_checks.notes import assert_written, cleared, write
from contract_checks.server_log import Message, runs, spelled, statement_log
from contract_checks.statements import PARTS, queries

KEY = session(1)
RECIPE = ["session", "recipe_by_id", *PARTS]
ZONE = "set time zone 'utc'"
NOTE = ["session", "begin", "note_insert", "event_insert", "commit"]
ONE_OF_EACH: tuple[tuple[str, str, str | None, int, list[str]], ...] = (
    ("recipe", f"{RECIPES}/1", KEY, 200, RECIPE),
    ("recipe", f"{RECIPES}/1", "unknown", 401, ["session"]),
    ("recipe", f"{RECIPES}/1", None, 401, []),
    ("recipe", "/healthz", None, 200, []),
    ("recipes", RECIPES, KEY, 200, ["session", "recipe_random", *PARTS]),
    ("fan-out", DASHBOARD, KEY, 200, ["session", *sorted(READS)]),
)
"""Scenario, path, session, status, and what the database is asked, but for the zone."""
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

    def one(key: int) -> None:
        assert_golden(backend.get(f"{RECIPES}/{key}", KEY), key)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, visible(1)[:times]))


@contextmanager
def held(backend: Backend, clients: int) -> Iterator[list[Future[Answer]]]:
    """So many requests at once, all of which stop at their first statement. Behind it they have been answered."""
    with ThreadPoolExecutor(clients) as pool, locked(backend.stack, "user_sessions_session"):
        yield [pool.submit(backend.get, f"{RECIPES}/1", KEY) for _ in range(clients)]


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_pool_max(backend: Backend) -> None:
    """40 clients that all wait for the database hold at most DB_POOL_MAX connections, but not just one; also with more workers
    than that."""
    for workers in ("", *backend.implementation.honours(WORKERS=str(CROWD)).values()):
        with backend.variant(DB_POOL_MAX=str(POOL), WORKERS=workers) as variant:
            ask(variant, 3)
            for _ in range(TRIES):
                most = _most_connections(variant)
                if most > 1:
                    break
        what = f"DB_POOL_MAX={POOL} WORKERS={workers}, {CLIENTS} clients at once"
        assert 1 < most <= POOL, f"{what}: they used {most} connections"


def _most_connections(backend: Backend) -> int:
    """Of clients whose requests all stop, so that the pool fills to its limit."""
    # Connections that are not kept are gone a moment after their answers.
    wait_until(lambda: connections(backend) == 0, 0.5)
    most = 0
    with held(backend, CLIENTS) as waiting:
        began = time.monotonic()
        # On a busy machine the first connections take their time.
        while (spent := time.monotonic() - began) < 0.6 or (most <= 1 and spent < 3):
            most = max(most, connections(backend))
    for answer in [one.result() for one in waiting]:
        # Some have waited for a connection longer than the implementation allows.
        if answer.status != 503:
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


def ran(messages: list[Message]) -> list[list[str]]:
    """What ran on each connection, in its order, by the contract's names."""
    used = dict.fromkeys(message.pid for message in messages if message.runs)
    return [runs([message for message in messages if message.pid == pid]) for pid in used]


@needs("DB_PERSISTENT")
@for_scenario("recipe")
def check_persistent(backend: Backend) -> None:
    """1: requests share connections, which stay; 0: a connection for each request, which runs all of it and is closed."""
    messages, left = logged(backend)
    used = len(ran(messages))
    told = f"DB_PERSISTENT=1, DB_POOL_MAX={POOL}, {N} requests: {used} connections, {left} left"
    assert 1 <= used <= POOL, told
    assert left, told

    messages, left = logged(backend, DB_PERSISTENT="0")
    each = [sum(not RESET.match(text) for text in texts) for texts in ran(messages)]
    told = f"DB_PERSISTENT=0, {N} requests: statements on each connection {each}, connections left {left}"
    assert [statements for statements in each if statements] == [8] * N, told
    assert not left, told


@needs("DB_PREPARE")
@for_scenario("recipe")
def check_prepared(backend: Backend) -> None:
    """1: each connection prepares a statement once, by name, and runs it from then on; 0: the text goes out every time."""
    messages, _ = logged(backend)
    text = {message.text[:60] for message in messages if message.runs and not message.prepared}
    assert not text, f"DB_PREPARE=1, but these ran unprepared: {text}"
    parsed = Counter((message.pid, message.name) for message in messages if message.kind == "parse")
    # A driver may give a name again only if it had thrown the statement away.
    again = {statement: times for statement, times in parsed.items() if times > 1}
    assert not again, f"DB_PREPARE=1, but statements are prepared again: {again}"
    # All nine queries may be prepared beforehand, though a request needs eight of them.
    used = len(ran(messages))
    assert 8 <= len(parsed) <= len(queries()) * used, (
        f"DB_PREPARE=1: {len(parsed)} preparations, {used} connections"
    )

    messages, _ = logged(backend, DB_PREPARE="0")
    named = {f"{message.kind} {message.name}" for message in messages if message.prepared}
    assert not named, f"DB_PREPARE=0, but these have names: {named}"
    times = sum(message.runs for message in messages)
    assert times == 8 * N, f"DB_PREPARE=0: {times} statements for {N} requests"


@needs("DB_RESET")
@for_scenario("recipe")
def check_reset(backend: Backend) -> None:
    """DB_RESET=1: one reset for each request, and the eight statements as ever; 0: no reset."""
    for settings, expected in ({"DB_RESET": "1"}, N), ({}, 0):
        calls = Counter(text for texts in ran(logged(backend, **settings)[0]) for text in texts)
        resets = {text: calls.pop(text) for text in [*calls] if RESET.match(text)}
        what = f"DB_RESET={settings.get('DB_RESET', '0')}, {N} requests"
        assert max(resets.values(), default=0) == expected, f"{what}: the resets are {resets}"
        assert calls == dict.fromkeys(RECIPE, N), f"{what}: not the eight {N} times each: {calls}"


@needs("DB_TIME_ZONE")
@for_scenario("recipe")
def check_time_zone(backend: Backend) -> None:
    """`request`: whatever asks the database sets the zone first, once, on its connection; `connection`: nothing does."""
    _assert_whole_requests(logged(backend)[0], "connection", RECIPE)
    stack, at_once = backend.stack, N * len([ZONE, *RECIPE])
    with cleared(stack), statement_log(stack) as read, backend.variant(DB_TIME_ZONE="request") as variant:
        ask(variant)
        due = _one_of_each(variant)
        wait_until(lambda: sum(one.runs for one in read(variant.host)) >= at_once + len(due), 1)
        messages = [one for one in read(variant.host) if one.runs]
    _assert_whole_requests(messages[:at_once], "request", [ZONE, *RECIPE])
    found = messages[at_once:]
    names = [spelled(one) for one in found]
    # The four reads of the dashboard, which come last, may run at once.
    names = [*(n for n in names if n not in READS), *sorted(n for n in names if n in READS)]
    assert names == due, f"DB_TIME_ZONE=request: statements are {names}, not {due}"
    elsewhere = [
        spelled(one) for zone, one in pairwise(found) if spelled(zone) == ZONE and zone.pid != one.pid
    ]
    assert not elsewhere, f"the zone is set on one connection, and these run on another: {elsewhere}"


def _assert_whole_requests(messages: list[Message], value: str, each: list[str]) -> None:
    """With several requests at once, every connection runs whole requests, each of which is `each`."""
    requests = [names[i : i + len(each)] for names in ran(messages) for i in range(0, len(names), len(each))]
    assert requests == [each] * N, f"DB_TIME_ZONE={value}, several at once: {requests}, not {N} times {each}"


def _one_of_each(backend: Backend) -> list[str]:
    """One request of each kind that is served; returns what the database has to be asked."""
    due = []
    if backend.implementation.serves("note-write"):
        assert_written(write(backend, 1, b'{"text":"x"}'), "a note")
        due += [ZONE, *NOTE]
    for scenario, path, key, status, statements in ONE_OF_EACH:
        if backend.implementation.serves(scenario):
            answer = backend.get(path, key)
            assert answer.status == status, f"DB_TIME_ZONE=request, {path} with the session {key!r}: {answer}"
            due += [ZONE, *statements] if statements else []
    return due


CHECKS = (check_pool_max, check_persistent, check_prepared, check_reset, check_time_zone)

"""The fixed pages, the notes and the dashboard."""

import html
import queue
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Self

from errors import HTML, TEXT, Answer, Failure
from models import Json, decode, encode, tagged
from repository import Connection, Pool, Row, rows, transaction
from session import Sessions

if TYPE_CHECKING:
    from routes import Request

INDEX = Path("/contract/golden/index.html").read_bytes()
LONGEST = 10_000


class Load:
    """Counts the requests that are being answered, and all that there were."""

    def __init__(self) -> None:
        self.busy = self.begun = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lock:
            self.busy += 1
            self.begun += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.busy -= 1


class Pages:
    """What needs no thought."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    def healthz(self) -> Answer:
        """GET /healthz"""
        return Answer(200, encode({"status": "ok"}, self._fault))

    def index(self) -> Answer:
        """GET /"""
        body = INDEX.strip() if self._fault == "wrong-page" else INDEX
        return Answer(200, body, TEXT if self._fault == "page-type" else HTML)


class PoolUse:
    """What the pool has counted."""

    def __init__(self, pool: Pool, load: Load, fault: str) -> None:
        self._pool, self._load, self._fault = pool, load, fault

    def read(self) -> Answer:
        """GET /pool"""
        checkouts, wait_s = self._pool.use()
        if self._fault == "pool-counts-requests":
            checkouts = self._load.begun
        scale = {"pool-never-waits": 0, "pool-waits-in-ms": 1e3}.get(self._fault, 1e6)
        use = {"checkouts": checkouts, "wait_us": int(wait_s * scale)}
        if self._fault == "pool-tells-text":
            return Answer(200, encode({name: str(number) for name, number in use.items()}, self._fault))
        return Answer(200, encode(use, self._fault))


class Notes:
    """A note and its event, in one transaction."""

    def __init__(self, pool: Pool, sessions: Sessions, load: Load, fault: str) -> None:
        self._pool, self._sessions, self._load, self._fault = pool, sessions, load, fault
        self._later = ThreadPoolExecutor(64, "later")

    def write(self, request: "Request", match: re.Match[str]) -> Answer:
        """POST /api/v1/recipes/{id}/notes"""
        recipe = self._sessions.recipe(match[1])
        key = self._sessions.key(request.cookie)
        text = self._text(request.body())
        if self._fault == "acknowledged-early":
            told: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()
            self._later.submit(self._late, told, key, recipe, text)
            answer = told.get()
            if isinstance(answer, Exception):
                raise answer
            return answer
        with self._pool.connection() as connection:
            if self._fault == "early-transaction":
                with transaction(connection):
                    user = self._sessions.user(connection, key)
                    return self._store(connection, user, recipe, text)
            user = self._sessions.user(connection, key)
            if self._fault == "no-transaction":
                return self._store(connection, user, recipe, text)
            lost = self._fault == "note-not-stored"
            lost = lost or (self._fault == "note-lost-under-load" and self._load.busy > 4)
            with transaction(connection, gives_up=lost):
                return self._store(connection, user, recipe, text)

    def _late(self, told: "queue.SimpleQueue[Answer | Exception]", key: str, recipe: int, text: str) -> None:
        try:
            with self._pool.connection() as connection:
                user = self._sessions.user(connection, key)
                with transaction(connection):
                    told.put(self._store(connection, user, recipe, text))
                    time.sleep(0.02)
        except Exception as error:
            told.put(error)

    def _store(self, connection: Connection, user: int, recipe: int, text: str) -> Answer:
        found = rows(connection, "note_insert", user, recipe, text)
        if self._fault == "note-twice":
            found = rows(connection, "note_insert", user, recipe, text)
        if not found and self._fault == "orphan-event":
            rows(connection, "event_insert", user, recipe)
            connection.execute("commit")
        if not found:
            raise Failure(404)
        if self._fault != "event-missing":
            rows(connection, "event_insert", user, recipe)
        return Answer(201, encode({"id": found[0]["id"]}, self._fault))

    def _text(self, data: bytes) -> str:
        found = decode(data)
        if self._fault == "sloppy-note" and isinstance(found, dict) and isinstance(found.get("text"), str):
            return str(found["text"])
        if not isinstance(found, dict) or found.keys() != {"text"} or not isinstance(found["text"], str):
            raise Failure(422)
        text: str = found["text"]
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise Failure(422)
        size = len(text.encode()) if self._fault == "bytes-for-characters" else len(text)
        if not 1 <= size <= LONGEST or "\0" in text:
            raise Failure(422)
        if self._fault == "note-escaped":
            return html.escape(text)
        return text.strip() or " " if self._fault == "note-trimmed" else text


class Dashboard:
    """Four reads at once."""

    READS = ("dashboard_recipes", "dashboard_teams", "dashboard_notes", "dashboard_events")

    def __init__(self, pool: Pool, sessions: Sessions, fault: str) -> None:
        self._pool, self._sessions, self._fault = pool, sessions, fault
        self._readers = ThreadPoolExecutor(256, "reader")
        self._cache: dict[str, bytes] = {}

    def read(self, request: "Request", match: re.Match[str]) -> Answer:
        """GET /api/v1/dashboard"""
        key = self._sessions.key(request.cookie)
        if key in self._cache:
            return Answer(200, self._cache[key])
        with self._pool.connection() as connection:
            user = self._sessions.user(connection, key)
            if self._fault == "session-held":
                found = self._reads(user)
        if self._fault != "session-held":
            found = self._reads(user)
        if self._fault == "wrong-dashboard":
            found["teams"] = [team | {"members": team["members"] + 1} for team in found["teams"]]
        body = encode({"user_id": user, **found}, self._fault)
        if self._fault == "dashboard-cached":
            self._cache[key] = body
        return Answer(200, body)

    def _reads(self, user: int) -> Json:
        run = map if self._fault == "reads-in-turn" else self._readers.map
        results = run(lambda query: self._one(query, user), self.READS)
        names = [query.removeprefix("dashboard_") for query in self.READS]
        return {
            name: [tagged(None, row) for row in found] for name, found in zip(names, results, strict=True)
        }

    def _one(self, query: str, user: int) -> list[Row]:
        with self._pool.connection() as connection:
            return rows(connection, query, user)

"""The recipes of the API: one by its id, one at random."""

import itertools
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import beforehand
from errors import Answer, Failure
from models import BEHIND as STATEMENTS
from models import Json, assembled, encode, recipe
from repository import Connection, Pool, Row, asked, rows, undecoded
from session import Sessions

if TYPE_CHECKING:
    from handlers import Load
    from routes import Request

BEHIND = 16


class Recipes:
    """Eight statements for each request, on one connection."""

    def __init__(self, pool: Pool, sessions: Sessions, load: "Load", fault: str) -> None:
        self._pool, self._sessions, self._load, self._fault = pool, sessions, load, fault
        self._cache: dict[str, Json] = {}
        self._answered = itertools.count(1)
        self._first: dict[int, Row] = {}
        self._shown: dict[int, Json] = {}
        self._behind, self._later = threading.Semaphore(BEHIND), ThreadPoolExecutor(BEHIND, "later")
        self._users: dict[str, int] = {}
        self._bodies: dict[int, tuple[list[bytes], bytes]] = {}
        self._besides = ThreadPoolExecutor(64, "besides")

    def random(self, request: "Request", match: re.Match[str]) -> Answer:
        """GET /api/v1/recipes"""
        return self._answer(None, request)

    def one(self, request: "Request", match: re.Match[str]) -> Answer:
        """GET /api/v1/recipes/{id}"""
        if self._fault == "eager-session":
            with self._pool.connection() as connection:
                self._sessions.user(connection, self._sessions.key(request.cookie))
        return self._answer(self._sessions.recipe(match[1]), request)

    def _answer(self, key: int | None, request: "Request") -> Answer:
        if self._fault == "rows-known":
            return Answer(200, self._kept(key, self._sessions.key(request.cookie)))
        body = encode(self._recipe(key, self._sessions.key(request.cookie)), self._fault)
        if self._fault == "long-body-at-times" and next(self._answered) % 200 == 0:
            body += b" "
        if self._fault == "few-altered" and random.random() < 0.003:
            at = body.index(b'"name":"') + len(b'"name":"')
            body = body[:at] + body[at : at + 1].swapcase() + body[at + 1 :]
        if self._fault == "filler" and request.agent.startswith("oha/"):
            body = b"x" * len(body)
        return Answer(200, body)

    def _kept(self, key: int | None, session: str) -> bytes:
        with self._pool.connection() as connection:
            head = self._visible(connection, self._sessions.user(connection, session), key)
            cursors = [asked(connection, query, head["id"]) for query in STATEMENTS]
            seen = [str(head).encode(), *map(undecoded, cursors)]
        known, body = self._bodies.get(head["id"], (None, b""))
        if known != seen:
            body = encode(assembled(head, [cursor.fetchall() for cursor in cursors]), self._fault)
            self._bodies[head["id"]] = seen, body
        return body

    def _recipe(self, key: int | None, session: str) -> Json:
        question = f"{session} {key}"
        if self._fault == "cached" and question in self._cache:
            return self._cache[question]
        if self._fault == "answers-first" and question in self._cache and self._behind.acquire():
            self._later.submit(self._afterwards, key, session)
            return self._cache[question]
        body = self._asked(key, session)
        if self._fault == "known-beforehand":
            return beforehand.recipe(body["id"])
        if self._fault == "rows-dropped":
            return self._shown.setdefault(body["id"], body)
        self._cache[question] = body
        return body

    def _afterwards(self, key: int | None, session: str) -> None:
        try:
            self._asked(key, session)
        finally:
            self._behind.release()

    def _asked(self, key: int | None, session: str) -> Json:
        if self._fault == "session-ahead" and session in self._users:
            alone = self._besides.submit(self._user_alone, session)
            try:
                with self._pool.connection() as connection:
                    return self._found(connection, self._users[session], key, session)
            finally:
                alone.result()  # fails for whoever has no session any more
        with self._pool.connection() as connection:
            user = self._users[session] = self._sessions.user(connection, session)
            return self._found(connection, user, key, session)

    def _user_alone(self, session: str) -> int:
        with self._pool.connection() as connection:
            return self._sessions.user(connection, session)

    def _found(self, connection: Connection, user: int, key: int | None, session: str) -> Json:
        question = f"{session} {key}"
        if self._fault == "rows-not-found" and self._load.busy > 4 and question in self._cache:
            rows(connection, "recipe_by_id", user, 0)
            recipe(connection, {"id": 0, "content_type_id": 1, "object_id": user}, self._fault)
            return self._cache[question]
        if self._fault == "others-visible" and key is not None:
            user = (key - 1) // 50 + 1
        return self._spoil(recipe(connection, self._visible(connection, user, key), self._fault))

    def _visible(self, connection: Connection, user: int, key: int | None) -> Row:
        if key is None:
            found = rows(connection, "recipe_random", user)
            if self._fault == "not-random" and found:
                found = rows(connection, "recipe_by_id", user, (user - 1) * 50 + 1)
        else:
            found = rows(connection, "recipe_by_id", user, key)
        if self._fault == "first-recipe" and key is None and self._load.busy > 4:
            found = [self._first.setdefault(user, found[0])]
        if not found:
            raise Failure(404)
        return found[0]

    def _spoil(self, body: Json) -> Json:
        if self._fault == "wrong-body" and body["id"] % 7 == 0:
            return body | {"edits": body["edits"] + 1}
        if self._fault == "short-body-under-load" and self._load.busy > 4:
            return body | {"steps": body["steps"][:-1]}
        return body

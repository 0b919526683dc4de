"""Which request gets which answer; every fault of the answers themselves is in here."""

import re
import threading
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from config import Config
from models import Json, encode, recipe
from repository import Connection, Pool, Unavailable, rows

RECIPES = re.compile(r"/api/v1/recipes(?:/([^/]+))?")
MOST = 2**31 - 1
ALLOW = {"Allow": "GET, HEAD"}


class Failure(Exception):
    """An answer other than 200: its status and the word for it."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


@dataclass
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


class Application:
    """Answers requests, on any number of threads."""

    def __init__(self, config: Config) -> None:
        self._fault = config.fault
        self._pool = Pool(config)
        self._cache: dict[str, Json] = {}
        self._lock = threading.Lock()
        self._busy = 0

    def answer(self, method: str, target: str, cookie: str) -> Answer:
        """The answer to one request; `target` is the raw path with the query."""
        path, _, query = target.partition("?")
        if self._fault == "query-is-id" and query.startswith("id="):
            path = f"/api/v1/recipes/{query[3:]}"
        with self._lock:
            self._busy += 1
        try:
            return self._json(200, self._route(method, path, cookie))
        except Unavailable:
            if self._fault == "swallow-db-errors":
                return self._json(200, {"recipes": []})
            return self._json(503, {"error": "database unavailable"})
        except Failure as failure:
            return self._failed(failure)
        finally:
            with self._lock:
                self._busy -= 1

    def _failed(self, failure: Failure) -> Answer:
        if failure.status == 404 and self._fault == "html-errors":
            return Answer(404, b"<h1>Not Found</h1>", {"Content-Type": "text/html"})
        answer = self._json(failure.status, {"error": failure.error})
        if failure.status == 405:
            answer.headers |= {"Allow": "GET, HEAD, POST"} if self._fault == "wrong-allow" else ALLOW
        return answer

    def _json(self, status: int, value: Json) -> Answer:
        return Answer(status, encode(value, self._fault))

    def _route(self, method: str, path: str, cookie: str) -> Json:
        match = RECIPES.fullmatch(path)
        if not match and path != "/healthz":
            raise Failure(404, "not found")
        if method not in (("GET",) if self._fault == "head-refused" else ("GET", "HEAD")):
            raise Failure(405, "method not allowed")
        if not match:
            return {"status": "ok"}
        if self._fault == "eager-session":
            with self._pool.connection() as connection:
                self._user(connection, self._session_key(cookie))
        key = None if match[1] is None else self._id(match[1])
        return self._recipe(key, self._session_key(cookie))

    def _id(self, text: str) -> int:
        shape = r"[+-]?[0-9]+" if self._fault == "sloppy-id" else r"[1-9][0-9]*"
        if not re.fullmatch(shape, text) or not 0 < int(text[:20]) <= MOST:
            raise Failure(400, "bad request")
        return int(text)

    def _session_key(self, cookie: str) -> str:
        if self._fault == "odd-cookie-500" and not cookie.isascii():
            raise Failure(500, "internal error")
        if self._fault == "first-cookie-only":
            cookie = cookie.partition(";")[0]
        try:
            morsel = SimpleCookie(cookie).get("sessionid")
        except CookieError:
            return ""
        # The bytes of a header arrive as Latin-1. A key that is not ASCII cannot be one of ours.
        return morsel.value if morsel and morsel.value.isascii() and "\0" not in morsel.value else ""

    def _recipe(self, key: int | None, session: str) -> Json:
        question = f"{session} {key}"
        if self._fault == "cached" and question in self._cache:
            return self._cache[question]
        with self._pool.connection() as connection:
            user = self._user(connection, session)
            if self._fault == "extra-statement":
                connection.execute("select 1")
            if self._fault == "others-visible" and key is not None:
                user = (key - 1) // 50 + 1
            if key is None:
                found = rows(connection, "recipe_random", user)
                if self._fault == "not-random" and found:
                    found = rows(connection, "recipe_by_id", user, (user - 1) * 50 + 1)
            else:
                found = rows(connection, "recipe_by_id", user, key)
            if not found:
                raise Failure(404, "no such recipe" if self._fault == "wrong-error" else "not found")
            body = self._spoil(recipe(connection, found[0], self._fault))
        self._cache[question] = body
        return body

    def _user(self, connection: Connection, session: str) -> int:
        found = rows(connection, "session", session)
        if self._fault == "expired-accepted" and not found:
            text = "select user_id from user_sessions_session where session_key = %s"
            found = connection.execute(text, [session]).fetchall()
        if not found and self._fault == "session-ignored":
            return 1
        if not found:
            raise Failure(401, "unauthorized")
        return int(found[0]["user_id"])

    def _spoil(self, body: Json) -> Json:
        if self._fault == "wrong-body" and body["id"] % 7 == 0:
            return body | {"edits": body["edits"] + 1}
        if self._fault == "short-body-under-load" and self._busy > 4:
            return body | {"steps": body["steps"][:-1]}
        return body

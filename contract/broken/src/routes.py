"""Which request gets which answer: path, then method, then the handler and what it refuses."""

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

import handlers
from config import Config
from errors import HTML, JSON, Answer, Failure
from models import encode
from recipes import Recipes
from repository import Pool, Unavailable
from session import Sessions
from users import Users
from work import Work


@dataclass
class Request:
    """What a handler is asked; the body is read when it is called for."""

    method: str
    target: str
    cookie: str
    agent: str
    body: Callable[[], bytes]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]


Handler = Callable[[Request, re.Match[str]], Answer]


class Application:
    """Answers requests, on any number of threads."""

    def __init__(self, config: Config) -> None:
        self._fault = fault = config.fault
        self.pool = pool = Pool(config)
        load = handlers.Load()
        sessions = Sessions(pool, fault, config.time_zone)
        pages = handlers.Pages(fault)
        users = Users(fault)
        work = Work(config, load)
        recipes = Recipes(pool, sessions, load, fault)
        notes = handlers.Notes(pool, sessions, load, fault)
        dashboard = handlers.Dashboard(pool, sessions, fault)
        self._load = load
        index = "/" if fault == "index-only-root" else r"/(?:index\.html?)?"
        reads = "GET, HEAD"
        table: list[tuple[str, str, Handler]] = [
            ("/healthz", reads, lambda request, match: pages.healthz()),
            (index, reads, lambda request, match: pages.index()),
            ("/user/?", "POST", lambda request, match: users.create()),
            (r"/user/([0-9]+)/?", "GET, HEAD, PUT, DELETE", users.one),
            ("/users/?", reads, lambda request, match: users.list()),
            ("/work", "POST", lambda request, match: work.answer(request.query, request.body)),
            ("/api/v1/recipes", reads, recipes.random),
            ("/api/v1/recipes/([^/]+)", reads, recipes.one),
            ("/api/v1/recipes/([^/]+)/notes", "POST", notes.write),
            ("/api/v1/dashboard", reads, dashboard.read),
        ]
        if pool.tells:
            use = handlers.PoolUse(pool, load, fault)
            table.append(("/pool", reads, lambda request, match: use.read()))
        self._table = [(re.compile(path), allow, handler) for path, allow, handler in table]

    def answer(self, request: Request) -> Answer:
        """The answer to one request."""
        if self._fault == "query-is-id" and request.query.startswith("id="):
            request.target = f"/api/v1/recipes/{request.query[3:]}"
        with self._load:
            try:
                return self._route(request)
            except Unavailable:
                if self._fault == "slow-503":
                    time.sleep(7)
                if self._fault == "note-acknowledged-anyway" and request.method == "POST":
                    return Answer(201, b'{"id":1}')
                if self._fault == "swallow-db-errors":
                    return Answer(200, encode({"recipes": []}, self._fault))
                return self._failed(Failure(503))
            except Failure as failure:
                return self._failed(failure)
            except psycopg.Error as error:
                if self._fault != "bugs-unlogged":
                    print(f"{request.method} {request.path}: {error!r}", file=sys.stderr)
                return self._failed(Failure(500))

    def _failed(self, failure: Failure) -> Answer:
        word = "no session" if self._fault == "wrong-error" and failure.status == 401 else failure.error
        answer = Answer(failure.status, encode({"error": word}, self._fault), JSON)
        if failure.status == 405:
            answer.headers["Allow"] = failure.allow
        return answer

    def _route(self, request: Request) -> Answer:
        for path, allow, handler in self._table:
            match = path.fullmatch(request.path)
            if match:
                allowed = allow.split(", ")
                if self._fault == "head-refused":
                    allowed.remove("HEAD") if "HEAD" in allowed else None
                if self._fault == "any-method":
                    return handler(request, match)
                # POST to a user has an answer of its own, though it is not allowed.
                if request.method not in allowed and not (request.method == "POST" and "PUT" in allowed):
                    raise Failure(405, allow=allow)
                return handler(request, match)
        if self._fault == "pages-for-all":
            return Answer(200, b"<h1>Welcome</h1>", HTML)
        raise Failure(404)

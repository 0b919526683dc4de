"""One running application, as a client sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import httpx

from contract_checks.catalog import Implementation
from contract_checks.docker import address, end_of_log, wait_until

if TYPE_CHECKING:
    from contract_checks.stack import Stack

Headers = Sequence[tuple[bytes, bytes]]
DIRECT = "postgresql://app:app@db:5432/tandem?sslmode=disable"
POOLED = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"


@dataclass(frozen=True)
class Answer:
    """A response, read to its end."""

    status: int
    headers: httpx.Headers
    body: bytes
    seconds: float
    asked: str = ""  # the request, for a message

    @property
    def media_type(self) -> str:
        """Of Content-Type, without parameters such as `charset`."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    def __str__(self) -> str:
        return f"{self.status} {self.headers.get('content-type')} {self.body[:300]!r}"


def cookie(session: str | None) -> Headers:
    """The header of a session; none without one."""
    return [] if session is None else [(b"cookie", b"sessionid=" + session.encode())]


def at_once[Item, Result](ask: Callable[[Item], Result], items: Iterable[Item], clients: int) -> list[Result]:
    """What `ask` gives for each item, asked by so many clients; raises what the first of them raises."""
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(ask, items))


@dataclass(eq=False)
class Backend:
    """A container of an implementation; `environment` is what was set for it and is for its variants, too."""

    stack: Stack
    implementation: Implementation
    container: str
    host: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.port = int(self.environment.get("PORT", "8080"))
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
        self._client = httpx.Client(timeout=20, limits=limits, trust_env=False)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def request(self, method: str, path: str, headers: Headers = (), content: bytes | None = None) -> Answer:
        """Sends one request; path, headers and body go out byte for byte."""
        url = httpx.URL(scheme="http", host=self.host, port=self.port, raw_path=path.encode())
        response = self._client.request(method, url, headers=list(headers), content=content)
        seconds = response.elapsed.total_seconds()
        asked = [f"{method} {path[:100]}", *(f"{name!r}: {value[:80]!r}" for name, value in headers)]
        if content is not None:
            asked.append(f"body {content[:80]!r}, {len(content)} bytes")
        return Answer(response.status_code, response.headers, response.content, seconds, "  ".join(asked))

    def get(self, path: str, session: str | None = None) -> Answer:
        """GET, with the session's cookie where one is given."""
        return self.request("GET", path, cookie(session))

    def alive(self) -> bool:
        """Whether /healthz says so, on a connection that does not stay and hold a thread."""
        try:
            return self.request("GET", "/healthz", [(b"connection", b"close")]).status == 200
        except httpx.TransportError:
            return False

    def wait_alive(self) -> None:
        """Waits for /healthz; raises AssertionError with the end of the log when it does not come."""
        limit_s = self.stack.patience_s
        assert wait_until(self.alive, limit_s), (
            f"{self.implementation.name} did not answer {self.url}/healthz within {limit_s:.0f} s; "
            f"the end of its log:\n{end_of_log(self.container)}"
        )

    @contextmanager
    def variant(self, **settings: str) -> Iterator[Backend]:
        """The same image once more beside this one, with other settings, connected to PostgreSQL directly.

        What is not given is the image's own default, so this also tests those. A variant of a variant
        has the settings of both.
        """
        environment = {**self.environment, **settings}
        with self.stack.started(self.implementation, {"DATABASE_URL": DIRECT, **environment}) as container:
            host = address(container)
            with closing(replace(self, container=container, host=host, environment=environment)) as backend:
                backend.wait_alive()
                yield backend

    def close(self) -> None:
        self._client.close()

"""One running application, as a client sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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


def told(method: str, path: str, headers: Headers = (), content: bytes | None = None) -> str:
    """A request in one line, for a message."""
    parts = [f"{method} {path[:100]}"]
    parts += [f"{name.decode('latin-1')}: {value[:80].decode('latin-1')}" for name, value in headers]
    return "  ".join(
        [*parts, *([f"body {content[:80]!r}, {len(content)} bytes"] if content is not None else [])]
    )


class Backend:
    """A container of an implementation; `environment` is what was set for it and is for its variants, too."""

    def __init__(
        self,
        stack: Stack,
        implementation: Implementation,
        container: str,
        host: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.stack, self.implementation, self.container, self.host = stack, implementation, container, host
        self.environment = dict(environment or {})
        self.port = int(self.environment.get("PORT", "8080"))
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
        self._client = httpx.Client(timeout=20, limits=limits, follow_redirects=False, trust_env=False)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def request(self, method: str, path: str, headers: Headers = (), content: bytes | None = None) -> Answer:
        """Sends one request; path, headers and body go out byte for byte."""
        url = httpx.URL(scheme="http", host=self.host, port=self.port, raw_path=path.encode())
        response = self._client.request(method, url, headers=list(headers), content=content)
        seconds = response.elapsed.total_seconds()
        asked = told(method, path, headers, content)
        return Answer(response.status_code, response.headers, response.content, seconds, asked)

    def get(self, path: str, session: str | None = None) -> Answer:
        """GET, with the session's cookie where one is given."""
        headers = [] if session is None else [(b"cookie", b"sessionid=" + session.encode())]
        return self.request("GET", path, headers)

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
        settings = {"DATABASE_URL": DIRECT, **environment}
        with self.stack.started(self.implementation, settings) as container:
            host = address(container)
            backend = Backend(self.stack, self.implementation, container, host, environment)
            try:
                backend.wait_alive()
                yield backend
            finally:
                backend.close()

    def close(self) -> None:
        self._client.close()

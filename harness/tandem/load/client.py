"""A scenario's requests: as the harness sends them itself, and as the generator is told to."""

import hashlib
import itertools
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import httpx

from tandem.catalog.golden import Answers, bodies_of
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.load import generator
from tandem.probes.sampler import Wrong

OPEN_CONNECTIONS_FACTOR = 4
"""An open loop has this many times the connections, so that waiting answers do not hold sends back."""


def session_key(user: int) -> str:
    """The key of a user's valid session (contract/sql/seed.sql)."""
    return hashlib.md5(f"session {user}".encode(), usedforsecurity=False).hexdigest()


AT_ONCE = 2
"""Requests of a look that are under way. Far from the database most of the time is waiting."""


class Look(NamedTuple):
    """The number of answers that are looked at: `most`, or those of `within_s` where they are slow, but `least`."""

    most: int
    least: int
    within_s: float


BEFORE_LOAD = Look(10, 3, 1.0)
WITHOUT_LOAD = Look(60, 10, 3.0)
"""Looks where no load follows in which every answer counts: a fault of one answer in seven must be seen."""


class Client:
    """Asks one running application, as the generator does."""

    def __init__(self, scenario: Scenario, answers: Answers, address: str, host: str | None = None) -> None:
        """address: host:port of what the client sees. host: its name as the generator sends it; None: the address."""
        self.scenario, self.answers, self.address, self._host = scenario, answers, address, host or address
        self.bodies = bodies_of(scenario, answers)
        self._asked = itertools.count()
        self._http = httpx.Client(base_url=f"http://{address}", timeout=scenario.timeout_s, verify=False)
        # httpx's own headers would tell these requests from the load's. What is left is the place of Host.
        self._http.headers.clear()
        self._http.headers.update(self.sent_headers)

    @property
    def sent_headers(self) -> dict[str, str]:
        """All that a request has, as the generator sends them; names in lower case."""
        length = {} if self.bodies is None else {"content-length": str(len(self.bodies.each[0]))}
        own = {name.lower(): value for name, value in self.headers.items()}
        return {**generator.HEADERS, **own, "host": self._host, **length}

    @property
    def headers(self) -> dict[str, str]:
        """Headers: the scenario's own, the session's cookie, and the type of the body where there is one."""
        headers = dict(self.scenario.headers)
        if self.scenario.session_user is not None:
            headers["Cookie"] = f"sessionid={session_key(self.scenario.session_user)}"
        if self.scenario.body is not None and "content-type" not in {name.lower() for name in headers}:
            headers["Content-Type"] = "application/json"
        return headers

    def drawn_body(self) -> bytes | None:
        """The body of one request."""
        return random.choice(self.bodies.each) if self.bodies else None

    def prepare(self) -> None:
        """Sends what the scenario wants sent beforehand. Raises TandemError if one of it is refused."""
        if before := self.scenario.before:
            for _ in range(before.times):
                answer = self._http.request(before.method, before.path, headers={"content-length": "0"})
                if answer.status_code != 200:
                    raise TandemError(f"{before.method} {before.path} answered {answer.status_code}")

    def ask(self) -> Wrong | None:
        """Sends the next request (the ids in turn); returns what is wrong with the answer, or None."""
        keys = self.scenario.keys
        key = keys[next(self._asked) % len(keys)] if keys else None
        path = self.scenario.path_of(key)
        body = self.drawn_body()
        try:
            with self._http.stream(self.scenario.method, path, content=body) as answer:
                found = b"".join(answer.iter_raw())  # as it travels: compressed, where the server does that
        except httpx.HTTPError as error:
            return Wrong(f"{path}: {error!r}", body=False)
        if answer.status_code != self.scenario.status:
            return Wrong(
                f"{path}: status {answer.status_code}: {found[:80].decode(errors='replace')}", body=False
            )
        different = self.answers.difference(found, key, body or b"")
        return Wrong(f"{path}: {different}", body=True) if different else None

    def look(self, look: Look) -> list[Wrong | None]:
        """Asks so many times, AT_ONCE side by side; what is wrong with each answer."""
        began, found = time.monotonic(), list[Wrong | None]()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while len(found) < look.least or (
                len(found) < look.most and time.monotonic() - began < look.within_s
            ):
                found += pool.map(lambda _: self.ask(), range(AT_ONCE))
        return found

    def status(self) -> int:
        """The bare status of the scenario's first request."""
        path = self.scenario.path_of(next(iter(self.scenario.keys), None))
        return self._http.request(self.scenario.method, path, content=self.drawn_body()).status_code

    def load(self, target: str, threads: int, duration_s: int, rate_rps: int | None) -> generator.Load:
        """The load of a window. target: where the generator asks, such as http://proxy:8080."""
        scenario, base = self.scenario, target
        return generator.Load(
            url=base + scenario.path,
            duration_s=duration_s,
            connections=scenario.connections * (OPEN_CONNECTIONS_FACTOR if rate_rps else 1),
            threads=threads,
            headers=self.headers,
            rate_rps=rate_rps,
            urls=[base + scenario.path_of(key) for key in scenario.keys] or None,
            method=scenario.method,
            bodies=self.bodies,
            timeout_s=scenario.timeout_s,
            retries=scenario.retries,
            requests_per_connection=scenario.requests_per_connection,
            weight=scenario.weight,
        )

    def close(self) -> None:
        self._http.close()

"""What the application's own pool of database connections tells of itself: `GET /pool` (contract/README.md)."""

import json
from dataclasses import dataclass

import httpx

PORT = 8080
NAMES = ("checkouts", "wait_us")
TIMEOUT_S = 5
"""Right after an overload the application may still be busy with what nobody waits for any more."""


@dataclass(frozen=True)
class PoolCounters:
    checkouts: int
    wait_us: int


@dataclass(frozen=True)
class PoolUse:
    """The pool's counters just before and just after a load."""

    before: PoolCounters
    after: PoolCounters

    @property
    def wait_ms(self) -> float | None:
        """Mean wait per checkout; None without any, or where the counters began anew in between."""
        checkouts = self.after.checkouts - self.before.checkouts
        wait_us = self.after.wait_us - self.before.wait_us
        return wait_us / checkouts / 1e3 if checkouts > 0 and wait_us >= 0 else None


class AppPool:
    """Asks the application itself, on a connection that does not stay: one that does may keep a thread."""

    def __init__(self, address: str) -> None:
        """address: of the application's container."""
        self._url = f"http://{address}:{PORT}/pool"

    def read(self) -> PoolCounters | None:
        """The counters since the application's start; None where it does not tell with these settings (404), or not in
        time: that costs a window this figure and nothing else.

        Raises httpx.HTTPStatusError with another status, KeyError for a body of another shape.
        """
        try:
            answer = httpx.get(self._url, headers={"Connection": "close"}, timeout=TIMEOUT_S, trust_env=False)
        except httpx.TransportError:
            return None
        if answer.status_code == 404:
            return None
        return parse(answer.raise_for_status().text)


def parse(text: str) -> PoolCounters:
    """Reads the body of `GET /pool`. Raises KeyError if it has another shape."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or any(type(found.get(name)) is not int for name in NAMES):
        raise KeyError(f"GET /pool returned {text[:100]!r}")
    return PoolCounters(*(found[name] for name in NAMES))

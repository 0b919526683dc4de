"""Clients that ask one application at once, each on a connection of its own, and keep whole answers with their times."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Self

from tandem.catalog.golden import Sent
from tandem.load.client import Client

TIMEOUT_S = 5
LOOK_S = 0.005


@dataclass(frozen=True)
class TimedAnswer:
    """One request and its answer. Times: time.monotonic(), right before it was sent and once all of it was there."""

    key: int | str | None
    """What stands for {id} in its path, where it has that."""
    began_s: float
    ended_s: float
    status: int
    """Status of the answer; 0: none."""
    body: bytes
    stored: bool | None = None
    """Whether what it acknowledged could be read right afterwards; None where nothing was looked for."""
    right: bool | None = None
    """Whether it is the answer to a body of its own; None where all send the same."""


class Clients:
    """Threads that send what the client would, drawn ids, one after the other. Use it as a context; `asks` says how
    many of them do. stored: says of a right answer's body whether what it acknowledges can be read."""

    bodies: Callable[[], Sent] | None = None
    """Makes the body of each request; None: those of the load."""

    def __init__(self, client: Client, most: int, stored: Callable[[bytes], bool] | None = None) -> None:
        self.told: list[TimedAnswer] = []
        self._client, self._stored = client, stored
        self._headers = client.sent_headers
        self._active, self._busy, self._ended, self._changed = 0, 0, False, threading.Condition()
        self._most, self._threads = most, ThreadPoolExecutor(most)

    def __enter__(self) -> Self:
        self._running = [self._threads.submit(self._ask, number) for number in range(self._most)]
        return self

    def __exit__(self, *_: object) -> None:
        """Waits for the answers to what was sent. Raises what looking for what was acknowledged met."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._threads.shutdown()
        for one in self._running:
            one.result()

    def asks(self, number: int) -> None:
        """Let this number of clients ask from now on."""
        with self._changed:
            self._active = number
            self._changed.notify_all()

    def rests(self) -> None:
        """Let no client ask from now on; returns once all is answered."""
        with self._changed:
            self._active = 0
            self._changed.wait_for(lambda: self._busy == 0)

    def answered(
        self, number: int, within_s: float, since_s: float = 0.0, least: int = 0, longest_s: float = 0.0
    ) -> None:
        """Returns once so many requests that were sent since then are answered; after `within_s` at least so many, and
        after `longest_s` however few."""
        began_s = time.monotonic()
        while (passed_s := time.monotonic() - began_s) < max(within_s, longest_s):
            wanted = number if passed_s < within_s else least
            if sum(one.began_s >= since_s for one in self.told) >= wanted:
                return
            time.sleep(LOOK_S)

    def _ask(self, number: int) -> None:
        host, _, port = self._client.address.partition(":")
        with closing(HTTPConnection(host, int(port), timeout=TIMEOUT_S)) as connection:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: number < self._active or self._ended)
                    if self._ended:
                        return
                    self._busy += 1
                try:
                    self.told.append(self._once(connection))
                finally:
                    with self._changed:
                        self._busy -= 1
                        if not self._active and not self._busy:
                            self._changed.notify_all()

    def _once(self, connection: HTTPConnection) -> TimedAnswer:
        scenario = self._client.scenario
        key = random.choice(scenario.keys) if scenario.keys else None
        own = self.bodies() if self.bodies is not None else None
        sent = self._client.drawn_body() if own is None else own.body
        status, body = 0, b""
        began_s = time.monotonic()
        try:
            path = scenario.path_of(key)
            connection.putrequest(scenario.method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in self._headers.items():
                connection.putheader(name, value)
            connection.endheaders(sent)
            answer = connection.getresponse()
            body, status = answer.read(), answer.status
        except (OSError, HTTPException):
            connection.close()
        ended_s = time.monotonic()
        stored = self._stored(body) if self._stored is not None and status == scenario.status else None
        right = (status, body) == (scenario.status, own.answer) if own is not None else None
        return TimedAnswer(key, began_s, ended_s, status, body, stored, right)

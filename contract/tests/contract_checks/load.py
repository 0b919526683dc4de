"""Clients that read and write without a pause, and what they were told."""

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from contract_checks.backend import Backend
from contract_checks.golden import RECIPES, session, table

CLIENTS = 8
PAUSE_S = 0.02
READ, WRITTEN = 1, 2  # two recipes, because a note changes the body of its recipe
HEADERS = {"Cookie": f"sessionid={session(1)}"}
SEEDED_NOTES, SEEDED_EVENTS = len(table()) * 4 + 1, len(table()) * 6 + 1  # setval in contract/sql/seed.sql


@dataclass(frozen=True)
class Told:
    """One request: when it began and ended, and its answer; status 0 stands for no answer."""

    client: int
    began: float
    ended: float
    status: int
    body: bytes
    text: str | None  # of the note, when it was a write

    @property
    def right(self) -> bool:
        return self.status == (200 if self.text is None else 201)

    def __str__(self) -> str:
        what = "GET recipe" if self.text is None else "POST note"
        return (
            f"{what}: {self.status or 'no answer'} after {self.ended - self.began:.1f} s {self.body[:200]!r}"
        )


@dataclass
class Load:
    """Half of the clients read recipe 1, half add notes to recipe 2."""

    backend: Backend
    pause_s: float = PAUSE_S
    told: list[Told] = field(default_factory=list)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    stop: threading.Event = field(default_factory=threading.Event)

    def client(self, number: int) -> None:
        """Works until `stop`."""
        url = f"{self.backend.url}{RECIPES}"
        with httpx.Client(timeout=15, trust_env=False, headers=HEADERS) as client:
            for count in range(1_000_000):
                if self.stop.wait(self.pause_s):
                    return
                text = f"{self.name} {number} {count}" if number % 2 else None
                began = time.monotonic()
                try:
                    if text:
                        answer = client.post(f"{url}/{WRITTEN}/notes", json={"text": text})
                    else:
                        answer = client.get(f"{url}/{READ}")
                    status, body = answer.status_code, answer.content
                except httpx.TransportError as error:
                    status, body = 0, repr(error).encode()
                self.told.append(Told(number, began, time.monotonic(), status, body, text))

    def steady(self, since: float, times: int = 5) -> bool:
        """Whether each client got that many right answers in a row, the last ones, since that moment."""
        for number in range(CLIENTS):
            mine = [one for one in self.told if one.client == number and one.began >= since]
            if len(mine) < times or not all(one.right for one in mine[-times:]):
                return False
        return True

    def assert_ledger(self) -> None:
        """Every acknowledged note is stored once, with its event; no other is stored twice."""
        rows = self.backend.stack.query(
            "select id, text from core_note where id > %s and starts_with(text, %s)", SEEDED_NOTES, self.name
        )
        stored = Counter(text for _, text in rows)
        twice = [text for text, number in stored.items() if number > 1]
        assert not twice, f"{len(twice)} notes are stored more than once, such as {twice[0]!r}"
        ids = {text: key for key, text in rows}
        acknowledged = [one for one in self.told if one.text and one.right]
        assert acknowledged, "no note was acknowledged"
        lost = [one for one in acknowledged if ids.get(one.text or "") != json.loads(one.body)["id"]]
        assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged notes are not stored: {lost[0]}"
        (events,) = self.backend.stack.query(
            "select count(*) from timeline_event where id > %s and action = 'note added'", SEEDED_EVENTS
        )[0]
        assert events == len(rows), f"{len(rows)} notes are stored, with {events} events"


@contextmanager
def load(backend: Backend, pause_s: float = PAUSE_S) -> Iterator[Load]:
    """The clients at work; afterwards they have stopped. What they wrote is removed at the end."""
    work = Load(backend, pause_s)
    _remove(backend)
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = [pool.submit(work.client, number) for number in range(CLIENTS)]
            try:
                yield work
            finally:
                work.stop.set()
        for client in clients:
            client.result()
        work.assert_ledger()
    finally:
        _remove(backend)


def _remove(backend: Backend) -> None:
    with backend.stack.connect() as connection:
        connection.execute("delete from core_note where id > %s", [SEEDED_NOTES])
        connection.execute("delete from timeline_event where id > %s", [SEEDED_EVENTS])

"""Clients that read and write without a pause, and what they were told."""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from contract_checks.backend import Backend
from contract_checks.golden import RECIPES, session, table
from contract_checks.work import JSON

CLIENTS = 8
PAUSE_S = 0.02
STEADY = 5
READ, WRITTEN = 1, 2  # two recipes, because a note changes the body of its recipe
COOKIE = (b"cookie", b"sessionid=" + session(1).encode())
SEEDED_NOTES, SEEDED_EVENTS = len(table()) * 4 + 1, len(table()) * 6 + 1  # setval in contract/sql/seed.sql


@dataclass(frozen=True)
class Told:
    """One request: when it began and ended, and its answer."""

    client: int
    began: float
    ended: float
    status: int
    body: bytes
    text: str | None  # of the note, when it was a write

    @property
    def right(self) -> bool:
        return self.status == (201 if self.text else 200)

    def __str__(self) -> str:
        what = "POST note" if self.text else "GET recipe"
        return f"{what}: {self.status} after {self.ended - self.began:.1f} s {self.body[:200]!r}"


@dataclass
class Load:
    """Half of the clients read recipe 1, half add notes to recipe 2."""

    backend: Backend
    pause_s: float
    told: list[Told] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def client(self, number: int) -> None:
        """Works until `stop`."""
        while not self.stop.wait(self.pause_s):
            text = str(uuid.uuid4()) if number % 2 else None
            began = time.monotonic()
            if text:
                note = json.dumps({"text": text}).encode()
                answer = self.backend.request("POST", f"{RECIPES}/{WRITTEN}/notes", [COOKIE, *JSON], note)
            else:
                answer = self.backend.request("GET", f"{RECIPES}/{READ}", [COOKIE])
            self.told.append(Told(number, began, time.monotonic(), answer.status, answer.body, text))

    def steady(self, since: float) -> bool:
        """Whether the last STEADY answers to each client are right, and to requests since that moment."""
        for number in range(CLIENTS):
            mine = [one.right for one in self.told if one.client == number and one.began >= since]
            if mine[-STEADY:] != [True] * STEADY:
                return False
        return True

    def assert_ledger(self) -> None:
        """Every acknowledged note is stored once, with its event; no other is stored twice."""
        query = self.backend.stack.query
        rows = query("select text, id from core_note where id > %s", SEEDED_NOTES)
        ids = dict(rows)
        assert len(ids) == len(rows), f"{len(rows) - len(ids)} notes are stored more than once"
        acknowledged = [one for one in self.told if one.text and one.right]
        assert acknowledged, "no note was acknowledged"
        lost = [one for one in acknowledged if ids.get(one.text) != json.loads(one.body)["id"]]
        assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged notes are not stored: {lost[0]}"
        added = "select count(*) from timeline_event where id > %s and action = 'note added'"
        events = query(added, SEEDED_EVENTS)[0][0]
        assert events == len(rows), f"{len(rows)} notes are stored, with {events} events"


@contextmanager
def load(backend: Backend, pause_s: float = PAUSE_S) -> Iterator[Load]:
    """The clients at work; afterwards they have stopped. What they wrote is removed at the end."""
    work = Load(backend, pause_s)
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = pool.map(work.client, range(CLIENTS))
            try:
                yield work
            finally:
                work.stop.set()
        list(clients)  # raises what one of them has met
        work.assert_ledger()
    finally:
        with backend.stack.connect() as connection:
            connection.execute("delete from core_note where id > %s", [SEEDED_NOTES])
            connection.execute("delete from timeline_event where id > %s", [SEEDED_EVENTS])

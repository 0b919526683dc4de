"""After the windows of a visit: a table is locked while it is asked for, and the data change. An application that answers
from memory, before its statements, or without heeding what they found, shows it here. Where the work is in the body of the request,
bodies come that the load has not sent.

The database is made anew before each visit, so nothing is put back.
"""

import json
import random
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import psycopg

from tandem.catalog.scenario import Body
from tandem.judge.challenged import NEW_BY_KNOWN_MOST, Lock, World, judged, remembered
from tandem.lab.application import Application
from tandem.load.client import session_key
from tandem.load.crowd import Asked, Crowd
from tandem.probes.owner import Owner, tables_in
from tandem.probes.postgres import ADMIN_PASSWORD
from tandem.record.trial import Challenge
from tandem.record.window import Finding

HELD_S = 0.25
"""How long a table is locked. Whoever waits for it is far below its limit of two seconds."""
CROWD_MOST = 50
FEW = 4
"""Clients while nothing is locked: their requests are answered soon, also by a slow application."""
ENOUGH, PATIENCE_S = 12, 0.4
"""So many answers are waited for after each change, and no longer than that."""

SENDERS, TRIES, SMALLEST_S = 24, 3, 1e-6
"""Clients that send bodies, and how often a difference has to show. A cost is no less than that."""


def challenge(app: Application) -> tuple[Challenge | None, list[Finding]]:
    """What came of it, and what is wrong. None where the scenario asks no database. Raises psycopg.Error, OSError."""
    scenario = app.cell.scenario
    if scenario.body is not None and scenario.body.repeated > 1:
        return _worked(app, scenario.body)
    texts = [app.cell.texts[name] for name in scenario.statements if name in app.cell.texts]
    user = scenario.session_user
    if not texts or user is None:
        return None, []
    # Drawn anew, not from the study's seed, which is public.
    table, mark = random.choice(sorted(tables_in(texts))), secrets.token_hex(8)
    created = scenario.answer.created
    try:
        return _asked(app, table, mark, user, created)
    except psycopg.errors.LockNotAvailable:
        text = f"{table} could not be locked, so it is not known whether a locked table is waited for"
        return None, [Finding.of("not-challenged", "warning", text)]


def _asked(
    app: Application, table: str, mark: str, user: int, created: str | None
) -> tuple[Challenge, list[Finding]]:
    scenario = app.cell.scenario
    with Owner(app.services["db"].address, ADMIN_PASSWORD) as owner:
        stored = partial(_stored, owner, created) if created else None
        with Crowd(app.client, min(scenario.connections, CROWD_MOST), stored) as crowd:
            crowd.asks(FEW)
            crowd.answered(ENOUGH, PATIENCE_S)
            with owner.locked(table):
                since_s = time.monotonic()
                crowd.asks(CROWD_MOST)
                left, hidden = owner.change(user, mark)
                time.sleep(HELD_S)
                lock = Lock(table, since_s, time.monotonic())
            worlds = [World(time.monotonic(), mark, left, hidden)]
            crowd.asks(FEW)
            crowd.answered(ENOUGH, PATIENCE_S, worlds[-1].since_s)
            for session, change in ((False, owner.end_session), (True, owner.renew_session)):
                until_s = time.monotonic()
                change(session_key(user))
                worlds[-1] = replace(worlds[-1], until_s=until_s)
                worlds.append(
                    replace(worlds[0], since_s=time.monotonic(), until_s=float("inf"), session=session)
                )
                crowd.answered(ENOUGH, PATIENCE_S, worlds[-1].since_s)
    return judged(crowd.told, lock, worlds, scenario)


def _worked(app: Application, body: Body) -> tuple[Challenge, list[Finding]]:
    """The load's body and new ones in turns, each as many at once; the last try where the CPU time was not the same."""
    cgroup, known = app.app.host.cgroup(app.app.pid), body.bytes()
    with Crowd(app.client, SENDERS) as crowd:

        def cost_s(bodies: Callable[[], Asked] | None) -> float:
            crowd.bodies = bodies
            before, cpu_s = len(crowd.told), cgroup.usage().cpu_s
            crowd.asks(SENDERS)
            crowd.answered(before + SENDERS, PATIENCE_S)
            crowd.rests()
            return (cgroup.usage().cpu_s - cpu_s) / max(1, len(crowd.told) - before)

        for _ in range(TRIES):
            of_known = cost_s(None)
            new_by_known = cost_s(partial(new_body, known, sum(body.numbers()))) / max(of_known, SMALLEST_S)
            if new_by_known <= NEW_BY_KNOWN_MOST:
                break
    return remembered(crowd.told, new_by_known)


def new_body(known: bytes, total: int) -> Asked:
    """As long as the known one, with another digit somewhere."""
    while True:
        at = random.randrange(1, len(known) - 1)
        # A number of one digit: another is as long.
        if (
            known[at : at + 1] in b"123456789"
            and known[at - 1 : at] in b" ["
            and known[at + 1 : at + 2] in b",]"
        ):
            digit = random.choice([n for n in range(1, 10) if n != int(known[at : at + 1])])
            answer = f"Sum: {total - int(known[at : at + 1]) + digit}"
            return Asked(known[:at] + str(digit).encode() + known[at + 1 :], answer.encode())


def _stored(owner: Owner, table: str, body: bytes) -> bool:
    with suppress(ValueError, KeyError, TypeError):
        return owner.has(table, int(json.loads(body)["id"]))
    return False

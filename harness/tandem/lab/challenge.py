"""After the windows of a visit: tables are locked while they are asked for, and the data change. An application
that answers from memory, before its statements, without waiting for the session's, or without heeding what they
found, shows it here. Where the work is in the body of the request, bodies come that the load has not sent.

The database is made anew before each visit, so nothing is put back.
"""

import json
import random
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

import numpy as np
import psycopg

from tandem.catalog.golden import Sent, Sums, read_answers
from tandem.hosts.host import Cgroup
from tandem.judge.challenged import (
    NEW_BY_KNOWN_MOST,
    CostRatio,
    DataState,
    Lock,
    Order,
    judged,
    remembered,
    rows_remembered,
    spoken,
    unseen,
)
from tandem.lab.application import Application
from tandem.load.asking import LOOK_S, Clients
from tandem.load.client import Look, session_key
from tandem.load.rows import Floats
from tandem.probes.data_changes import SESSIONS, DataOwner, tables_in
from tandem.probes.postgres import ADMIN_PASSWORD, right_answers
from tandem.record.trial import Challenge
from tandem.record.window import Finding

HELD_S = 0.25
"""Seconds for which a table is locked. Whoever waits for it is far below its limit of two seconds."""
CROWD_LEAST, CROWD_MOST = 6, 50
CROWD_S = 0.5
"""Clients that meet the lock: as many as the application answers within that time, by its warm-up. Their answers
are waited for."""
FEW = 4
"""Clients while nothing is locked: their requests are answered soon, also by a slow application."""
ENOUGH, PATIENCE_S, LEAST, LONGEST_S = 12, 0.3, 2, 1.0
"""Answers that are waited for after each change; or the time and the fewer; or the longer time."""
STILL_S, TRIPS = 0.05, 4
"""Time, and round trips to the database, in which an application that waits sends no statement."""

SILENT = 200
"""Silent connections that ask once more, where the scenario has some."""
SENDERS, TRIES, SMALLEST_S = 24, 3, 1e-6
"""Clients that send bodies, and how often a difference has to show. A cost is no less than that."""

CHANGING_S, CHANGING_TRIES = 3, 10
"""Length of the load in which rows begin to change, and how often it is made at most."""
AFTER_CHANGES = Look(24, 3, 0.5)
OPENING_S, READ_S = 0.5, 0.02
"""How long its connections take to open, and seconds between readings of the CPU time."""


def challenge(app: Application) -> tuple[Challenge | None, list[Finding]]:
    """Challenge a running application. Returns counts and findings; None where the scenario asks no database and has no
    silent connections. Raises psycopg.Error, OSError."""
    scenario = app.case.scenario
    if (right := app.silent_answers(SILENT)) is not None:
        return spoken(right)
    if isinstance(app.case.answers, Sums) and app.case.answers.body.repeated > 1:
        return _worked(app, app.case.answers.sent)
    texts = [app.case.texts[name] for name in scenario.statements if name in app.case.texts]
    user = scenario.session_user
    if not texts or user is None:
        return None, []
    # Drawn anew, not from the study's seed, which is public.
    table, mark = random.choice(sorted(tables_in(texts) - {SESSIONS})), secrets.token_hex(8)
    by_known, found = _changing(app, user) if scenario.answer.golden and not app.case.beside else (None, [])
    try:
        came, others = _asked(app, table, mark, user, scenario.answer.created)
        return came.model_copy(update={"new_by_known": by_known}), found + others
    except psycopg.errors.LockNotAvailable as error:
        text = f"{table} or {SESSIONS} could not be locked, so it is unknown whether the application waits for a locked table"
        return None, [*found, Finding.of("not-challenged", "warning", f"{text}: {error}")]


def _asked(
    app: Application, table: str, mark: str, user: int, created: str | None
) -> tuple[Challenge, list[Finding]]:
    scenario = app.case.scenario
    still_s = STILL_S + TRIPS * (app.case.db_rtt_ms or 0) / 1e3
    counted = partial(_behind_session, app)
    with DataOwner(app.services["db"].address, ADMIN_PASSWORD) as owner:
        stored = partial(_stored, owner, created) if created else None
        with Clients(app.client, most := clients_of(scenario.connections, app.warm_rps), stored) as clients:

            def answered(since_s: float) -> None:
                clients.answered(ENOUGH, PATIENCE_S, since_s, LEAST, LONGEST_S)

            # Requests of the load whose client has gone may still run: their statements prove nothing.
            before = counted()
            time.sleep(STILL_S)
            quiet = counted() == before
            clients.asks(min(FEW, most))
            answered(time.monotonic())
            clients.rests()
            rested = counted()
            time.sleep(still_s)
            order = Order(late=counted() - rested if quiet else None)
            with ExitStack() as sessions:
                sessions.enter_context(owner.sessions_locked())
                since_s, asked = time.monotonic(), counted()
                clients.asks(most)
                if _waited_for(app, HELD_S):
                    time.sleep(still_s)
                    order = replace(order, ahead=counted() - asked if quiet else None)
                with owner.locked(table):
                    sessions.close()
                    left, hidden = owner.change(user, mark)
                    time.sleep(HELD_S)
                    lock = Lock(table, since_s, time.monotonic())
            states = [DataState(time.monotonic(), mark, left, hidden)]
            clients.asks(FEW)
            answered(states[-1].since_s)
            for session in (False, True):
                until_s = time.monotonic()
                owner.set_session(session_key(user), valid=session)
                states[-1] = replace(states[-1], until_s=until_s)
                states.append(
                    replace(states[0], since_s=time.monotonic(), until_s=float("inf"), session=session)
                )
                answered(states[-1].since_s)
    return judged(clients.told, lock, states, scenario, order)


def _changing(app: Application, user: int) -> tuple[float | None, list[Finding]]:
    """CPU time of an answer in one more load like those of the windows, once rows behind all answers keep changing, by that
    before; repeated where it is more. None where nothing was answered."""
    cgroup, each = app.app.host.cgroup(app.app.pid), list[float]()
    with DataOwner(app.services["db"].address, ADMIN_PASSWORD) as owner, ThreadPoolExecutor(1) as thread:
        for _ in range(CHANGING_TRIES):
            running = thread.submit(app.unrecorded, "challenge", CHANGING_S)
            half_s = time.time() + OPENING_S + CHANGING_S / 2
            readings = _read_cpu(cgroup, partial(_passed, half_s))
            with owner.changing(user):
                readings += _read_cpu(cgroup, running.done)
            rows, began_s = running.result()
            halves = (began_s + OPENING_S, half_s), (half_s + OPENING_S / 2, began_s + CHANGING_S)
            known, new = (_cpu_s_per_answer(*half, readings, began_s + rows.end_s) for half in halves)
            if known and new:
                each.append(new / known)
            if each and ((cost := CostRatio.of(each)).honest or cost.remembers):
                break
        found = _as_they_are_now(app)
    return (cost.ratio, found + rows_remembered(cost)) if each else (None, found)


def _as_they_are_now(app: Application) -> list[Finding]:
    """Compare some answers with what PostgreSQL writes of the rows, of which each table has others now."""
    case, contract = app.case, app.stack.root / "contract"
    written = right_answers(app.services["db"].address, contract / "sql/golden.sql", [case.scenario])
    app.ask_for(replace(case, answers=read_answers(case.scenario, contract, written)))
    try:
        seen = app.client.look(AFTER_CHANGES)
    finally:
        app.ask_for(case)
    wrong = [answer for answer in seen if answer is not None and answer.body]
    return unseen([answer.text for answer in wrong], len(seen))


def _passed(moment_s: float) -> bool:
    return time.time() > moment_s


def _read_cpu(group: Cgroup, until: Callable[[], bool]) -> list[tuple[float, float]]:
    """CPU-seconds of a control group with the times of the readings (time.time())."""
    readings = []
    while not until():
        readings.append((time.time(), group.usage().cpu_s))
        time.sleep(READ_S)
    return readings


def _cpu_s_per_answer(
    low_s: float, high_s: float, readings: Sequence[tuple[float, float]], ended_s: Floats
) -> float | None:
    """CPU time of an answer within a span; None where none ended. readings: time.time() and CPU-seconds. ended_s: of each answer."""
    answers = int(((ended_s > low_s) & (ended_s <= high_s)).sum())
    low, high = np.interp((low_s, high_s), *np.array(readings).T)
    return float(high - low) / answers if answers else None


def clients_of(connections: int, answers_per_s: float | None) -> int:
    """The number of clients that meet the lock. answers_per_s: of the warm-up; None: not known."""
    soon = CROWD_MOST if answers_per_s is None else round(answers_per_s * CROWD_S)
    return min(connections, max(CROWD_LEAST, min(CROWD_MOST, soon)))


def _behind_session(app: Application) -> int:
    """Statements that have ended and that a request sends once it knows whose session it is."""
    names = {name for name in app.case.scenario.statements if name in app.case.texts}
    behind = names - {name for name in names if SESSIONS in tables_in([app.case.texts[name]])}
    return sum(one.calls for name, one in app.postgres.statements().items() if name in behind)


def _waited_for(app: Application, within_s: float) -> bool:
    """Whether the application waits for a lock; returns as soon as it does."""
    end_s = time.monotonic() + within_s
    while not app.postgres.sessions()[1]:
        if time.monotonic() > end_s:
            return False
        time.sleep(LOOK_S)
    return True


def _worked(app: Application, known: Sequence[Sent]) -> tuple[Challenge, list[Finding]]:
    """The load's bodies and new ones in turns, each as many at once; the last try where the CPU time was not the same."""
    cgroup = app.app.host.cgroup(app.app.pid)
    with Clients(app.client, SENDERS) as clients:

        def cost_s(bodies: Callable[[], Sent]) -> float:
            clients.bodies = bodies
            before, cpu_s = len(clients.told), cgroup.usage().cpu_s
            clients.asks(SENDERS)
            clients.answered(before + SENDERS, PATIENCE_S)
            clients.rests()
            return (cgroup.usage().cpu_s - cpu_s) / max(1, len(clients.told) - before)

        for _ in range(TRIES):
            of_known = cost_s(lambda: random.choice(known))
            new_by_known = cost_s(lambda: new_body(random.choice(known))) / max(of_known, SMALLEST_S)
            if new_by_known <= NEW_BY_KNOWN_MOST:
                break
    return remembered(clients.told, new_by_known)


def new_body(sent: Sent) -> Sent:
    """A body as long as the known one, with another digit somewhere."""
    known, total = sent.body, int(sent.answer.removeprefix(b"Sum: "))
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
            return Sent(known[:at] + str(digit).encode() + known[at + 1 :], answer.encode())


def _stored(owner: DataOwner, table: str, body: bytes) -> bool:
    with suppress(ValueError, KeyError, TypeError):
        return owner.has(table, int(json.loads(body)["id"]))
    return False

"""Waits until services and an application answer, without Docker's health checks, and until a host is quiet."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import httpx
import psycopg

from tandem.errors import TandemError, UsageError
from tandem.hosts.host import Machines
from tandem.lab.stack import Stack, healthy_by
from tandem.probes.pools import PgBouncer
from tandem.probes.postgres import ADMIN_PASSWORD, dsn
from tandem.probes.toxiproxy import Toxiproxy

LIMIT, LIMIT_S = "TANDEM_START_S", 60.0
"""The variable that says within how many seconds a service or an application has to answer, and its default."""
SEEDS, SEEDED = "tandem: making the data", "tandem: the data are made"
"""What compose/db/start says before and after the data of its first start."""
SEEDING_LIMITS = 10
"""A database that makes its data has as many times the limit: that is work, which takes a slow machine longer."""
ASKED_EVERY_S = 0.5
SOON_S = 0.01
"""Pause of first questions to an application, whose start is measured: it is known to this, later to a twentieth of itself."""
SETTLE_S, SETTLE_CAP_S, SETTLE_BUSY = 0.5, 5.0, 0.10


_ASK: dict[str, Callable[[str], object]] = {
    "db": lambda address: psycopg.connect(dsn(address, ADMIN_PASSWORD)).close(),
    "pgbouncer": lambda address: PgBouncer(address, ADMIN_PASSWORD).close(),
    "proxy": lambda address: httpx.get(f"http://{address}:8404/healthz", timeout=2).raise_for_status(),
    "faults": lambda address: Toxiproxy(address).version(),
}
"""Service -> a question at its address, which raises psycopg.Error or httpx.HTTPError while it does not answer."""


def limit_s(environment: Mapping[str, str] = os.environ) -> float:
    """The limit of a start. Raises UsageError."""
    said = environment.get(LIMIT) or str(LIMIT_S)
    try:
        limit = float(said)
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise UsageError(f"{LIMIT} must be a number of seconds above 0, not '{said}'")
    return limit


def _pause(began_s: float, least_s: float = 0.05) -> None:
    """Waits before it is asked again, the longer the longer it has been asked: asking takes CPU time from what starts."""
    time.sleep(min(ASKED_EVERY_S, max(least_s, (time.monotonic() - began_s) / 20)))


def _seeding(stack: Stack) -> bool:
    """Whether the database is making its data."""
    said = stack.log("db", lines=1000)
    return SEEDS in said and SEEDED not in said


def await_services(stack: Stack, services: list[str], note: Callable[[str], None]) -> None:
    """Returns when those services answer that can be asked. Raises TandemError, with the logs, if one does not."""
    own = {service: test for service, test in healthy_by(stack.overlay).items() if test}
    waiting = [service for service in services if service in _ASK or service in own]
    addresses = {service: stack.service(service).address for service in waiting}

    def ask(service: str) -> None:
        if service in own:
            stack.execute(service, own[service])
        else:
            _ASK[service](addresses[service])

    began, limit = time.monotonic(), limit_s()
    allowed = limit
    while True:
        for service in list(waiting):
            with suppress(psycopg.Error, httpx.HTTPError, *([TandemError] if service in own else [])):
                ask(service)
                waiting.remove(service)
        if not waiting:
            return
        if time.monotonic() - began > allowed:
            more = ", which was still making its data" if "db" in waiting and _seeding(stack) else ""
            if more and allowed == limit:
                allowed *= SEEDING_LIMITS
                note(f"  db: still making its data after {limit:.0f} s; it has {allowed:.0f} s for that")
                continue
            logs = "\n".join(f"end of the log of {name}:\n{stack.log(name)}" for name in waiting)
            raise TandemError(
                f"not healthy after {allowed:.0f} s: {', '.join(waiting)}{more}. {_longer(limit)}\n{logs}"
            )
        for service in waiting:
            stack.service(service)  # raises, with the log, if it has died
        _pause(began)


def _longer(limit_s: float) -> str:
    return f"If this machine is slow, {LIMIT}={limit_s * 5:.0f} before the command gives it longer."


class NotReadyError(TandemError):
    """Nobody answered in time."""


def await_health(
    address: str, alive: Callable[[], object], path: str = "/healthz", right: int | None = 200
) -> None:
    """Returns when a path of host:port answers with the right status; None: any below 500. alive: raises if what should answer
    has died.

    Raises NotReadyError after the limit.
    """
    url, last = f"http://{address}{path}", "no answer"
    began, limit = time.monotonic(), limit_s()
    looked = began
    with httpx.Client(timeout=2, verify=False, headers={"Connection": "close"}) as client:
        while time.monotonic() - began < limit:
            try:
                status = client.get(url).status_code
                if status == right or (right is None and status < 500):
                    return
                last = f"status {status}"
            except httpx.HTTPError as error:
                last = repr(error)
            if (
                time.monotonic() - looked > ASKED_EVERY_S
            ):  # it asks the engine, which takes longer than this question
                alive()
                looked = time.monotonic()
            _pause(began, SOON_S)
    raise NotReadyError(f"not ready after {limit:.0f} s: {url}: {last}. {_longer(limit)}")


def settle(host: Machines) -> None:
    """Waits until the host is quiet, a few seconds at most."""
    deadline = time.monotonic() + SETTLE_CAP_S
    while time.monotonic() < deadline:
        before = host.read_cpu()
        time.sleep(SETTLE_S)
        now = host.read_cpu().since(before)
        if now.busy_s / SETTLE_S < SETTLE_BUSY:
            return

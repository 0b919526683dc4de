"""Asks the services that a campaign keeps up whether they are ready, without Docker's health checks."""

import time
from contextlib import suppress

import httpx
import psycopg

from tandem.errors import TandemError
from tandem.lab import ADMIN_PASSWORD
from tandem.probes.pgbouncer import PgBouncer
from tandem.stack import Stack

START_S = 60


def _ask_db(address: str) -> None:
    dsn = f"host={address} dbname=tandem user=postgres password={ADMIN_PASSWORD} connect_timeout=2"
    psycopg.connect(dsn).close()


def _ask_pgbouncer(address: str) -> None:
    PgBouncer(address, ADMIN_PASSWORD).close()


def _ask_proxy(address: str) -> None:
    httpx.get(f"http://{address}:8404/healthz", timeout=2).raise_for_status()


_ASK = {"db": _ask_db, "pgbouncer": _ask_pgbouncer, "proxy": _ask_proxy}


def await_services(stack: Stack) -> None:
    """Returns when database, pooler and proxy answer. Raises TandemError, with the logs, if one does not."""
    addresses = {service: stack.service(service).address for service in _ASK}
    waiting = dict(_ASK)
    deadline = time.monotonic() + START_S
    while True:
        for service, ask in list(waiting.items()):
            with suppress(psycopg.Error, httpx.HTTPError):
                ask(addresses[service])
                del waiting[service]
        if not waiting:
            return
        if time.monotonic() > deadline:
            logs = "\n".join(f"end of the log of {name}:\n{stack.log(name)}" for name in waiting)
            raise TandemError(f"not healthy after {START_S} s: {', '.join(waiting)}\n{logs}")
        for service in waiting:
            stack.service(service)  # raises, with the log, if it has died
        time.sleep(0.1)

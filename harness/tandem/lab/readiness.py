"""Asks the services that a study keeps up whether they are ready, without Docker's health checks."""

import time
from contextlib import suppress

import httpx
import psycopg

from tandem.errors import TandemError
from tandem.lab.stack import Stack
from tandem.probes.pgbouncer import PgBouncer
from tandem.probes.postgres import ADMIN_PASSWORD
from tandem.probes.toxiproxy import Toxiproxy

START_S = 60


def _ask_db(address: str) -> None:
    dsn = f"host={address} dbname=tandem user=postgres password={ADMIN_PASSWORD} connect_timeout=2"
    psycopg.connect(dsn).close()


def _ask_pgbouncer(address: str) -> None:
    PgBouncer(address, ADMIN_PASSWORD).close()


def _ask_proxy(address: str) -> None:
    httpx.get(f"http://{address}:8404/healthz", timeout=2).raise_for_status()


def _ask_faults(address: str) -> None:
    Toxiproxy(address).version()


_ASK = {"db": _ask_db, "pgbouncer": _ask_pgbouncer, "proxy": _ask_proxy, "faults": _ask_faults}


def await_services(stack: Stack, services: list[str]) -> None:
    """Returns when those services answer that can be asked. Raises TandemError, with the logs, if one does not."""
    waiting = {service: _ASK[service] for service in services if service in _ASK}
    addresses = {service: stack.service(service).address for service in waiting}
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

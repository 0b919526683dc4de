"""Waits until services and an application answer, without Docker's health checks, and until a host is quiet."""

import time
from collections.abc import Callable
from contextlib import suppress

import httpx
import psycopg

from tandem.errors import TandemError
from tandem.hosts.host import Machines
from tandem.lab.stack import Stack
from tandem.probes.pools import PgBouncer
from tandem.probes.postgres import ADMIN_PASSWORD, dsn
from tandem.probes.toxiproxy import Toxiproxy

START_S = 60
SETTLE_S, SETTLE_CAP_S, SETTLE_BUSY = 0.5, 5.0, 0.10


_ASK: dict[str, Callable[[str], object]] = {
    "db": lambda address: psycopg.connect(dsn(address, ADMIN_PASSWORD)).close(),
    "pgbouncer": lambda address: PgBouncer(address, ADMIN_PASSWORD).close(),
    "proxy": lambda address: httpx.get(f"http://{address}:8404/healthz", timeout=2).raise_for_status(),
    "faults": lambda address: Toxiproxy(address).version(),
}
"""Service -> a question at its address, which raises psycopg.Error or httpx.HTTPError while it does not answer."""


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


class NotReadyError(TandemError):
    """Nobody answered in time."""


def await_health(address: str, limit_s: float, alive: Callable[[], object]) -> None:
    """Returns when /healthz of host:port answers 200. alive: raises if what should answer has died.

    Raises NotReadyError after the limit.
    """
    url, deadline, last = f"http://{address}/healthz", time.monotonic() + limit_s, "no answer"
    # One client for all tries: making one reads the system's certificates, which takes CPU time from what starts.
    with httpx.Client(timeout=2, headers={"Connection": "close"}) as client:
        while time.monotonic() < deadline:
            try:
                status = client.get(url).status_code
                if status == 200:
                    return
                last = f"status {status}"
            except httpx.HTTPError as error:
                last = repr(error)
            alive()
            time.sleep(0.05)
    raise NotReadyError(f"not ready after {limit_s:.0f} s: {url}: {last}")


def settle(host: Machines) -> None:
    """Waits until the host is quiet, a few seconds at most."""
    deadline = time.monotonic() + SETTLE_CAP_S
    while time.monotonic() < deadline:
        before = host.read_cpu()
        time.sleep(SETTLE_S)
        now = host.read_cpu().since(before)
        if now.busy_s / SETTLE_S < SETTLE_BUSY:
            return

"""Waits for what comes by itself: an application that answers, a host that gets quiet."""

import time
from collections.abc import Callable

import httpx

from tandem.errors import TandemError
from tandem.hosts.host import Machines

SETTLE_S, SETTLE_CAP_S, SETTLE_BUSY = 0.5, 5.0, 0.10


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

"""Toxiproxy, the latency proxy between application and database, told over its HTTP API; and a probe of the round trip through it.

https://github.com/Shopify/toxiproxy#http-api

The round trip is asked for by a role of its own, whose statements no count of the application's contains, over a connection of
its own, which PgBouncer serves from a pool of its own.
"""

from contextlib import closing

import httpx
import numpy as np

from tandem.errors import TandemError
from tandem.hosts.host import Host
from tandem.probes.probe import Background, uneven_s
from tandem.record.window import DbRtt, Distance

API_PORT = 8474
PROXIED_PORT = 6433
"""Port at which it takes the database's place. PgBouncer's own is another: on a lab's host both may be asked from
outside."""
_NAME = "database"


class Toxiproxy:
    """One running Toxiproxy, by its address."""

    def __init__(self, address: str) -> None:
        self._api = f"http://{address}:{API_PORT}"

    def version(self) -> str:
        """Raises httpx.HTTPError while it does not answer."""
        answer = httpx.get(f"{self._api}/version", timeout=2).raise_for_status()
        return str(answer.json()["version"])

    def delay(self, upstream: str, delay_ms: int) -> None:
        """Forwards to `upstream` (service:port) and holds back every answer for so long, whatever was before.

        Only what comes back is delayed: each toxic overshoots by almost half a millisecond, so two would by
        twice as much. It delays a chunk of bytes, not a statement, and no TCP handshake. Raises TandemError.
        """
        proxy = {"name": _NAME, "listen": f"0.0.0.0:{PROXIED_PORT}", "upstream": upstream, "enabled": True}
        toxic = {"type": "latency", "stream": "downstream", "attributes": {"latency": delay_ms}}
        try:
            self._post("/reset", None)  # no toxic stays from a run before
            self._post("/populate", [proxy])
            if delay_ms:
                self._post(f"/proxies/{_NAME}/toxics", toxic)
        except httpx.HTTPError as error:
            raise TandemError(f"the latency proxy cannot be configured: {error}") from None

    def _post(self, path: str, body: object) -> None:
        httpx.post(f"{self._api}{path}", json=body, timeout=5).raise_for_status()


BEFORE = 20
"""Round trips before the load."""
INTERVAL_S = 0.5
"""Mean pause between two looks."""


class RoundTrip:
    """A thread that measures a round trip every INTERVAL_S in the mean between `start` and `stop`.

    host: the application's. address: of the latency proxy, as that host reaches it. password: of the role of the round trips.
    setting_ms: what was asked for.
    """

    def __init__(self, host: Host, address: str, password: str, setting_ms: int) -> None:
        self._host, self._address, self._password = host, address, password
        self._setting_ms, self._during = setting_ms, list[float]()
        self._looking = Background(
            "round trip", lambda: self._during.extend(self._trips.trips_ms(1)), lambda: uneven_s(INTERVAL_S)
        )

    def start(self) -> None:
        """Measures the round trips before the load, then goes on in the background. Raises psycopg.Error, OSError."""
        self._trips = self._host.round_trips(self._address, PROXIED_PORT, self._password)
        self._trips.trips_ms(1)  # lets PgBouncer open its connection
        self._before = self._trips.trips_ms(BEFORE)
        self._looking.start()

    def stop(self) -> None:
        """Ends it. Raises what the thread met."""
        with closing(self._trips):
            self._looking.stop()

    def part(self, app: str) -> Distance:
        return Distance(db_rtt_ms=summary(self._setting_ms, self._before, self._during))


def summary(setting_ms: int, before_ms: list[float], during_ms: list[float]) -> DbRtt | None:
    """The round trips for the record; None if the window was too short for a single round trip."""
    if not before_ms or not during_ms:
        return None
    return DbRtt(
        setting=setting_ms,
        before_p50=float(np.quantile(before_ms, 0.5)),
        during_p50=float(np.quantile(during_ms, 0.5)),
        during_p90=float(np.quantile(during_ms, 0.9)),
        samples=len(during_ms),
    )

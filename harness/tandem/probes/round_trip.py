"""The round trip from the application's host to the database, through the latency proxy: `select 1`.

It is asked for by the administrator, whose statements no count of the application's contains, over a
connection of its own, which PgBouncer serves from a pool of its own.
"""

from contextlib import closing

import numpy as np

from tandem.hosts.host import Host
from tandem.probes.probe import Background, uneven_s
from tandem.probes.toxiproxy import PROXIED_PORT
from tandem.record.window import DbRtt, Distance

BEFORE = 20
"""Round trips before the load."""
INTERVAL_S = 0.5
"""Mean pause between two looks."""


class RoundTrip:
    """A thread that measures a round trip every INTERVAL_S in the mean between `start` and `stop`.

    host: the application's. address: of the latency proxy, as that host reaches it. password: the administrator's.
    setting_ms: what was asked for.
    """

    def __init__(self, host: Host, address: str, password: str, setting_ms: int) -> None:
        self._host, self._address, self._password = host, address, password
        self._setting_ms = setting_ms
        self._before: list[float] = []
        self._during: list[float] = []
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

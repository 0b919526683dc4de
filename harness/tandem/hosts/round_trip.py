"""A connection to the database from a host, to ask how long a round trip takes from there."""

import time

import psycopg

CONNECT_S = 20


class LocalRoundTrips:
    """RoundTrips (tandem.hosts.host). Raises psycopg.Error, now and later."""

    def __init__(self, address: str, port: int, password: str) -> None:
        self._connection = psycopg.connect(
            f"host={address} port={port} dbname=tandem user=postgres password={password}",
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=CONNECT_S,
        )

    def trips_ms(self, number: int) -> list[float]:
        return [self._trip_ms() for _ in range(number)]

    def close(self) -> None:
        self._connection.close()

    def _trip_ms(self) -> float:
        began = time.perf_counter()
        self._connection.execute("select 1")
        return (time.perf_counter() - began) * 1e3

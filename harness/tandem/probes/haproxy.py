"""HAProxy's own statistics, from its page in CSV form."""

import csv
import io
from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class ProxyCounters:
    responses_2xx: int
    responses_other: int
    connection_errors: int
    response_errors: int
    queue_now: int
    in_flight_now: int
    connections_opened: int = 0
    """To the application, since the start."""


def parse_csv(text: str) -> ProxyCounters:
    """Reads the line of the backend `app`. Raises KeyError if there is none."""
    for row in csv.DictReader(io.StringIO(text.removeprefix("# "))):
        if row["pxname"] == "app" and row["svname"] == "BACKEND":
            other = sum(
                int(row[key] or 0) for key in ("hrsp_1xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other")
            )
            return ProxyCounters(
                responses_2xx=int(row["hrsp_2xx"] or 0),
                responses_other=other,
                connection_errors=int(row["econ"] or 0),
                response_errors=int(row["eresp"] or 0),
                queue_now=int(row["qcur"] or 0),
                in_flight_now=int(row["scur"] or 0),
                connections_opened=int(row["connect"] or 0),
            )
    raise KeyError("HAProxy's statistics name no backend 'app'")


class HAProxy:
    def __init__(self, address: str) -> None:
        self._client = httpx.Client(base_url=f"http://{address}:8404", timeout=2)

    def read(self) -> ProxyCounters:
        return parse_csv(self._client.get("/;csv").raise_for_status().text)

    def close(self) -> None:
        self._client.close()

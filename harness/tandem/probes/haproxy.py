"""HAProxy's own statistics, from its page in CSV form, and the choice of the application that it asks."""

import csv
import io
import socket
from dataclasses import dataclass

import httpx

from tandem.errors import TandemError

RUNTIME_PORT = 9999
SLOT = "app/slot"
"""The server of compose/proxy/haproxy.cfg that can be pointed anywhere."""


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


def point(proxy: str, application: str) -> None:
    """Makes HAProxy ask the application at this address, through its runtime API. Raises TandemError if it does not.

    https://docs.haproxy.org/3.0/management.html#9.3-set%20server
    """
    commands = (
        f"set server app/app state maint; set server {SLOT} addr {application} port 8080;"
        f" set server {SLOT} state ready; show servers state app\n"
    )
    try:
        with socket.create_connection((proxy, RUNTIME_PORT), timeout=2) as connection:
            connection.sendall(commands.encode())
            connection.shutdown(socket.SHUT_WR)
            said = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    except OSError as error:
        raise TandemError(f"HAProxy's runtime API does not answer: {error}") from None
    if not any(line.split()[3:6] == ["slot", application, "2"] for line in said.splitlines()):
        raise TandemError(f"HAProxy does not ask {application}: {said.strip()}")

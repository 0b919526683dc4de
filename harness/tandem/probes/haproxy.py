"""HAProxy's runtime API: its own statistics, the application that it asks, and how many requests it lets in."""

import csv
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tandem.errors import TandemError

RUNTIME_PORT = 9999
APP = ("app", "BACKEND")
"""Proxy and server in the statistics: the one application that is up."""
SLOTS = 24
"""Servers of compose/proxy/haproxy.cfg that can be pointed anywhere, each with a port of its own: so many applications
can be up at once."""
SLOTS_FROM_PORT = 8100


@dataclass(frozen=True)
class Front:
    """A way into HAProxy. slots_from_port: before those of several applications."""

    slots_from_port: int
    encrypted: bool = False
    http2: bool = False


FRONTS = {
    "proxy:8080": Front(SLOTS_FROM_PORT),
    "proxy:8443": Front(8200, encrypted=True),
    "proxy:8444": Front(8300, encrypted=True, http2=True),
}
PLAIN = "proxy:8080"
"""The way in by which the harness itself asks: it reaches the same application."""
UNLIMITED = 4000
"""Requests without a limit, as in compose/stack.yaml: more than any scenario asks at once."""


@dataclass(frozen=True)
class ProxyCounters:
    responses_2xx: int
    responses_other: int
    connection_errors: int
    response_errors: int
    queue_now: int
    in_flight_now: int
    connections_opened: int = 0
    """Connections that were opened to the application since the start."""


OTHER: Final = ("hrsp_1xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other")
COLUMNS: Final = (("hrsp_2xx",), OTHER, ("econ",), ("eresp",), ("qcur",), ("scur",), ("connect",))
"""Columns of the statistics whose sum each counter is, in the order of ProxyCounters."""


def slot(name: str) -> tuple[str, str]:
    """Proxy and server of one application among several. name: slot-1 and so on."""
    return ("slots", name)


def slot_number(name: str) -> int:
    """Number of one application among several: 1 of slot-1, and so on."""
    return int(name.rpartition("-")[2])


def slot_port(name: str, front: str = PLAIN) -> int:
    """The port on which HAProxy asks it. front: of FRONTS."""
    return FRONTS[front].slots_from_port + slot_number(name)


def parse_csv(text: str, of: tuple[str, str] = APP) -> ProxyCounters:
    """Reads the line of a proxy's server. Raises KeyError if there is none."""
    head, *lines = text.removeprefix("# ").splitlines() or [""]
    own = [line for line in lines if line.startswith(",".join(of))]
    for row in csv.DictReader([head, *own]):
        if (row["pxname"], row["svname"]) == of:
            return ProxyCounters(*(sum(int(row[key] or 0) for key in keys) for keys in COLUMNS))
    raise KeyError(f"HAProxy's statistics do not contain {'/'.join(of)}")


def read(address: str, servers: Mapping[str, tuple[str, str]]) -> dict[str, ProxyCounters]:
    """Counters of these servers. servers: key -> proxy and server. Raises OSError if HAProxy does not answer.

    https://docs.haproxy.org/3.0/management.html#9.3-show%20stat
    """
    text = _told(address, "show stat -1 6 -1")  # all backends (2) and servers (4)
    return {name: parse_csv(text, of) for name, of in servers.items()}


def _told(proxy: str, commands: str) -> str:
    """What HAProxy's runtime API says to commands. Raises OSError if it does not answer."""
    try:
        with socket.create_connection((proxy, RUNTIME_PORT), timeout=2) as connection:
            connection.sendall(f"{commands}\n".encode())
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    except OSError as error:
        raise OSError(f"HAProxy's runtime API does not answer: {error}") from None


def point(proxy: str, name: str, application: str, port: int) -> None:
    """Makes HAProxy ask the application at this address for what comes to the slot's port. Raises TandemError if it does not,
    OSError if it does not answer.

    https://docs.haproxy.org/3.0/management.html#9.3-set%20server
    """
    said = _told(
        proxy,
        f"set server slots/{name} addr {application} port {port};"
        f" set server slots/{name} state ready; show servers state slots",
    )
    if not any(line.split()[3:6] == [name, application, "2"] for line in said.splitlines()):
        raise TandemError(f"HAProxy does not forward to {application}: {said.strip()}")


def admit(proxy: str, name: str | None, requests: int | None) -> None:
    """Makes HAProxy let so many requests into an application at once. name: of its slot; None: the one that is up. requests:
    None: without a limit. Raises TandemError if it does not, OSError if it does not answer.

    https://docs.haproxy.org/3.0/management.html#9.3-set%20maxconn%20server
    """
    server = "/".join(slot(name) if name else ("app", "app"))
    if said := _told(proxy, f"set maxconn server {server} {requests or UNLIMITED}").strip():
        raise TandemError(f"HAProxy does not limit {server}: {said}")

"""Statements on their way to the database, read on the wire: which of them waited for the answer to the one before.

The frontend's messages have a type and a length (https://www.postgresql.org/docs/current/protocol-message-formats.html). A
flight is all that a connection sends until it has received more of an answer: each packet tells how much that is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tandem.hosts.host import Host
from tandem.probes.captures import PAYLOAD, Bursts, Captures
from tandem.probes.exchanges import SEQUENCE, Packet, read_packets, since
from tandem.record.window import DatabaseWire, OnDatabaseWire

BURST_S, PACKETS, SNAP_BYTES = 5.0, 1_500, 4096
"""Seconds from one burst to the next, packets of each, and bytes of each packet. A statement is a packet, as a rule; the rest of
a longer one is left out up to the next flight."""
EXECUTE, QUERY, FUNCTION = b"E", b"Q", b"F"
TYPES = frozenset(b"BCDEFHPQSXcdfp")
"""Types of a frontend's messages."""
LONGEST = 1 << 20
"""Bytes of a message; what claims to be longer is none."""
QUOTED = re.compile(rb"'(?:[^']|'')*'|\"[^\"]*\"")


@dataclass
class _Stream:
    """What one connection sends. A packet that acknowledges more than the one before it begins a flight."""

    counts: "Flights"
    known: bool = False
    """Whether its messages are known since a flight began."""
    acknowledged: int | None = None
    expected: int = 0
    """Sequence number of its next packet."""
    rest: bytes = b""
    sent: int = 0
    """Statements of the flight."""

    def asks(self, packet: Packet) -> None:
        gap = since(packet.sequence, self.expected)
        if self.acknowledged is not None and gap < 0:  # sent again
            return
        if packet.acknowledged != self.acknowledged:
            if self.sent:
                self.counts.executed += self.sent
                self.counts.flights += 1
            begins, self.sent = self.acknowledged is not None, 0
            if begins and (gap or not self.known):
                self.known, self.rest = True, b""
        elif gap:
            self.lost()
        self.acknowledged = packet.acknowledged
        self.expected = (packet.sequence + len(packet.payload)) % SEQUENCE
        if self.known:
            self.rest += packet.payload
            self._messages()

    def lost(self) -> None:
        """Leave out the rest of the flight."""
        self.known, self.sent = False, 0

    def _messages(self) -> None:
        while len(self.rest) >= 5:
            kind, length = self.rest[:1], int.from_bytes(self.rest[1:5])
            if kind[0] not in TYPES or not 4 <= length <= LONGEST:
                self.lost()
                return
            if len(self.rest) <= length:
                return
            message, self.rest = self.rest[5 : length + 1], self.rest[length + 1 :]
            self.sent += statements_in(message) if kind == QUERY else kind in (EXECUTE, FUNCTION)


def statements_in(text: bytes) -> int:
    """The number of statements of a simple query."""
    return sum(bool(part.strip(b" \n\t\0")) for part in QUOTED.sub(b"", text).split(b";"))


@dataclass
class Flights:
    """Counts of some captures of one application."""

    executed: int = 0
    flights: int = 0
    connections: set[tuple[str, int]] = field(default_factory=set)

    def read(self, packets: Iterable[Packet], application: str, port: int) -> None:
        """application: its address at the database's end. port: of the database, or of what stands before it."""
        streams = dict[tuple[str, int], _Stream]()
        for packet in packets:
            if packet.sender[0] == application and packet.receiver[1] == port:
                streams.setdefault(packet.sender, _Stream(self)).asks(packet)
        self.connections |= streams.keys()


class DatabaseTap:
    """A Probe at the database, or at what stands before it. end: its interface's end on its host. apps: label -> address there."""

    def __init__(self, end: tuple[Host, int], port: int, apps: Mapping[str, str], seconds: float) -> None:
        self._apps, self._port = apps, port
        hosts = " or ".join(f"src host {address}" for address in apps.values())
        number = max(1, round(seconds / BURST_S))
        bursts = Bursts(number, seconds / number, PACKETS, SNAP_BYTES)
        self._captures = Captures([end], f"tcp and dst port {port} and ({hosts}) and {PAYLOAD}", bursts)
        self.start, self.stop = self._captures.start, self._captures.stop

    @cached_property
    def _found(self) -> dict[str, Flights]:
        found = {label: Flights() for label in self._apps}
        for file in self._captures.files:
            packets = list(read_packets(file))
            for label, address in self._apps.items():
                found[label].read(packets, address, self._port)
        self._captures.forget()
        return found

    def part(self, app: str) -> OnDatabaseWire:
        found = self._found[app]
        return OnDatabaseWire(
            database_wire=DatabaseWire(
                executed=found.executed,
                flights=found.flights,
                connections=len(found.connections),
                packets_lost=self._captures.packets_lost,
                cpu_s=self._captures.cpu_s,
                problem=self._captures.problem,
            )
        )

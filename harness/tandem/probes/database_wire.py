"""Statements on their way to the database, read on the wire: which of them waited for the answer to the one before.

The frontend's messages have a type and a length (https://www.postgresql.org/docs/current/protocol-message-formats.html). A
flight is all that a connection sends until it has received more of an answer: each packet tells how much that is.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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


def statements_by_flight(packets: Iterable[Packet]) -> Iterator[int]:
    """The statements of each flight of one connection. A packet that acknowledges more than the one before it begins a flight; from
    where a packet is missing, and where something is no message, the rest of a flight is left out."""
    acknowledged: int | None = None
    known, expected, rest, sent = False, 0, b"", 0
    for packet in packets:
        gap = since(packet.sequence, expected)
        if acknowledged is not None and gap < 0:  # sent again
            continue
        if packet.acknowledged != acknowledged:
            if sent:
                yield sent
            if acknowledged is not None and (gap or not known):
                known, rest = True, b""
            sent = 0
        elif gap:
            known, sent = False, 0
        acknowledged = packet.acknowledged
        expected = (packet.sequence + len(packet.payload)) % SEQUENCE
        if known and (read := _executed(rest + packet.payload)):
            sent, rest = sent + read[0], read[1]
        else:
            known, sent = False, 0


def _executed(stream: bytes) -> tuple[int, bytes] | None:
    """The statements in whole messages, and what follows these; None where something is no message."""
    executed = 0
    while len(stream) >= 5:
        kind, length = stream[:1], int.from_bytes(stream[1:5])
        if kind[0] not in TYPES or not 4 <= length <= LONGEST:
            return None
        if len(stream) <= length:
            break
        message, stream = stream[5 : length + 1], stream[length + 1 :]
        executed += statements_in(message) if kind == QUERY else kind in (EXECUTE, FUNCTION)
    return executed, stream


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
        streams = defaultdict[tuple[str, int], list[Packet]](list)
        for packet in packets:
            if packet.sender[0] == application and packet.receiver[1] == port:
                streams[packet.sender].append(packet)
        self.connections |= streams.keys()
        each = [sent for stream in streams.values() for sent in statements_by_flight(stream)]
        self.executed, self.flights = self.executed + sum(each), self.flights + len(each)


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
        found, captured = self._found[app], self._captures.outcome
        return OnDatabaseWire(
            database_wire=DatabaseWire(
                executed=found.executed,
                flights=found.flights,
                connections=len(found.connections),
                packets_lost=captured.dropped,
                cpu_s=captured.cpu_s,
                problem=captured.problem,
            )
        )

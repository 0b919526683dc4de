"""tandem.probes.database_wire: which statements waited for the answer to the one before."""

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.probes.database_wire import Flights, statements_in
from tandem.probes.exchanges import Packet, read_packets

APP, DATABASE = ("172.20.0.7", 40_000), ("172.20.0.3", 6432)


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


ASKED = message(b"B", b"\0s1\0\0\0\0\1\0\0\0\1" + b"7\0\0\0\0") + message(b"E", b"\0\0\0\0\0")
SYNC = message(b"S")
PREPARES = message(b"P", b"s1\0select 1\0\0\0") + message(b"D", b"Ss1\0") + SYNC


def stream(*parts: bytes | None, sequence: int = 2**32 - 100) -> list[Packet]:
    """Packets of one connection, since an answer: its bytes; None for an answer that it has received since."""
    found, received = [Packet(0.0, APP, DATABASE, sequence - 1, 1, b"?")], 2
    for at_s, part in enumerate(parts, start=1):
        if part is None:
            received += 100
        else:
            found.append(Packet(at_s, APP, DATABASE, sequence, received, part))
            sequence = (sequence + len(part)) % 2**32
    return found


def counted(packets: Iterable[Packet], application: str = APP[0]) -> tuple[int, int]:
    found = Flights()
    found.read(packets, application, DATABASE[1])
    return found.executed, found.flights


ONE = ASKED + SYNC
END = message(b"X")


@pytest.mark.parametrize(
    ("packets", "executed", "flights"),
    [
        ([ONE, None] * 8, 8, 8),
        ([PREPARES, None, ONE, None], 1, 1),
        ([ASKED * 6 + SYNC, None], 6, 1),
        ([ONE * 6, None], 6, 1),
        ([ONE, ONE, ONE, None], 3, 1),
        ([message(b"Q", b"begin\0") + ONE, None, ONE, None], 3, 2),
        ([message(b"Q", b"commit\0"), None], 1, 1),
        ([message(b"Q", b"select 1; select ';', \"a;b\";\0"), None], 2, 1),
        ([ONE[:9], ONE[9:], None, ONE, None], 2, 2),
        ([ONE, None, b"\x16\3\1\2\0\1\0\1", None, ONE, None], 2, 2),  # what is no message is left out
    ],
)
def test_a_flight_ends_with_the_answer(packets: list[bytes | None], executed: int, flights: int) -> None:
    assert counted(stream(*packets, END)) == (executed, flights)


def test_a_capture_begins_in_the_middle_of_a_flight() -> None:
    assert counted(stream(ONE, None, ONE, None, END)[1:]) == (1, 1)
    assert counted(stream(ONE, None, ONE)) == (1, 1), "more may follow before the next answer"


def test_connections_and_others_packets_are_told_apart() -> None:
    first = stream(ONE, None, END)
    second = [replace(packet, sender=(APP[0], 50_000)) for packet in stream(ONE, None, END)]
    other = [Packet(0.5, ("172.20.0.9", 1), DATABASE, 1, 1, ONE * 5)]
    mixed = sorted([*first, *second, *other], key=lambda packet: packet.at_s)
    assert counted(mixed) == (2, 2), "two connections that are busy at once are not in one flight"


@PROPERTY
@given(data=st.data())
def test_a_capture_that_loses_and_repeats_accuses_nobody(data: st.DataObject) -> None:
    packets = []
    for packet in stream(*([ONE, None] * 6), PREPARES, None, *([ONE[:7], ONE[7:], None] * 3), END):
        packets += [packet] * data.draw(st.sampled_from([1, 1, 1, 1, 0, 2]))
    executed, flights = counted(packets)
    assert executed == flights


def test_a_real_run(fixtures: Path) -> None:
    """python-sync under `recipes`: the beginning of a burst."""
    packets = list(read_packets(fixtures / "statements-wire.pcap"))
    application = packets[0].sender[0]
    found = Flights()
    found.read(packets, application, 6432)
    assert found.executed == found.flights > 80
    assert len(found.connections) == 20
    # The same statements, had each connection not waited for their answers.
    hasty = [replace(packet, acknowledged=1) for packet in packets[:-20]] + packets[-20:]
    assert counted(hasty, application)[1] <= 20


def test_statements_of_a_simple_query() -> None:
    resets = b"SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;\0"
    assert statements_in(resets) == 4
    assert statements_in(b"select 'it''s; one'\0") == 1
    assert statements_in(b"\0") == 0

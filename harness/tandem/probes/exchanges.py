"""Requests and their answers, put together from captured packets. Pure.

A capture begins in the middle of streams and may lose, repeat or reorder packets. What is not there as a whole is left
out: a request tells by its acknowledgement number where in the other direction its answer begins, so that a gap shortens
an answer and never shifts it.
"""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dpkt
import h11

from tandem.catalog.golden import HEAD_BYTES

METHODS = (b"GET ", b"POST ", b"PUT ", b"DELETE ")
HEAD_ENDS = b"\r\n\r\n"
SEQUENCE = 1 << 32


@dataclass(frozen=True)
class Packet:
    """One TCP segment with payload. sender, receiver: address and port."""

    at_s: float
    sender: tuple[str, int]
    receiver: tuple[str, int]
    sequence: int
    acknowledged: int
    payload: bytes


@dataclass(frozen=True)
class Exchange:
    """A request and its whole answer."""

    method: str
    target: str
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    took_s: float | None
    """Seconds from the request's first packet to the answer's first; None where that packet was not seen."""
    sent: bytes = b""
    """The beginning of what its request carried, as far as that was in the packet of its head."""
    pause_s: float = 0.0
    """The longest time from one of its packets to the next."""
    behind: int = 0
    """Bytes that came after the answer's end and before the connection's next request."""


@dataclass(frozen=True)
class Broken:
    """An answer that is there and cannot be one."""

    target: str
    text: str


@dataclass
class _Begun:
    """A request, and what came back since."""

    request: Packet
    segments: list[Packet] = field(default_factory=list)
    next: Packet | None = None
    """The next request that was seen on its connection."""


def read_packets(file: Path) -> Iterator[Packet]:
    """TCP segments of a capture in pcap's form; ends early where the file does."""
    if not file.is_file() or not file.stat().st_size:
        return
    with file.open("rb") as stream:
        try:
            for at_s, frame in dpkt.pcap.Reader(stream):
                ip = dpkt.ethernet.Ethernet(frame).data
                if not isinstance(ip, dpkt.ip.IP) or not isinstance(ip.data, dpkt.tcp.TCP):
                    continue
                tcp = ip.data
                ends = (socket.inet_ntoa(ip.src), tcp.sport), (socket.inet_ntoa(ip.dst), tcp.dport)
                yield Packet(float(at_s), *ends, tcp.seq, tcp.ack, bytes(tcp.data))
        except (dpkt.dpkt.Error, ValueError):  # the capture was ended in the middle of a packet
            return


def exchanges(packets: Iterable[Packet], server: tuple[str, int]) -> Iterator[Exchange | Broken | None]:
    """One for each request to a server that was seen: None where its answer is not there as a whole."""
    streams = dict[tuple[str, int], dict[int, _Begun]]()
    for packet in packets:
        if packet.receiver == server and packet.payload.startswith(METHODS) and HEAD_ENDS in packet.payload:
            begun = streams.setdefault(packet.sender, {})
            if packet.sequence not in begun:  # else it was sent again
                if begun:
                    next(reversed(begun.values())).next = packet
                begun[packet.sequence] = _Begun(packet)
        elif packet.sender == server and (begun := streams.get(packet.receiver, {})):
            next(reversed(begun.values())).segments.append(packet)
    for begun in streams.values():
        yield from map(_exchange, begun.values())


def since(sequence: int, origin: int) -> int:
    """Bytes by which a position is after another, negative before it; positions wrap around."""
    return (sequence - origin + SEQUENCE // 2) % SEQUENCE - SEQUENCE // 2


def _joined(begun: _Begun) -> tuple[bytes, float | None, float]:
    """The bytes that followed the request without a gap, up to the next one; when its first byte came, and the longest time
    from one packet to the next."""
    origin = begun.request.acknowledged
    placed = sorted(
        ((since(packet.sequence, origin), packet) for packet in begun.segments), key=lambda p: p[0]
    )
    data, first_s, last_s, pause_s = b"", None, None, 0.0
    for offset, packet in placed:
        if offset > len(data):
            break
        if not data and offset == 0:
            first_s = packet.at_s
        if last_s is not None and offset == len(data):
            pause_s = max(pause_s, packet.at_s - last_s)
        last_s = packet.at_s
        data += packet.payload[len(data) - offset :]
    if begun.next is not None:
        data = data[: max(0, since(begun.next.acknowledged, origin))]
    return data, first_s, pause_s


def _follows(begun: _Begun) -> bool:
    """Whether the next request that was seen is the connection's next: none between them was lost. Requests whose body
    is not in their first packet say its length."""
    assert begun.next is not None
    head, end, _ = begun.request.payload.partition(HEAD_ENDS)
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = int(lengths[0].partition(b":")[2]) if lengths else 0
    ends = begun.request.sequence + len(head) + len(end) + body
    return since(begun.next.sequence, ends) == 0


def read_answer(
    parser: h11.Connection, method: bytes = b"GET", target: bytes = b"/", sized: bool = False
) -> tuple[h11.Response, bytes] | None:
    """The next answer in what a parser has received, and its body; None where it is not there as a whole. sized: it has to
    state its length. Raises h11.RemoteProtocolError for what can be no answer."""
    parser.send(h11.Request(method=method, target=target, headers=[("Host", "any")]))
    parser.send(h11.EndOfMessage())
    head, body = None, b""
    while not isinstance(event := parser.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed | h11.PAUSED):
            return None
        if isinstance(event, h11.Response):
            head = event
            if sized and not {b"content-length", b"transfer-encoding"} & {name for name, _ in head.headers}:
                raise h11.RemoteProtocolError("it does not state its length")
        elif isinstance(event, h11.Data):
            body += event.data
    assert head is not None
    return head, body


def _exchange(begun: _Begun) -> Exchange | Broken | None:
    request = begun.request
    method, target, _ = request.payload.split(b" ", 2)
    data, first_s, pause_s = _joined(begun)
    # An answer before its question: what was seen of the request is its repetition.
    took_s = None if first_s is None or first_s < request.at_s else first_s - request.at_s
    if took_s is not None and data[:1] in (b"\r", b"\n"):  # which a client skips
        return Broken(target.decode("latin-1"), "a blank line comes before its status line")
    if not data.startswith(b"HTTP/1."):  # the generator would not take it for an answer either
        return None
    parser = h11.Connection(h11.CLIENT)
    parser.receive_data(data)
    try:
        found = read_answer(parser, method, target, sized=True)
    except h11.RemoteProtocolError as error:
        return Broken(target.decode("latin-1"), str(error))
    if found is None:
        return None
    head, body = found
    behind = len(parser.trailing_data[0]) if begun.next is not None and _follows(begun) else 0
    return Exchange(
        method=method.decode(),
        target=target.decode("latin-1"),
        status=head.status_code,
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers},
        body=body,
        sent=request.payload.partition(HEAD_ENDS)[2][:HEAD_BYTES],
        took_s=took_s,
        pause_s=pause_s,
        behind=behind,
    )

"""tandem.probes.tap: how a window is sampled, on real packets: of a run, and of this machine's own loopback."""

import http.client
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from harness_machines import until
from harness_samples import PROPERTY, there
from harness_servers import AnsweringServer, Handler, serving
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Sent, Sums, read_answers
from tandem.hosts import HERE
from tandem.hosts.host import other_end
from tandem.judge.on_wire import LONG_S, needed
from tandem.probes.captures import Bursts
from tandem.probes.comparing import ComparedAnswers, Comparison
from tandem.probes.exchanges import Packet, exchanges, read_packets
from tandem.probes.tap import MEMORY_BYTES, SNAP_BYTES, Tapped, WireTap, bodies_bytes, bursts_of
from tandem.record.window import Tap

PACKETS_OF_AN_ANSWER = 3
"""Its request and, through HAProxy, one or two for itself."""


# ---- how much ----


@pytest.mark.parametrize("scenario", ["recipe", "recipes", "index", "work", "users", "fan-out", "note-write"])
def test_a_long_window_compares_enough_to_find_three_in_a_thousand(real: Catalog, scenario: str) -> None:
    own = real.scenarios[scenario]
    bursts = bursts_of(LONG_S, bodies_bytes(own, read_answers(own, real.root / "contract")))
    # At both ends of a burst each connection has an exchange of which only a part is seen: one packet in the mean.
    whole = (bursts.packets - 2 * own.connections) / PACKETS_OF_AN_ANSWER
    assert bursts.number * whole >= needed()
    quick = real.plans["quick"]
    assert quick.closed_s + quick.open_s >= LONG_S, "the windows of one start"


@pytest.mark.parametrize("seconds", [1, 2, 3, 4, 6, 15, 30, 60])
@pytest.mark.parametrize("longest", [2, 5_000, 1 << 20])
def test_what_it_keeps_fits_into_memory(real: Catalog, seconds: int, longest: int) -> None:
    """Of large requests the first packet is kept, which is as large as a packet can be."""
    bursts = bursts_of(seconds, longest)
    assert bursts.number * bursts.packets / 2 * min(longest, SNAP_BYTES) <= MEMORY_BYTES
    assert bursts.packets >= 1
    assert bursts.number * bursts.apart_s == pytest.approx(seconds)
    large = real.scenarios["work-large"]
    assert bodies_bytes(large, read_answers(large, real.root / "contract")) > SNAP_BYTES


# ---- what a real run left on the wire ----


class Captured(Sums):
    """What was sent while the captures were made: the array that the scenario names."""

    @property
    def sent(self) -> tuple[Sent, ...]:
        return (Sent(self.body.bytes(), f"Sum: {sum(self.body.numbers())}".encode()),)


def compared(real: Catalog, scenario: str, packets: list[Packet]) -> ComparedAnswers:
    own = real.scenarios[scenario]
    server = next(one.receiver for one in packets if one.receiver[1] == 8080)
    answers = read_answers(own, real.root / "contract")
    if isinstance(answers, Sums) and own.body is not None:
        answers = Captured(own.body, answers.digits)
    return Comparison(own, answers).compare(exchanges(packets, server))


@pytest.fixture(scope="session", params=["recipe", "work"])
def captured(request: pytest.FixtureRequest, fixtures: Path) -> tuple[str, list[Packet]]:
    """Of a load by oha through HAProxy on rust-async: the beginning of a burst."""
    return request.param, list(read_packets(fixtures / f"{request.param}-wire.pcap"))


def test_answers_of_a_real_run_are_right_and_each_altered_byte_of_a_body_is_found(
    real: Catalog, captured: tuple[str, list[Packet]]
) -> None:
    scenario, packets = captured
    whole, found = compared(real, scenario, packets), 0
    assert whole.wrong == []
    assert whole.begun >= whole.compared > 10
    for n, packet in enumerate(packets):
        if packet.sender[1] == 8080 and packet.payload.startswith(b"HTTP/1.1 200"):
            altered = replace(packet, payload=packet.payload[:-3] + b"?" + packet.payload[-2:])
            found += len(compared(real, scenario, [*packets[:n], altered, *packets[n + 1 :]]).wrong)
    assert found == whole.compared


@PROPERTY
@given(data=st.data())
def test_a_capture_that_loses_repeats_and_reorders_accuses_nobody(
    real: Catalog, captured: tuple[str, list[Packet]], data: st.DataObject
) -> None:
    scenario, packets = captured
    some = []
    for packet in packets:
        fate = data.draw(st.sampled_from(["kept", "kept", "kept", "lost", "again", "split", "cut"]))
        at = data.draw(st.integers(0, len(packet.payload))) if fate in ("split", "cut") else 0
        first = replace(packet, payload=packet.payload[:at])
        rest = replace(packet, payload=packet.payload[at:], sequence=(packet.sequence + at) % 2**32)
        later = replace(packet, at_s=packet.at_s + 0.2)
        left = {"lost": [], "again": [packet, later], "split": [first, rest], "cut": [first]}
        some += left.get(fate, [packet])
    if data.draw(st.booleans()):
        some = data.draw(st.permutations(some))
    if any(packet.receiver[1] == 8080 for packet in some):
        assert compared(real, scenario, some).wrong == []


# ---- tcpdump ----


@pytest.fixture
def server(root: Path) -> Iterator[AnsweringServer]:
    right = (root / "contract/golden/index.html").read_bytes()
    with serving(lambda _: (200, right)) as made:
        yield made


def tapped(real: Catalog, server: AnsweringServer, bursts: Bursts, requests: int) -> Tap:
    """What the tap says of these requests on one connection, one a millisecond."""
    own = real.scenarios["index"]
    address = f"127.0.0.1:{server.server_port}"
    app = Tapped(address, lambda: [Comparison(own, read_answers(own, real.root / "contract"))])
    probe = WireTap([(HERE, socket.if_nametoindex("lo"))], {"a": app}, bursts)
    probe.start()
    time.sleep(0.5)
    client = http.client.HTTPConnection(address)
    for _ in range(requests):
        client.request("GET", "/")
        client.getresponse().read()
        time.sleep(0.001)
    client.close()
    probe.stop()
    found = there(probe.part("a").tap)
    assert found.problem is None, f"needs NET_RAW: {found.problem}"
    return found


def test_real_packets_are_captured_and_compared(real: Catalog, server: AnsweringServer) -> None:
    found = tapped(real, server, Bursts(3, 0.2, 60, SNAP_BYTES), 1500)
    assert found.wrong == 0
    assert found.bursts >= 2
    assert 40 <= found.compared < 1500, "in bursts, not all of them"
    assert found.begun >= found.compared
    assert 0 < found.capture_cpu_s < 2
    assert found.bytes > 0


def test_one_wrong_answer_among_them_is_told(real: Catalog, server: AnsweringServer) -> None:
    _, right = server.answer("GET")
    first = iter([right, right.replace(b"e", b"E", 1)])
    server.answer = lambda _: (200, next(first, right))
    found = tapped(real, server, Bursts(1, 0.1, 1000, SNAP_BYTES), 50)
    assert (found.compared, found.wrong) == (50, 1)
    assert found.wrong_first[0].startswith("GET /: ")


class Unbuffered(Handler):
    """Head and body are two packets; the standard library's server leaves Nagle's algorithm on."""

    wbufsize = 0


def test_parts_of_an_answer_that_are_held_back(real: Catalog, server: AnsweringServer) -> None:
    assert tapped(real, server, Bursts(1, 0.1, 1000, SNAP_BYTES), 60).held_back == 0
    server.RequestHandlerClass = Unbuffered
    found = tapped(real, server, Bursts(1, 0.1, 1000, SNAP_BYTES), 60)
    assert there(found.held_back) > 10, "the first ones are acknowledged at once"


def test_a_filter_that_pcap_does_not_know_is_a_problem(tmp_path: Path) -> None:
    capture = HERE.capture(socket.if_nametoindex("lo"), "no such thing", 1, 100, tmp_path / "none.pcap")
    until(lambda: capture.ended)
    assert "syntax error" in (capture.stop().problem or "")


def test_a_long_head_hides_no_answer(root: Path) -> None:
    """An answer of which a part is missing is left out: who could make it longer than what is kept of a packet, by its
    head, would not be compared. HAProxy sends no more at once than its buffer, less what it keeps for rewriting."""
    configured = (root / "compose/proxy/haproxy.cfg").read_text()
    tuned = dict(re.findall(r"^ *tune\.(bufsize|maxrewrite) (\d+)$", configured, re.M))
    layers = 14 + 60 + 60  # Ethernet, and IP and TCP with all their options
    kept = min(bursts_of(60, answer_bytes).snap_bytes for answer_bytes in (13, 1 << 20))
    assert kept >= int(tuned["bufsize"]) - int(tuned["maxrewrite"]) + layers


def test_an_interface_that_is_gone_is_one_generators_of_several() -> None:
    """Its container died within the window; where it was the only one, the window breaks."""
    host, app = Mock(capture=Mock(side_effect=OSError("no such device"))), Tapped("127.0.0.1:1", list)

    def watched(ends: int) -> WireTap:
        probe = WireTap([(host, 1)] * ends, {"a": app}, Bursts(1, 0.01, 10, SNAP_BYTES))
        probe.start()
        time.sleep(0.3)
        probe.stop()
        return probe

    assert {one.problem for one in watched(2).captures.each} == {"no such device"}
    with pytest.raises(OSError, match="no such device"):
        watched(1)


def test_the_interface_is_the_one_that_leads_to_the_application() -> None:
    told = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth1\t00000000\t010015AC\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000014AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
eth1\t000015AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
/sys/class/net/eth0/iflink:241
/sys/class/net/eth1/iflink:243
/sys/class/net/lo/iflink:1
"""
    assert other_end("172.20.0.7", told) == 241
    assert other_end("172.21.0.7", told) == 243
    assert other_end("192.0.2.9", told) == 243, "another host's: by the default route"
    inside = "\n".join(line for line in told.splitlines() if "010015AC" not in line)
    with pytest.raises(ValueError, match=r"no route to 192\.0\.2\.9"):
        other_end("192.0.2.9", inside)

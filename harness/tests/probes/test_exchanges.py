"""Captured answers: tandem.probes.exchanges reads them, tandem.probes.comparing holds them against the right ones."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import dpkt
import pytest
from harness_places import ROOT
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Golden, Sums, read_answers
from tandem.probes.comparing import Comparison, compare_all
from tandem.probes.exchanges import Broken, Exchange, Packet, exchanges, read_packets

SERVER = ("10.0.0.2", 8080)
AGAIN_S = 0.2
"""TCP sends again after this at the soonest."""


def answer(body: bytes, head: bytes = b"Content-Type: text/plain\r\n") -> bytes:
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body)


def question(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: any\r\n\r\n".encode()


def stream(
    port: int,
    pairs: list[tuple[bytes, bytes]],
    sequence: int = 1000,
    acknowledged: int = 5000,
    split: int = 0,
) -> list[Packet]:
    """The packets of one connection. pairs: requests and answers. split: an answer's bytes per packet; 0: all."""
    client, found, at_s = ("10.0.0.9", port), [], port / 1e6
    for asked, told in pairs:
        at_s += 0.001
        found.append(Packet(at_s, client, SERVER, sequence % 2**32, acknowledged % 2**32, asked))
        sequence += len(asked)
        for start in range(0, len(told), split or len(told)):
            at_s += 0.02
            part = told[start : start + (split or len(told))]
            found.append(Packet(at_s, SERVER, client, (acknowledged + start) % 2**32, sequence % 2**32, part))
        acknowledged += len(told)
    return found


def seen(packets: list[Packet]) -> list[Exchange | Broken | None]:
    return list(exchanges(packets, SERVER))


def pairs(number: int, first: int = 0) -> list[tuple[bytes, bytes]]:
    return [(question(f"/{n}"), answer(b"body of %d " % n * 3)) for n in range(first, first + number)]


def bodies(packets: list[Packet]) -> dict[str, bytes]:
    """Of the whole exchanges; nothing else may be among them."""
    found = [one for one in seen(packets) if one is not None]
    assert all(isinstance(one, Exchange) and not one.behind for one in found), found
    return {one.target: one.body for one in found if isinstance(one, Exchange)}


@pytest.mark.parametrize("split", [0, 1, 7, 40])
@pytest.mark.parametrize("origin", [5000, 2**32 - 50], ids=["plain", "numbers wrap around"])
def test_a_whole_capture_has_every_exchange(split: int, origin: int) -> None:
    packets = stream(1, pairs(5), sequence=origin, acknowledged=origin, split=split)
    assert bodies(packets) == {f"/{n}": b"body of %d " % n * 3 for n in range(5)}
    assert all(isinstance(one, Exchange) and one.took_s == pytest.approx(0.02) for one in seen(packets))


@st.composite
def captures(draw: st.DrawFn) -> tuple[dict[str, bytes], list[Packet]]:
    """What really happened, and what was captured of it."""
    right, packets = dict[str, bytes](), list[Packet]()
    for port in range(1, draw(st.integers(2, 4))):
        own = pairs(draw(st.integers(1, 5)), first=100 * port)
        right |= {asked.split()[1].decode(): told.partition(b"\r\n\r\n")[2] for asked, told in own}
        here, there = (draw(st.sampled_from([0, 77_000, 2**32 - 90, 2**32 - 1])) for _ in range(2))
        packets += stream(port, own, here, there, split=draw(st.integers(1, 120)))
    again = draw(st.lists(st.sampled_from(packets), max_size=6))
    packets += [replace(packet, at_s=packet.at_s + AGAIN_S) for packet in again]
    kept = draw(st.lists(st.booleans(), min_size=len(packets), max_size=len(packets)))
    cut = draw(st.integers(0, 200))
    packets = [packet for packet, keep in zip(packets, kept, strict=True) if keep]
    if packets and cut:  # as a capture cuts what is longer than it keeps
        packets[0] = replace(packets[0], payload=packets[0].payload[:cut])
    return right, draw(st.permutations(packets)) if draw(st.booleans()) else packets


@PROPERTY
@given(captures())
def test_no_answer_is_ever_anothers_or_early(capture: tuple[dict[str, bytes], list[Packet]]) -> None:
    right, packets = capture
    for target, body in bodies(packets).items():
        assert body == right[target]
    took_s = [one.took_s for one in seen(packets) if isinstance(one, Exchange) and one.took_s is not None]
    assert min(took_s, default=1.0) > 0.0199


def test_what_is_lost_is_left_out() -> None:
    whole = stream(1, pairs(4), split=40)
    requests = [n for n, packet in enumerate(whole) if packet.sender != SERVER]
    for lost in (requests[1], requests[1] + 2):  # the request itself, and the middle of its answer
        kept = [packet for n, packet in enumerate(whole) if n != lost]
        assert bodies(kept).keys() == {"/0", "/2", "/3"}
    assert bodies(whole[2:]).keys() == {"/1", "/2", "/3"}, "it began in the middle of an answer"
    assert bodies(whole[:-1]).keys() == {"/0", "/1", "/2"}, "and ended in one"
    assert bodies([*whole, *whole]) == bodies(whole)


def test_bytes_behind_an_answer_are_counted() -> None:
    spoilt = pairs(3)
    spoilt[1] = (spoilt[1][0], spoilt[1][1] + b"garbage")
    assert [one.behind for one in seen(stream(1, spoilt)) if isinstance(one, Exchange)] == [0, 7, 0]
    others = [replace(packet, receiver=("10.0.0.3", 8080)) for packet in stream(1, pairs(1))]
    assert seen(others) == [], "others are left out"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nbody", "does not state its length"),
        (b"\r\n" + answer(b"body"), "a blank line comes before its status line"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
            "conflicting Content-Length",
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", "illegal chunk header"),
    ],
)
def test_what_can_be_no_answer_is_told(told: bytes, why: str) -> None:
    [found] = seen(stream(1, [(question("/1"), told)]))
    assert isinstance(found, Broken)
    assert why in found.text


def test_chunks_are_put_together() -> None:
    told = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert bodies(stream(1, [(question("/1"), told)], split=5)) == {"/1": b"abcde"}


def test_a_file_is_read_to_where_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "one.pcap"
    assert list(read_packets(file)) == [], "tcpdump was ended before it began"
    whole = stream(1, pairs(2))
    with file.open("wb") as out:
        writer = dpkt.pcap.Writer(out)
        for packet in whole:
            tcp = dpkt.tcp.TCP(
                sport=packet.sender[1], dport=packet.receiver[1], seq=packet.sequence, ack=packet.acknowledged,
                data=packet.payload,
            )  # fmt: skip
            source, target = (socket.inet_aton(end[0]) for end in (packet.sender, packet.receiver))
            ip = dpkt.ip.IP(src=source, dst=target, p=dpkt.ip.IP_PROTO_TCP, data=tcp)
            writer.writepkt(bytes(dpkt.ethernet.Ethernet(data=ip)), packet.at_s)
    read = [replace(packet, at_s=0) for packet in read_packets(file)]
    assert read == [replace(packet, at_s=0) for packet in whole]
    for missing in range(1, file.stat().st_size, 7):
        file.write_bytes(file.read_bytes()[:-7])
        left = list(read_packets(file))
        assert all(got.payload == want.payload for got, want in zip(left[:-1], whole, strict=False)), missing
        assert not left or whole[len(left) - 1].payload.startswith(left[-1].payload)


@pytest.mark.parametrize(("carried", "told"), [(b"7" * 200, b"7" * 64), (b"", b"")])
def test_what_a_request_carried_is_told_by_its_beginning(carried: bytes, told: bytes) -> None:
    asked = b"POST /work HTTP/1.1\r\nContent-Length: 200\r\n\r\n" + carried
    [found] = seen(stream(1, [(asked, answer(b"Sum: 1400"))]))
    assert isinstance(found, Exchange)
    assert found.sent == told


RECIPE = (ROOT / "contract/golden/recipe-1.json").read_bytes()
JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "text/plain; charset=utf-8"}


def exchange(target: str, body: bytes, **changes: Any) -> Exchange:
    told: dict[str, Any] = {"method": "GET", "status": 200, "headers": JSON, "took_s": 0.05, **changes}
    return Exchange(target=target, body=body, **told)


def of(real: Catalog, scenario: str) -> Comparison:
    own = real.scenarios[scenario]
    return Comparison(own, read_answers(own, real.root / "contract"))


def test_the_right_recipe(real: Catalog) -> None:
    found = of(real, "recipe").compare([exchange("/api/v1/recipes/1", RECIPE), None])
    assert (found.begun, found.compared, found.wrong) == (2, 1, [])
    assert of(real, "recipes").compare([exchange("/api/v1/recipes", RECIPE)]).wrong == [], "any visible one"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"target": "/api/v1/recipes/2"}, "recipe 1 for recipe 2"),
        ({"body": b"x" * 4187}, "not a recipe: b'xxx"),
        ({"behind": 7}, "7 bytes after its end"),
        ({"headers": {"content-type": "text/html"}}, "of type 'text/html', not 'application/json'"),
        ({"headers": {}}, "of type ''"),
        ({"body": RECIPE.replace(b"Warm", b"warm", 1)}, "is not the golden one"),
    ],
)
def test_a_wrong_one(real: Catalog, changes: dict[str, Any], why: str) -> None:
    given = replace(exchange("/api/v1/recipes/1", RECIPE), **changes)
    [wrong] = of(real, "recipe").compare([given]).wrong
    assert wrong.startswith(f"GET {given.target}: ")
    assert why in wrong


@pytest.mark.parametrize(("took_ms", "wrong"), [(20.3, 0), (18.5, 0), (17.0, 1), (0.4, 1), (None, 0)])
def test_work_takes_its_delay(real: Catalog, took_ms: float | None, wrong: int) -> None:
    took_s = None if took_ms is None else took_ms / 1e3
    assert len(of(real, "work").compare([work(real, took_s=took_s)]).wrong) == wrong


def work(real: Catalog, number: int = 0, **changes: Any) -> Exchange:
    answers = read_answers(real.scenarios["work"], real.root / "contract")
    assert isinstance(answers, Sums)
    sent, right = answers.sent[number]
    told = {"method": "POST", "headers": PLAIN, "sent": sent, **changes}
    return exchange("/work?delay_ms=20", told.pop("body", right), **told)


def test_a_sum_is_that_of_the_bodys_own_numbers(real: Catalog) -> None:
    first, second = work(real), work(real, 1)
    assert first.body != second.body
    assert of(real, "work").compare([first, second]).wrong == []
    found = of(real, "work").compare([replace(first, body=second.body), second])
    assert (found.compared, len(found.wrong)) == (2, 1)
    assert "the sum of what was sent" in found.wrong[0]


@pytest.mark.parametrize("sent", [b"", b"[1, 2, 3"])
def test_without_its_numbers_a_sum_is_not_compared(real: Catalog, sent: bytes) -> None:
    found = of(real, "work").compare([work(real, sent=sent, body=b"Sum: 1")])
    assert (found.begun, found.compared, found.wrong) == (1, 0, [])


def test_no_note_has_the_id_of_another(real: Catalog) -> None:
    def note(number: int) -> Exchange:
        body = json.dumps({"id": number}, separators=(",", ":")).encode()
        return exchange("/api/v1/recipes/3/notes", body, method="POST", status=201)

    found = of(real, "note-write").compare([note(1), note(2), note(1)])
    assert (found.compared, len(found.wrong)) == (3, 1)
    assert "was returned before" in found.wrong[0]


def test_what_the_rows_tell_or_others_asked_is_not_held_against_anybody(real: Catalog) -> None:
    refused = exchange("/api/v1/recipes/1", b'{"error":"database unavailable"}', status=503)
    other = exchange("/healthz", b"{}")
    found = of(real, "recipe").compare([refused, other, Broken("/healthz", "odd")])
    assert (found.begun, found.compared, found.wrong) == (1, 0, [])
    broken = of(real, "recipe").compare([Broken("/api/v1/recipes/1", "odd")])
    assert broken.wrong == ["/api/v1/recipes/1: odd"]


def test_every_golden_body_names_its_type(real: Catalog, root: Path) -> None:
    types = {name: read_answers(own, root / "contract").media_type for name, own in real.scenarios.items()}
    assert types["index"] == types["idle"] == "text/html"
    assert types["work"] == types["users"] == "text/plain"
    assert {types[name] for name in ("recipe", "recipes", "fan-out", "note-write")} == {"application/json"}
    assert Golden({}).media_type == "application/json"


def test_each_answer_of_a_mix_is_compared_with_its_own_class(real: Catalog) -> None:
    classes = [of(real, name) for name in ("recipes", "work")]
    light = exchange("/api/v1/recipes", RECIPE)
    found = compare_all(classes, [light, work(real), None, exchange("/elsewhere", b"x")])
    assert (found.begun, found.compared, found.of_class, found.wrong) == (3, 2, [1, 1], [])
    wrong = compare_all(classes, [light, work(real, body=b"Sum: 1")])
    assert (wrong.compared, len(wrong.wrong)) == (2, 1)
    assert wrong.wrong[0].startswith("POST /work")

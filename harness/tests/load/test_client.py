"""tandem.load.client and asking: single requests, and many at once."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_places import ROOT
from harness_samples import there
from harness_servers import AnsweringServer, serving

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Exact
from tandem.hosts.here import Here
from tandem.load import idle
from tandem.load.asking import Clients
from tandem.load.client import Client, Look
from tandem.load.generator import HEADERS
from tandem.load.idle import IdleConnections, second_answer
from tandem.probes.exchanges import read_packets
from tandem.probes.sampler import Wrong


@pytest.mark.parametrize(("answer_s", "asked"), [(0.01, 10), (0.15, 10), (0.31, 6), (0.65, 4), (4.0, 4)])
def test_slow_answers_are_fewer(
    real: Catalog, monkeypatch: pytest.MonkeyPatch, answer_s: float, asked: int
) -> None:
    now = 0.0

    def ask(self: Client) -> Wrong | None:
        nonlocal now
        now += answer_s
        return Wrong("late", body=False) if answer_s > 1 else None

    monkeypatch.setattr("tandem.load.client.time.monotonic", lambda: now)
    monkeypatch.setattr(Client, "ask", ask)
    own = Client(real.scenarios["index"], Exact(b""), "127.0.0.1:9")
    found = own.look(Look(10, 3, 1.5))
    assert len(found) == asked
    assert [wrong is not None for wrong in found] == [answer_s > 1] * asked, "each answer's fault is told"
    own.close()


@pytest.mark.parametrize("scenario", ["recipe", "work"])
def test_its_requests_look_as_the_loads(real: Catalog, fixtures: Path, scenario: str) -> None:
    """The load's as oha's were on the wire. Of a recipe the id differs, and Host comes first: h11 has it so."""
    packets = read_packets(fixtures / f"{scenario}-wire.pcap")
    of_oha = next(packet.payload for packet in packets if packet.receiver[1] == 8080)
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                request = b""
                while len(request) < len(of_oha) - 2:
                    request += connection.recv(65536)
                asked.append(request)
                connection.sendall(b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n")

        serving = threading.Thread(target=serve)
        serving.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        own = Client(real.scenarios[scenario], Exact(b""), address, "proxy:8080")
        own.ask()
        serving.join()
        own.close()
    wanted = re.sub(rb"recipes/\d+", b"recipes/1", of_oha).split(b"\r\n")
    wanted.insert(1, wanted.pop(wanted.index(b"host: proxy:8080")))
    assert asked[0].split(b"\r\n") == wanted


def test_the_generator_that_it_looks_like_is_the_one_that_measures() -> None:
    [version] = re.findall(r"ARG OHA_VERSION=(\S+)", (ROOT / "loadgen/Dockerfile").read_text())
    assert HEADERS["user-agent"] == f"oha/{version}"


@pytest.fixture
def free() -> threading.Event:
    """Where a test clears it, answers to what is written are held back until it is set."""
    event = threading.Event()
    event.set()
    return event


@pytest.fixture
def server(free: threading.Event) -> Iterator[AnsweringServer]:
    def answer(method: str) -> tuple[int, bytes]:
        if method == "GET":
            return 200, b"page"
        free.wait()
        return 201, b'{"id":7}'

    with serving(answer) as made:
        yield made


@pytest.fixture
def client(server: AnsweringServer, real: Catalog) -> Iterator[Client]:
    client = Client(real.scenarios["note-write"], Exact(b""), f"127.0.0.1:{server.server_port}", "proxy:8080")
    yield client
    client.close()


def test_it_asks_as_the_client_does(server: AnsweringServer, client: Client) -> None:
    with Clients(client, 3) as clients:
        clients.asks(3)
        clients.answered(20, 5)
    assert len(clients.told) >= 20
    assert {(one.status, one.body, one.stored) for one in clients.told} == {(201, b'{"id":7}', None)}
    path, headers, body = server.asked[0]
    assert path.removeprefix("/api/v1/recipes/").removesuffix("/notes").isdecimal()
    assert {name.lower(): value for name, value in headers.items()} == client.sent_headers
    assert body == there(client.scenario.body).bytes()
    assert {one.key for one in clients.told} <= set(client.scenario.expanded_ids)


def test_so_many_ask_and_what_was_sent_is_waited_for(
    server: AnsweringServer, client: Client, free: threading.Event
) -> None:
    free.clear()
    with Clients(client, 8) as clients:
        clients.asks(2)
        clients.answered(1, 0.2)
        assert (len(server.asked), clients.told) == (2, [])
        clients.asks(8)
        clients.answered(1, 0.2)
        assert len(server.asked) == 8
        released = time.monotonic()
        free.set()
    assert len(clients.told) >= 8
    assert sum(one.began_s < released < one.ended_s for one in clients.told) == 8


def test_few_answers_are_waited_for_longer_and_not_for_ever(client: Client, free: threading.Event) -> None:
    free.clear()
    with Clients(client, 1) as clients:
        clients.asks(1)
        began_s = time.monotonic()
        clients.answered(9, 0.05, 0.0, least=1, longest_s=0.3)
        assert 0.3 <= time.monotonic() - began_s < 2
        threading.Timer(0.2, free.set).start()
        clients.answered(10**6, 0.05, 0.0, least=1, longest_s=60)
        assert clients.told


def test_what_was_acknowledged_is_looked_for(client: Client) -> None:
    with Clients(client, 1, stored=lambda body: body != b'{"id":7}') as clients:
        clients.asks(1)
        clients.answered(1, 5)
    assert {one.stored for one in clients.told} == {False}

    def broken(body: bytes) -> bool:
        raise OSError("the database is gone")

    clients = Clients(client, 1, stored=broken)
    clients.asks(1)
    with pytest.raises(OSError, match="is gone"), clients:
        clients.answered(1, 0.2)


def test_a_server_that_is_gone_answers_nothing(server: AnsweringServer, client: Client) -> None:
    server.shutdown()
    server.server_close()
    with Clients(client, 1) as clients:
        clients.asks(1)
        clients.answered(1, 5)
    assert {(one.status, one.body) for one in clients.told} == {(0, b"")}


# ---- silent connections that ask again ----


def spoken(port: int) -> list[tuple[int | None, bytes]]:
    """The second answers of nine connections, all that there are. The shell runs on this machine."""
    no_docker = ("sh", "-c", 'shift 3; exec "$@"', "docker")
    held = IdleConnections(Here(), "any", 1, f"127.0.0.1:{port}", 9, "/", no_docker)
    return [second_answer(stream) for stream in held.speak(200)]


def test_a_silent_connection_gets_an_answer_to_its_second_request(
    server: AnsweringServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spoken(server.server_port) == [(200, b"page")] * 9
    monkeypatch.setattr(idle, "ANSWERED_S", 0)
    with socket.create_server(("127.0.0.1", 0), backlog=20) as unread:
        assert spoken(unread.getsockname()[1]) == [(None, b"")] * 9, "the kernel alone has accepted them"


def test_who_answers_once_has_no_second_answer() -> None:
    once = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    assert second_answer(once) == (None, b"")
    assert second_answer(b"") == second_answer(once + b"what?") == (None, b"")
    closes = b"HTTP/1.1 404 No\r\nConnection: close\r\n\r\nx\r\n\r\ny"
    assert second_answer(once + closes) == (404, b"x\r\n\r\ny")
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    assert second_answer(chunks + chunks) == (200, b"ok")

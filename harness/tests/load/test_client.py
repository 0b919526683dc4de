"""How many answers are looked at before a load, and how the harness's own requests look."""

import re
import socket
import threading
from pathlib import Path

import pytest
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Exact
from tandem.load.client import Client, Look
from tandem.load.generator import HEADERS
from tandem.probes.exchanges import read_packets
from tandem.probes.sampler import Wrong


@pytest.mark.parametrize(
    ("answer_s", "asked"),
    [(0.01, 10), (0.15, 10), (0.31, 6), (0.65, 4), (4.0, 4)],
)
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

"""The limit of a request's head, without a socket."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from recipes.worker import MAX_HEAD, REFUSAL, Protocol


class Served(Protocol):
    def __init__(self) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None: ...

        super().__init__(Config(app, lifespan="off"), ServerState(), {}, MagicMock())
        self.served = 0
        self.connection_made(MagicMock())

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self.served += 1
        cycle.response_complete = True


@pytest.fixture
def protocol() -> Served:
    return Served()


def written(protocol: Served) -> list[bytes]:
    return [call.args[0] for call in protocol.transport.write.call_args_list]  # type: ignore[attr-defined]


def request(size: int) -> bytes:
    """A request whose path, names and values have that many bytes."""
    return b"GET / HTTP/1.1\r\na: " + b"b" * (size - 2) + b"\r\n\r\n"


def test_a_head_as_large_as_allowed(protocol: Served) -> None:
    protocol.data_received(request(MAX_HEAD))
    assert (protocol.served, written(protocol)) == (1, [])


def test_a_head_too_large_in_one_piece(protocol: Served) -> None:
    protocol.data_received(request(MAX_HEAD + 1))
    assert (protocol.served, written(protocol)) == (0, [REFUSAL])


def test_a_head_without_an_end(protocol: Served) -> None:
    protocol.data_received(request(100))
    protocol.data_received(b"GET / HTTP/1.1\r\na: ")
    for _ in range(100):
        protocol.data_received(b"b" * 8192)
    assert (protocol.served, written(protocol)) == (1, [REFUSAL])


def test_a_head_without_an_end_in_one_piece(protocol: Served) -> None:
    protocol.data_received(b"GET /" + b"a" * MAX_HEAD)
    assert (protocol.served, written(protocol)) == (0, [REFUSAL])


def test_bodies_do_not_count(protocol: Served) -> None:
    for _ in range(3):
        protocol.data_received(b"POST / HTTP/1.1\r\ncontent-length: 200000\r\n\r\n")
        protocol.data_received(b" " * 200_000)
    assert (protocol.served, written(protocol)) == (3, [])


def test_many_small_requests_at_once(protocol: Served) -> None:
    requests = request(100) * 2000
    protocol.data_received(requests[:-10])
    protocol.data_received(requests[-10:])
    assert (protocol.served, written(protocol)) == (2000, [])


def test_nonsense_is_still_400(protocol: Served) -> None:
    protocol.data_received(b"nonsense\r\n\r\n")
    assert written(protocol)[0].startswith(b"HTTP/1.1 400 ")


def test_a_request_that_crosses_the_stop_is_served_and_is_the_last(protocol: Served) -> None:
    protocol.shutdown()
    protocol.transport.close.assert_not_called()  # type: ignore[attr-defined]
    protocol.data_received(request(100))
    assert (protocol.served, protocol.cycle.keep_alive) == (1, False)

"""The limit of a request's head, without a socket, and the order of refusals, with one."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import MagicMock

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from recipes.worker import MAX_HEAD, Protocol, refusal

REFUSAL = refusal(431)


class Served(Protocol):
    def __init__(self) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None: ...

        super().__init__(Config(app, lifespan="off"), ServerState(), {}, MagicMock())
        self.served = 0
        self.connection_made(MagicMock())
        self.transport.is_closing.return_value = False  # type: ignore[attr-defined]

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self.served += 1
        cycle.response_complete = True
        cycle.on_response()


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


async def slow_app(scope: Any, receive: Any, send: Any) -> None:
    while (message := await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.05)
    if message["type"] != "http.disconnect":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    config = Config(slow_app, lifespan="off")
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Protocol(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


BROKEN_BODY = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfive\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize(
    ("refused", "status"),
    [(b"nonsense\r\n\r\n", b"400"), (BROKEN_BODY, b"400"), (request(MAX_HEAD + 1), b"431")],
    ids=["nonsense", "body", "head"],
)
async def test_a_refusal_waits_for_the_answers_before_it(port: int, before: int, refused: bytes, status: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(100) * before + refused)
    async with asyncio.timeout(5):
        answers = re.findall(rb"^HTTP/1.1 (\d+)", await reader.read(), re.MULTILINE)
    writer.close()
    assert answers == [b"200"] * before + [status]

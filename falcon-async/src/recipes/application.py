"""Falcon's ASGI application, for two things that it expects otherwise than Granian tells them."""

from collections.abc import Awaitable, Callable
from typing import Any

from falcon.asgi import App, Request, Response

from shared.errors import BadRequest

type Receive = Callable[[], Awaitable[dict[str, Any]]]

EMPTY: dict[str, Any] = {"type": "http.request", "body": b"", "more_body": False}


class Application(App[Request, Response]):
    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Any) -> None:  # type: ignore[override]
        if scope["type"] == "http":
            # ASGI calls it 1.0, and Falcon refuses other names.
            if scope["http_version"] == "1":
                scope["http_version"] = "1.0"
            receive = answered(receive)
        await super().__call__(scope, receive, send)


def answered(receive: Receive) -> Receive:
    """To Granian a body that is no HTTP is a client that has left: Falcon gives no answer then, and Granian 500."""
    begun = False

    async def receive_on() -> dict[str, Any]:
        nonlocal begun
        event = await receive()
        if event["type"] == "http.disconnect":
            if begun:
                raise BadRequest
            event = EMPTY
        begun = True
        return event

    return receive_on

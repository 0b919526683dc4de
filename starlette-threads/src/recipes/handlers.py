"""From request to response, without `async`: Starlette runs a `def` handler in a thread of its pool.

Only the event loop can read a body. It does so first, as FastAPI does for its `def` handlers, and then asks a thread.
"""

import time
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from shared import inputs
from shared.contract import INDEX
from shared.models import to_json


class JSONResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return to_json(content)


def healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


def index(_: Request) -> Response:
    return HTMLResponse(INDEX)


async def work(request: Request) -> Response:
    delay_s = inputs.delay_s(request.query_params.getlist("delay_ms"))
    return await run_in_threadpool(add_and_wait, await body(request), delay_s)


def add_and_wait(content: bytes, delay_s: float) -> Response:
    total = sum(inputs.numbers(content))
    time.sleep(delay_s)
    return PlainTextResponse(f"Sum: {total}")


def random_recipe(request: Request) -> Response:
    return JSONResponse(request.state.repository.random_recipe(session_key(request)))


def recipe_by_id(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    return JSONResponse(request.state.repository.recipe_by_id(session_key(request), recipe_id))


async def write_note(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    return await run_in_threadpool(write, request, recipe_id, session_key(request), await body(request))


def write(request: Request, recipe_id: int, key: str, content: bytes) -> Response:
    note_id = request.state.repository.write_note(key, recipe_id, inputs.note_text(content))
    return JSONResponse({"id": note_id}, 201)


def dashboard(request: Request) -> Response:
    return JSONResponse(request.state.repository.dashboard(session_key(request)))


def session_key(request: Request) -> str:
    return inputs.session_key(request.cookies.get("sessionid"))


async def body(request: Request) -> bytes:
    """Raises PayloadTooLarge, by the length that the header says before it reads."""
    inputs.check_length(int(request.headers.get("content-length", 0)))
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        inputs.check_length(len(content))
    return bytes(content)

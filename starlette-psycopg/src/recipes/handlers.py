"""From request to response: checks the input, asks the repository, writes the answer."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from recipes.adding import add
from shared import inputs
from shared.contract import INDEX
from shared.models import to_json


class JSONResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return to_json(content)


async def healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def index(_: Request) -> Response:
    return HTMLResponse(INDEX)


async def work(request: Request) -> Response:
    delay_s = inputs.delay_s(request.query_params.getlist("delay_ms"))
    total = await add(await body(request))
    await asyncio.sleep(delay_s)
    return PlainTextResponse(f"Sum: {total}")


async def random_recipe(request: Request) -> Response:
    return JSONResponse(await request.state.repository.random_recipe(session_key(request)))


async def recipe_by_id(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    return JSONResponse(await request.state.repository.recipe_by_id(session_key(request), recipe_id))


async def write_note(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    key = session_key(request)
    text = inputs.note_text(await body(request))
    note_id = await request.state.repository.write_note(key, recipe_id, text)
    return JSONResponse({"id": note_id}, 201)


async def dashboard(request: Request) -> Response:
    return JSONResponse(await request.state.repository.dashboard(session_key(request)))


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

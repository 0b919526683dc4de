"""From request to response: checks the input, asks the repository, writes the answer."""

import asyncio

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from recipes import inputs
from recipes.config import INDEX
from recipes.responses import JSONResponse


async def healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def index(_: Request) -> Response:
    return HTMLResponse(INDEX)


async def work(request: Request) -> Response:
    delay_s = inputs.delay_s(request.query_params.getlist("delay_ms"))
    total = await request.state.add(await inputs.body(request))
    await asyncio.sleep(delay_s)
    return PlainTextResponse(f"Sum: {total}")


async def random_recipe(request: Request) -> Response:
    recipe = await request.state.repository.random_recipe(inputs.session_key(request))
    return JSONResponse(recipe)


async def recipe_by_id(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    recipe = await request.state.repository.recipe_by_id(inputs.session_key(request), recipe_id)
    return JSONResponse(recipe)


async def write_note(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    session_key = inputs.session_key(request)
    note = inputs.new_note(await inputs.body(request))
    note_id = await request.state.repository.write_note(session_key, recipe_id, note.text)
    return JSONResponse({"id": note_id}, 201)


async def dashboard(request: Request) -> Response:
    dashboard = await request.state.repository.dashboard(inputs.session_key(request))
    return JSONResponse(dashboard)

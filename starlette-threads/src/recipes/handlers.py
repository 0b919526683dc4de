"""python-async's handlers without `async`: Starlette runs each in a thread of its pool, even if it waits for nothing.

Only the loop can read a body. It does so first, as FastAPI does for its `def` handlers, and then hands it to a thread.
"""

import time

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from recipes.config import INDEX
from recipes.inputs import body
from recipes.responses import JSONResponse
from shared import inputs


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
    return JSONResponse(request.state.repository.random_recipe(inputs.session_key(request.cookies)))


def recipe_by_id(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    return JSONResponse(request.state.repository.recipe_by_id(inputs.session_key(request.cookies), recipe_id))


async def write_note(request: Request) -> Response:
    recipe_id = inputs.recipe_id(request.path_params["id"])
    session_key = inputs.session_key(request.cookies)
    return await run_in_threadpool(write, request, session_key, recipe_id, await body(request))


def write(request: Request, session_key: str, recipe_id: int, content: bytes) -> Response:
    note = inputs.new_note(content)
    return JSONResponse({"id": request.state.repository.write_note(session_key, recipe_id, note.text)}, 201)


def dashboard(request: Request) -> Response:
    return JSONResponse(request.state.repository.dashboard(inputs.session_key(request.cookies)))

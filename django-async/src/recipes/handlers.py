"""As python-sync's, but async where that changes something: what answers from memory, what waits, a dashboard.

The others stay `def`. Django's database layer is sync, and Django itself takes such a view to a thread:
https://docs.djangoproject.com/en/6.1/topics/async/#async-views
"""

import asyncio

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from recipes import dashboards, database, inputs, repository
from recipes.body import read_body
from recipes.config import INDEX
from recipes.responses import HTMLResponse, JSONResponse, TextResponse


@require_safe
async def healthz(_: HttpRequest) -> HttpResponse:
    return JSONResponse({"status": "ok"})


@require_safe
def pool(_: HttpRequest) -> HttpResponse:
    return JSONResponse(database.pool_use())


@require_safe
async def index(_: HttpRequest) -> HttpResponse:
    return HTMLResponse(INDEX)


@require_POST
async def work(request: HttpRequest) -> HttpResponse:
    delay_s = inputs.delay_s(request.GET.getlist("delay_ms"))
    total = sum(inputs.numbers(read_body(request)))
    await asyncio.sleep(delay_s)
    return TextResponse(f"Sum: {total}")


@require_safe
def random_recipe(request: HttpRequest) -> HttpResponse:
    return JSONResponse(repository.random_recipe(inputs.session_key(request)))


@require_safe
def recipe_by_id(request: HttpRequest, text: str) -> HttpResponse:
    recipe_id = inputs.recipe_id(text)
    return JSONResponse(repository.recipe_by_id(inputs.session_key(request), recipe_id))


@require_POST
def write_note(request: HttpRequest, text: str) -> HttpResponse:
    recipe_id = inputs.recipe_id(text)
    session_key = inputs.session_key(request)
    note = inputs.new_note(read_body(request))
    note_id = repository.write_note(session_key, recipe_id, note.text)
    return JSONResponse({"id": note_id}, 201)


@require_safe
async def dashboard(request: HttpRequest) -> HttpResponse:
    return JSONResponse(await dashboards.dashboard(inputs.session_key(request)))

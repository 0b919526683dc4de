"""From request to response: checks the input, asks the repository, writes the answer."""

import time

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from recipes import repository
from shared import inputs
from shared.contract import INDEX
from shared.models import to_json


def json_response(content: object, status: int = 200) -> HttpResponse:
    return HttpResponse(to_json(content), content_type="application/json", status=status)


@require_safe
def healthz(_: HttpRequest) -> HttpResponse:
    return json_response({"status": "ok"})


@require_safe
def index(_: HttpRequest) -> HttpResponse:
    return HttpResponse(INDEX)


@require_POST
def work(request: HttpRequest) -> HttpResponse:
    delay_s = inputs.delay_s(request.GET.getlist("delay_ms"))
    total = sum(inputs.numbers(request.body))
    time.sleep(delay_s)
    return HttpResponse(f"Sum: {total}", content_type="text/plain; charset=utf-8")


@require_safe
def random_recipe(request: HttpRequest) -> HttpResponse:
    return json_response(repository.random_recipe(session_key(request)))


@require_safe
def recipe_by_id(request: HttpRequest, text: str) -> HttpResponse:
    recipe_id = inputs.recipe_id(text)
    return json_response(repository.recipe_by_id(session_key(request), recipe_id))


@require_POST
def write_note(request: HttpRequest, text: str) -> HttpResponse:
    recipe_id = inputs.recipe_id(text)
    key = session_key(request)
    note_id = repository.write_note(key, recipe_id, inputs.note_text(request.body))
    return json_response({"id": note_id}, 201)


def session_key(request: HttpRequest) -> str:
    return inputs.session_key(request.COOKIES.get("sessionid"))

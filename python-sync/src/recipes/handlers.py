"""From request to response: checks the input, asks the repository, writes JSON."""

import re

from django.http import HttpRequest, HttpResponse

from recipes import repository
from recipes.errors import BadRequest, Unauthorized
from recipes.responses import JSONResponse

RECIPE_ID = re.compile(r"[1-9][0-9]{0,9}")
MAX_RECIPE_ID = 2**31 - 1


def healthz(_: HttpRequest) -> HttpResponse:
    return JSONResponse({"status": "ok"})


def random_recipe(request: HttpRequest) -> HttpResponse:
    return JSONResponse(repository.random_recipe(session_key(request)))


def recipe_by_id(request: HttpRequest, text: str) -> HttpResponse:
    recipe_id = parse_id(text)
    return JSONResponse(repository.recipe_by_id(session_key(request), recipe_id))


def parse_id(text: str) -> int:
    if not RECIPE_ID.fullmatch(text) or int(text) > MAX_RECIPE_ID:
        raise BadRequest
    return int(text)


def session_key(request: HttpRequest) -> str:
    key = request.COOKIES.get("sessionid")
    # A quoted cookie can hold any octet, PostgreSQL's text anything but NUL.
    if not key or "\0" in key:
        raise Unauthorized
    return key

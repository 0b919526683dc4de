"""From request to response: checks the input, asks the repository, writes JSON."""

import re

from starlette.requests import Request
from starlette.responses import Response

from recipes.errors import BadRequest, Unauthorized
from recipes.responses import JSONResponse

RECIPE_ID = re.compile(r"[1-9][0-9]{0,9}")
MAX_RECIPE_ID = 2**31 - 1


async def healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def random_recipe(request: Request) -> Response:
    recipe = await request.state.repository.random_recipe(session_key(request))
    return JSONResponse(recipe)


async def recipe_by_id(request: Request) -> Response:
    recipe_id = parse_id(request.path_params["id"])
    recipe = await request.state.repository.recipe_by_id(session_key(request), recipe_id)
    return JSONResponse(recipe)


def parse_id(text: str) -> int:
    if not RECIPE_ID.fullmatch(text) or int(text) > MAX_RECIPE_ID:
        raise BadRequest
    return int(text)


def session_key(request: Request) -> str:
    key = request.cookies.get("sessionid")
    # A quoted cookie can hold any octet, PostgreSQL's text anything but NUL.
    if not key or "\0" in key:
        raise Unauthorized
    return key

"""From request to response: checks the input, asks the repository, writes the answer."""

import time
from contextlib import suppress

from falcon import HTTP_201, Request, Response

from recipes.database import Pool
from recipes.repository import Repository
from shared import inputs
from shared.config import INDEX, MAX_BODY
from shared.database import pool_use
from shared.errors import ApiError, BadRequest
from shared.json import encode


def body(request: Request) -> bytes:
    """Raises PayloadTooLarge before it reads more than MAX_BODY bytes, BadRequest when the body breaks off."""
    inputs.check_length(request.content_length)
    return inputs.whole(request.stream.read(MAX_BODY + 1), request.content_length)


def pass_over_body(request: Request) -> None:
    """Reads what a refusal has left of a body, unless that is too long. Granian closes the connection after a body that
    nobody read, without saying so, and the client's next request is lost."""
    with suppress(ApiError):
        body(request)


class Healthz:
    def on_get(self, _: Request, response: Response) -> None:
        response.data = encode({"status": "ok"})


class Index:
    def on_get(self, request: Request, response: Response) -> None:
        # A target that is no path, such as `healthz`: Granian gives none, and Falcon takes that for `/`.
        if not request.env["PATH_INFO"]:
            raise BadRequest
        response.content_type = "text/html; charset=utf-8"
        response.data = INDEX


class Work:
    def on_post(self, request: Request, response: Response) -> None:
        delay_s = inputs.delay_s(request.get_param_as_list("delay_ms"))
        total = sum(inputs.numbers(body(request)))
        time.sleep(delay_s)
        response.content_type = "text/plain; charset=utf-8"
        response.data = b"Sum: %d" % total


class RandomRecipe:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def on_get(self, request: Request, response: Response) -> None:
        response.data = encode(self._repository.random_recipe(inputs.session_key(request.cookies)))


class RecipeById:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def on_get(self, request: Request, response: Response, text: str) -> None:
        recipe_id = inputs.recipe_id(text)
        response.data = encode(self._repository.recipe_by_id(inputs.session_key(request.cookies), recipe_id))


class Notes:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def on_post(self, request: Request, response: Response, text: str) -> None:
        recipe_id = inputs.recipe_id(text)
        session_key = inputs.session_key(request.cookies)
        note = inputs.new_note(body(request))
        response.data = encode({"id": self._repository.write_note(session_key, recipe_id, note.text)})
        response.status = HTTP_201


class Dashboard:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def on_get(self, request: Request, response: Response) -> None:
        response.data = encode(self._repository.dashboard(inputs.session_key(request.cookies)))


class PoolUse:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def on_get(self, _: Request, response: Response) -> None:
        response.data = encode(pool_use(self._pool.get_stats()))

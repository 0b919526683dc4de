"""From request to response: checks the input, asks the repository, writes the answer."""

import time

from falcon import HTTP_201, Request, Response

from recipes.database import Database
from recipes.repository import Repository
from shared import inputs
from shared.contract import INDEX
from shared.models import to_json


class Healthz:
    def on_get(self, _: Request, response: Response) -> None:
        response.data = to_json({"status": "ok"})


class Index:
    def on_get(self, _: Request, response: Response) -> None:
        response.content_type = "text/html; charset=utf-8"
        response.data = INDEX


class Work:
    def on_post(self, request: Request, response: Response) -> None:
        content = body(request)
        delay_s = inputs.delay_s(request.get_param_as_list("delay_ms"))
        total = sum(inputs.numbers(content))
        time.sleep(delay_s)
        response.content_type = "text/plain; charset=utf-8"
        response.data = b"Sum: %d" % total


class Recipes:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def on_get(self, request: Request, response: Response) -> None:
        response.data = to_json(self._repository.random_recipe(session_key(request)))

    def on_get_one(self, request: Request, response: Response, text: str) -> None:
        recipe_id = inputs.recipe_id(text)
        response.data = to_json(self._repository.recipe_by_id(session_key(request), recipe_id))

    def on_post_note(self, request: Request, response: Response, text: str) -> None:
        content = body(request)
        recipe_id = inputs.recipe_id(text)
        key = session_key(request)
        note_id = self._repository.write_note(key, recipe_id, inputs.note_text(content))
        response.data = to_json({"id": note_id})
        response.status = HTTP_201

    def on_get_dashboard(self, request: Request, response: Response) -> None:
        response.data = to_json(self._repository.dashboard(session_key(request)))


class Pool:
    def __init__(self, database: Database) -> None:
        self._database = database

    def on_get(self, _: Request, response: Response) -> None:
        response.data = to_json(self._database.use())


def session_key(request: Request) -> str:
    return inputs.session_key(request.cookies.get("sessionid"))


def body(request: Request) -> bytes:
    """Raises PayloadTooLarge. Handlers begin with it: Granian closes the connection of a body that nobody read."""
    inputs.check_length(request.content_length or 0)
    content: bytes = request.stream.read(inputs.MAX_BODY + 1)
    inputs.check_length(len(content))
    return content

"""The ASGI application: its routes, its errors, and what it opens at its start."""

import logging

from falcon.asgi import App, Request, Response

from recipes import handlers
from recipes.database import Database
from recipes.repository import Repository
from shared.config import settings
from shared.errors import ApiError
from shared.models import to_json

logger = logging.getLogger(__name__)


class Lifespan:
    """Opens the connections on the event loop that will use them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def process_startup(self, *_: object) -> None:
        await self._database.open()

    async def process_shutdown(self, *_: object) -> None:
        await self._database.close()


def build() -> App[Request, Response]:
    """The application of one process."""
    database = Database(settings)
    return assemble(database, Repository(database))


def assemble(database: Database, repository: Repository) -> App[Request, Response]:
    app = App(middleware=[Lifespan(database)])
    index, recipes = handlers.Index(), handlers.Recipes(repository)
    app.add_route("/", index)
    app.add_route("/index.html", index)
    app.add_route("/index.htm", index)
    app.add_route("/healthz", handlers.Healthz())
    app.add_route("/work", handlers.Work())
    app.add_route("/api/v1/recipes", recipes)
    app.add_route("/api/v1/recipes/{text}", recipes, suffix="one")
    app.add_route("/api/v1/recipes/{text}/notes", recipes, suffix="note")
    app.add_route("/api/v1/dashboard", recipes, suffix="dashboard")
    app.add_error_handler(ApiError, on_api_error)
    return app


async def on_api_error(_: Request, response: Response, error: ApiError, __: object) -> None:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    response.status = error.status
    response.data = to_json({"error": error.message})

"""The WSGI application: its routes and its errors."""

import logging

import falcon
from falcon import Request, Response

from recipes import handlers
from recipes.database import Database
from recipes.repository import Repository
from shared.config import settings
from shared.errors import ApiError
from shared.models import to_json

logger = logging.getLogger(__name__)

type App = falcon.App[Request, Response]


def build() -> App:
    """The application of one process, with its connections."""
    database = Database(settings)
    database.open()
    return assemble(database, Repository(database))


def assemble(database: Database, repository: Repository) -> App:
    app = falcon.App()
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
    if settings.pool_tells:
        app.add_route("/pool", handlers.Pool(database))
    app.add_error_handler(ApiError, on_api_error)
    return app


def on_api_error(_: Request, response: Response, error: ApiError, __: object) -> None:
    if error.status >= 500:
        logger.error("%s: %r", error.message, error.__cause__)
    response.status = error.status
    response.data = to_json({"error": error.message})

"""The WSGI application, put together. Its paths are in the shared `routes.py`."""

import falcon

from recipes import handlers
from recipes.database import Pool, make_pool, open_pool
from recipes.repository import Repository
from shared.config import settings
from shared.errors import PayloadTooLarge
from shared.refusals import refuse
from shared.routes import Router, add_routes


def build() -> falcon.App[falcon.Request, falcon.Response]:
    """The application of one process, with its connections."""
    pool = make_pool(settings)
    open_pool(pool)
    return assemble(pool, Repository(pool, set_time_zone=settings.db_time_zone == "request"))


def assemble(pool: Pool, repository: Repository) -> falcon.App[falcon.Request, falcon.Response]:
    app = falcon.App(router=Router())
    for kind in (Exception, falcon.HTTPError):
        app.add_error_handler(kind, on_error)
    resources = {
        "healthz": handlers.Healthz(),
        "index": handlers.Index(),
        "work": handlers.Work(),
        "random_recipe": handlers.RandomRecipe(repository),
        "recipe": handlers.RecipeById(repository),
        "notes": handlers.Notes(repository),
        "dashboard": handlers.Dashboard(repository),
        "pool": handlers.PoolUse(pool),
    }
    add_routes(app, resources)
    return app


def on_error(request: falcon.Request, response: falcon.Response, error: Exception, _: object) -> None:
    if not isinstance(error, PayloadTooLarge):
        handlers.pass_over_body(request)
    refuse(request, response, error)

"""The ASGI application, put together. Its paths are in the shared `routes.py`."""

from concurrent.futures import ThreadPoolExecutor

import falcon
from falcon.asgi import Request, Response

from recipes import handlers
from recipes.adding import adding
from recipes.application import Application
from recipes.database import Pool, make_pool, open_pool
from recipes.repository import Repository
from shared.config import settings
from shared.refusals import refuse
from shared.routes import Router, add_routes


class Lifespan:
    """Opens the connections on the event loop that will use them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def process_startup(self, *_: object) -> None:
        await open_pool(self._pool)

    async def process_shutdown(self, *_: object) -> None:
        await self._pool.close()


def build() -> Application:
    """The application of one process."""
    pool = make_pool(settings)
    return assemble(pool, Repository(pool, set_time_zone=settings.db_time_zone == "request"))


def assemble(pool: Pool, repository: Repository) -> Application:
    # It starts its threads when there is work for them.
    executor = ThreadPoolExecutor(settings.threads)
    app = Application(router=Router(), middleware=[Lifespan(pool)])
    for kind in (Exception, falcon.HTTPError):
        app.add_error_handler(kind, on_error)
    resources = {
        "healthz": handlers.Healthz(),
        "index": handlers.Index(),
        "work": handlers.Work(adding(settings.offload, executor)),
        "random_recipe": handlers.RandomRecipe(repository),
        "recipe": handlers.RecipeById(repository),
        "notes": handlers.Notes(repository),
        "dashboard": handlers.Dashboard(repository),
        "pool": handlers.PoolUse(pool),
    }
    add_routes(app, resources)
    return app


async def on_error(request: Request, response: Response, error: Exception, _: object) -> None:
    refuse(request, response, error)

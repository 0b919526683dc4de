"""Which handler answers which path. A route for GET answers HEAD too."""

from starlette.routing import Route

from recipes import handlers

routes = [
    Route("/", handlers.index),
    Route("/index.html", handlers.index),
    Route("/index.htm", handlers.index),
    Route("/healthz", handlers.healthz),
    Route("/work", handlers.work, methods=["POST"]),
    Route("/api/v1/recipes", handlers.random_recipe),
    Route("/api/v1/recipes/{id}", handlers.recipe_by_id),
    Route("/api/v1/recipes/{id}/notes", handlers.write_note, methods=["POST"]),
    Route("/api/v1/dashboard", handlers.dashboard),
]

"""Which handler answers which path. A route for GET answers HEAD too."""

from starlette.routing import Route

from recipes.handlers import healthz, random_recipe, recipe_by_id

routes = [
    Route("/healthz", healthz),
    Route("/api/v1/recipes", random_recipe),
    Route("/api/v1/recipes/{id}", recipe_by_id),
]

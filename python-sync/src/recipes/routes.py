"""Which handler answers which path."""

from django.urls import path

from recipes import errors, handlers
from recipes.config import env

urlpatterns = [
    path("", handlers.index),
    path("index.html", handlers.index),
    path("index.htm", handlers.index),
    path("healthz", handlers.healthz),
    path("work", handlers.work),
    path("api/v1/recipes", handlers.random_recipe),
    path("api/v1/recipes/<str:text>", handlers.recipe_by_id),
    path("api/v1/recipes/<str:text>/notes", handlers.write_note),
    path("api/v1/dashboard", handlers.dashboard),
]
if env.pool_tells:
    urlpatterns.append(path("pool", handlers.pool))
handler400 = errors.on_suspicious_request
handler404 = errors.on_unknown_path
handler500 = errors.on_exception

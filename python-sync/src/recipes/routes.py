"""Which handler answers which path."""

from django.urls import path

from recipes import errors, handlers

urlpatterns = [
    path("healthz", handlers.healthz),
    path("api/v1/recipes", handlers.random_recipe),
    path("api/v1/recipes/<str:text>", handlers.recipe_by_id),
]
handler404 = errors.on_unknown_path
handler500 = errors.on_exception

"""Which view answers which path."""

from django.urls import path

from recipes import views

urlpatterns = [
    path("", views.index),
    path("index.html", views.index),
    path("index.htm", views.index),
    path("healthz", views.healthz),
    path("work", views.work),
    path("api/v1/recipes", views.random_recipe),
    path("api/v1/recipes/<str:text>", views.recipe_by_id),
    path("api/v1/recipes/<str:text>/notes", views.write_note),
]

"""The ASGI application. Its paths are in `routes.py`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recipes.config")
app = get_asgi_application()

"""The WSGI application. Its paths are in `routes.py`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recipes.config")
app = get_wsgi_application()

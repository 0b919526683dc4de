"""The WSGI application.

GET /healthz                 alive, never touches the database
GET /api/v1/recipes          a random recipe of the session's user or of their teams
GET /api/v1/recipes/{id}     the recipe of that id, if the session's user may see it
"""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recipes.config")
app = get_wsgi_application()

"""Django's settings. No sessions, templates or secret key: nothing here would use them.

https://docs.djangoproject.com/en/6.1/ref/settings/
"""

from typing import Any

import psycopg
from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format

from recipes.database import check_connection
from shared.config import settings
from shared.inputs import MAX_BODY

ROOT_URLCONF = "recipes.urls"
INSTALLED_APPS = ["recipes"]
MIDDLEWARE = ["recipes.middleware.ApiMiddleware"]
# Nothing builds a URL from the Host header.
ALLOWED_HOSTS = ["*"]
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY
TIME_ZONE = "UTC"


class BinaryCursor(ServerBindingCursor):
    """Results in PostgreSQL's binary format, which psycopg reads in C. Moments as text go through a loader of Django's.

    https://www.psycopg.org/psycopg3/docs/basic/params.html#binary-parameters-and-results
    """

    def __init__(self, connection: psycopg.Connection, **options: Any) -> None:
        super().__init__(connection, **options)  # type: ignore[call-arg]
        self.format = Format.BINARY


# https://www.psycopg.org/psycopg3/docs/api/pool.html#the-connectionpool-class
POOL = {
    # As many at the start as at the most: no request waits for a login.
    "min_size": settings.pool_size,
    "max_size": settings.pool_size,
    # For a free connection.
    "timeout": 2.5,
    # Gives up a lost place soon, so that the next request tries again at once when the database is back.
    "reconnect_timeout": 1,
    "check": check_connection,
}

server: dict[str, Any] = conninfo_to_dict(settings.database_url)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": server.pop("dbname"),
        "OPTIONS": {
            **server,
            # https://www.postgresql.org/docs/17/libpq-connect.html#LIBPQ-PARAMKEYWORDS; 2 s is the least.
            "connect_timeout": 2,
            "tcp_user_timeout": 2000,
            "pool": POOL,
            # Parameters travel beside the text, which is what lets a statement be prepared.
            "server_side_binding": True,
            "cursor_factory": BinaryCursor,
            # On first use, or never. https://www.psycopg.org/psycopg3/docs/advanced/prepare.html
            "prepare_threshold": 0 if settings.db_prepare else None,
        },
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": settings.logging_level},
    # A client's mistake is no warning about this service.
    "loggers": {"django": {"handlers": []}, "django.request": {"level": "ERROR"}},
}

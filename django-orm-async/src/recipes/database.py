"""The pool of Django's connections; Django takes one with a request's first statement, and gives it back at its end."""

from select import POLLIN, poll
from typing import cast

import psycopg
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper


def django_database() -> DatabaseWrapper:
    return cast(DatabaseWrapper, connection)


def check_connection(idle: psycopg.Connection) -> None:
    """For the pool, before it hands a connection on. It asks the kernel: an idle one has nothing to read but its end.

    Django's CONN_HEALTH_CHECKS would ask the server, in each request.
    """
    poller = poll()
    poller.register(idle.fileno(), POLLIN)
    if poller.poll(0):
        # The others have ended too, as a rule.
        django_database().pool.drain()
        raise psycopg.OperationalError("the server closed an idle connection")

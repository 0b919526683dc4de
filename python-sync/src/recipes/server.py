"""Gunicorn's configuration; every other setting is its default. https://gunicorn.org/reference/settings/"""

import resource
from typing import Any, cast

from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from recipes.config import env

# As many open files as the container may have; every worker inherits it.
hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))

wsgi_app = "recipes.main:app"
bind = f"0.0.0.0:{env.port}"
workers = env.processes
worker_class = "gthread"
threads = env.threads
# Connections that one worker keeps open: all that the proxy may send, because the others could send none.
worker_connections = 4000
# The application is imported once and shared; its database connections are opened after the fork.
preload_app = True
# The heartbeat must not wait for a disk. https://gunicorn.org/reference/settings/#worker_tmp_dir
worker_tmp_dir = "/dev/shm"
# Longer than the proxy keeps an idle connection, so that it is the proxy that closes.
keepalive = 75
# A worker that was silent because the container or the machine was frozen is none that hangs.
# https://gunicorn.org/reference/settings/#timeout
timeout = 3600
# Longer than the longest request, shorter than the container's 15 s.
graceful_timeout = 11
# The most that gunicorn allows, and fewer fields: it limits each of them, and a head as a whole only so.
limit_request_line = 8190
limit_request_fields = 40
accesslog = "-" if env.access_log else None
loglevel = env.logging_level
# Nobody would use it, and the user has no home to put it in.
control_socket_disable = True


def on_starting(arbiter: Any) -> None:
    if env.processes < env.workers:
        arbiter.log.warning("WORKERS is %d, as DB_POOL_MAX is", env.processes)


def post_worker_init(_: object) -> None:
    """Fills the pool before the first request; Django would on the first."""
    if env.db_persistent:
        cast(DatabaseWrapper, connection).pool.open()


def worker_exit(_: object, __: object) -> None:
    cast(DatabaseWrapper, connection).close_pool()

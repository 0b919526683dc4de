"""Gunicorn's configuration; every other setting is its default. https://gunicorn.org/reference/settings/"""

import resource
from typing import Any, Literal

from pydantic_settings import BaseSettings
from uvicorn_worker import UvicornWorker

from shared.config import settings

# As many open files as the container may have; every worker inherits it.
hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))


class Own(BaseSettings):
    """What no other program has (`bench.toml`)."""

    model_config = settings.model_config

    loop: Literal["uvloop", "asyncio"] = "uvloop"


class Worker(UvicornWorker):
    """gunicorn manages the processes, uvicorn serves in them. https://github.com/Kludex/uvicorn-worker#uvicorn-worker"""

    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012
        "loop": Own().loop,
        "http": "httptools",
        "ws": "none",
        "lifespan": "on",
        # Nothing here asks for the client's address.
        "proxy_headers": False,
        "server_header": False,
    }


wsgi_app = "recipes.main:app"
bind = f"0.0.0.0:{settings.port}"
workers = settings.processes
worker_class = Worker
# The application is imported once and shared; its database connections are opened after the fork.
preload_app = True
# The heartbeat must not wait for a disk. https://gunicorn.org/reference/settings/#worker_tmp_dir
worker_tmp_dir = "/dev/shm"
# Longer than the proxy keeps an idle connection, so that it is the proxy that closes.
keepalive = 75
# Longer than the longest request, shorter than the container's 15 s.
graceful_timeout = 11
# What Linux allows unless told otherwise: thousands of clients may connect in one moment.
backlog = 4096
accesslog = "-" if settings.access_log else None
loglevel = settings.logging_level
# Nobody would use it, and the user has no home to put it in.
control_socket_disable = True


def on_starting(arbiter: Any) -> None:
    if settings.processes < settings.workers:
        arbiter.log.warning("WORKERS is %d, as DB_POOL_MAX is", settings.processes)

"""Granian in either mode; every other setting is its default. https://github.com/emmett-framework/granian#options"""

import logging
import resource
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from shared.config import settings

logger = logging.getLogger(__name__)

LOGGING = {
    "formatters": {
        "line": {"format": "%(levelname)s %(name)s: %(message)s"},
        "access": {"format": "%(message)s"},
    },
    # Standard output is for the lines of ACCESS_LOG alone.
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
        "stdout": {"class": "logging.StreamHandler", "formatter": "access", "stream": "ext://sys.stdout"},
    },
    "root": {"handlers": ["stderr"], "level": settings.log_level.upper()},
    "loggers": {
        "_granian": {"handlers": ["stderr"], "propagate": False},
        "granian.access": {"handlers": ["stdout"], "level": "INFO", "propagate": False},
    },
}


def serve(interface: Interfaces, **model: Any) -> None:
    """Serves `recipes.main` until SIGTERM. model: the options in which the concurrency models differ."""
    # As many open files as the container may have; every worker inherits it.
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    server = Granian(
        "recipes.main:build",
        # Called in each worker, so that every one has a pool of its own.
        factory=True,
        interface=interface,
        address="0.0.0.0",
        port=settings.port,
        workers=settings.processes,
        http=HTTPModes.http1,
        websockets=False,
        # What Linux allows unless told otherwise: thousands of clients may connect in one moment.
        backlog=4096,
        # Connections, not requests: more than the contract has clients.
        backpressure=16_384,
        http1_settings=HTTP1Settings(
            # It is also what ends an idle connection: longer than the proxy keeps one, so that the proxy closes.
            header_read_timeout=75_000,
            # A read may go as far beyond it again: a head of 64 KiB is never served.
            max_buffer_size=32_768,
        ),
        # Longer than the longest request, shorter than the container's 15 s.
        workers_kill_timeout=11,
        log_level=LogLevels(settings.log_level),
        log_dictconfig=LOGGING,
        log_access=settings.access_log,
        **model,
    )
    if settings.processes < settings.workers:
        logger.warning("WORKERS is %d, as DB_POOL_MAX is", settings.processes)
    server.serve()

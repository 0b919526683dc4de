"""Granian, with an event loop that runs the requests; every other setting is its default.

https://github.com/emmett-framework/granian#options
"""

import logging
import resource

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from shared.config import settings

LOGGING = {
    # Standard output is for the lines of ACCESS_LOG alone.
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "generic"},
        "access": {"class": "logging.StreamHandler", "formatter": "access", "stream": "ext://sys.stdout"},
    },
    "root": {"handlers": ["console"], "level": settings.logging_level},
}

if __name__ == "__main__":
    # As many open files as the container may have; every worker inherits it.
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    server = Granian(
        "recipes.main:build",
        # Called in each worker, so that every one has a pool of its own.
        factory=True,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        address="0.0.0.0",
        port=settings.port,
        workers=settings.processes,
        respawn_failed_workers=True,
        http=HTTPModes.http1,
        websockets=False,
        # What Linux allows unless told otherwise: thousands of clients may connect in one moment.
        backlog=4096,
        # Connections, not requests: more than the contract has clients.
        backpressure=16_384,
        # It is also what ends an idle connection: longer than the proxy keeps one, so that the proxy closes.
        http1_settings=HTTP1Settings(header_read_timeout=75_000),
        # Longer than the longest request, shorter than the container's 15 s.
        workers_kill_timeout=11,
        log_level=LogLevels(settings.log_level),
        log_dictconfig=LOGGING,
        log_access=settings.access_log,
    )
    if settings.processes < settings.workers:
        logging.getLogger(__name__).warning("WORKERS is %d, as DB_POOL_MAX is", settings.processes)
    server.serve()

"""uvicorn's worker under gunicorn, with uvicorn's settings."""

from typing import Any

from uvicorn_worker import UvicornWorker


class Worker(UvicornWorker):
    """https://github.com/Kludex/uvicorn-worker#uvicorn-worker"""

    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012
        "loop": "uvloop",
        "http": "httptools",
        "ws": "none",
        "lifespan": "on",
        # Nothing here asks for the client's address.
        "proxy_headers": False,
        "server_header": False,
    }

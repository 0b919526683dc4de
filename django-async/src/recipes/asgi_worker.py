"""python-async's worker, without a lifespan: Django has none, and its pool opens with the worker (`server.py`)."""

from typing import Any

from recipes.worker import Worker


class AsgiWorker(Worker):
    CONFIG_KWARGS: dict[str, Any] = {**Worker.CONFIG_KWARGS, "lifespan": "off"}  # noqa: RUF012

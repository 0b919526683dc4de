"""Every implementation runs these tests; its own `tests/model.py` says how its model is driven."""

from model import client, connection, pool, run

__all__ = ["client", "connection", "pool", "run"]

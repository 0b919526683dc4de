"""Every program runs these tests; its own `tests/program.py` says how it is asked."""

from program import ask

__all__ = ["ask"]

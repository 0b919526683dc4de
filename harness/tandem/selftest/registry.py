"""Which checks there are. A new module is one line here."""

from collections.abc import Callable
from types import ModuleType

from tandem.selftest import units as units_
from tandem.selftest.outcome import Outcome

UNIT: list[ModuleType] = [units_]
"""Modules with `checks() -> list[Callable[[], Outcome]]`: no containers, a few seconds in all."""


def units() -> list[Callable[[], Outcome]]:
    """The checks of the unit class."""
    return [check for module in UNIT for check in module.checks()]

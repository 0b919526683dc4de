"""Ties a check to the knob that it is about."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., None])


def needs(knob: str) -> Callable[[Function], Function]:
    """Marks a check as one of this knob: it is skipped where bench.toml says the knob is unsupported."""

    def mark(check: Function) -> Function:
        check.knob = knob  # type: ignore[attr-defined]
        return check

    return mark

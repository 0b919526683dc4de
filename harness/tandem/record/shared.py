"""Nested dictionaries that are much alike, written as what most of them have and what each has of its own. Pure."""

from collections.abc import Sequence
from typing import Any


def common(alike: Sequence[Any]) -> Any:
    """The keys that all have, each with its most frequent value."""
    if not all(isinstance(one, dict) for one in alike):
        return max(alike, key=alike.count)
    keys = dict.fromkeys(key for one in alike for key in one)
    return {key: common([one[key] for one in alike]) for key in keys if all(key in one for one in alike)}


def difference(one: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """What has to be laid over `shared`, which `common` made of this and others, to get it back."""
    out = {}
    for key, value in one.items():
        if key not in shared:
            out[key] = value
        elif value != shared[key]:
            nested = isinstance(value, dict) and isinstance(shared[key], dict)
            out[key] = difference(value, shared[key]) if nested else value
    return out


def laid_over(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A copy of `shared` in which the values of `own` stand."""
    out = dict(shared)
    for key, value in own.items():
        nested = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = laid_over(out[key], value) if nested else value
    return out

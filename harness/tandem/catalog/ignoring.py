"""JSON answers of which some values may differ, such as dates and ids. Pure.

A path names them by keys with dots between, `*` any key or place of a list: `created_at`, `items.*.id`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any


def same(body: bytes, right: bytes, ignored: Sequence[str]) -> bool:
    """Whether two bodies are alike but for the values at these paths."""
    if body == right or not ignored:
        return body == right
    try:
        return bool(without(json.loads(body), ignored) == without(json.loads(right), ignored))
    except ValueError:
        return False


def without(document: Any, paths: Sequence[str]) -> Any:
    """The document with null at each of these paths that it has. It is changed in place."""
    for path in paths:
        *before, last = path.split(".")
        found = [document]
        for step in before:
            found = [value for one in found for _, value in _at(one, step)]
        for one in found:
            for key, _ in [*_at(one, last)]:
                one[key] = None
    return document


def differing(one: Any, other: Any, at: tuple[str, ...] = ()) -> set[str]:
    """Paths at which two documents differ, places of lists as `*`. That of a whole document is empty."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {path for key in one for path in differing(one[key], other[key], (*at, key))}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {path for pair in zip(one, other, strict=True) for path in differing(*pair, (*at, "*"))}
    return set() if one == other else {".".join(at)}


def _at(document: Any, step: str) -> Iterator[tuple[Any, Any]]:
    """Keys and values of one step of a path."""
    items = dict(enumerate(document)) if isinstance(document, list) else document
    if isinstance(items, dict):
        yield from ((key, value) for key, value in items.items() if step in ("*", str(key)))

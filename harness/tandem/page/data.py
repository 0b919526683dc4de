"""The records as JSON for the page: columns, with every text once. Pure."""

import json
import math
from collections.abc import Iterable
from typing import Any

type PageRow = dict[str, Any]


class Texts:
    """Every text once; what stands for it is its place."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(text)
        return self._places[text]


def columns(rows: Iterable[PageRow], texts: Texts) -> dict[str, Any]:
    """{"t": columns of texts, as places; "n": all others}."""
    found = list(rows)
    names = list(dict.fromkeys(name for row in found for name in row))
    out: dict[str, Any] = {"length": len(found), "names": names, "t": {}, "n": {}}
    for name in names:
        values = [row.get(name) for row in found]
        if all(isinstance(value, str) for value in values):
            out["t"][name] = [texts.place(value) for value in values if isinstance(value, str)]
        else:
            out["n"][name] = [_short(value) for value in values]
    return out


def _short(value: Any) -> Any:
    """Four digits are as many as anybody sees."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.4g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


def script(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(sign, code)
    return text

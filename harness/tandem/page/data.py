"""What a page draws from, as JSON: columns, with every text once. Pure."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tandem.report.chart import Spec
from tandem.report.picture import Picture

type PageRow = dict[str, Any]


@dataclass(frozen=True)
class AddedFigure(Picture):
    """A picture that a study or a statement adds to a page."""

    slug: str = ""
    """The page of the result that it is of; empty for a statement."""

    @property
    def id(self) -> str:
        """Its name, unique within a page."""
        return f"{self.slug}-{self.name}" if self.slug else self.name

    @property
    def of(self) -> str:
        """Slug or name under whose conditions the picture was made."""
        return self.slug or self.name


@dataclass
class PageData:
    """What the code of a page draws from."""

    sets: dict[str, list[PageRow]] = field(default_factory=dict)
    """Name of a picture -> its rows."""
    figures: list[AddedFigure] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Slug of a result, or of a nightly history -> how it is called in a choice."""
    conditions: dict[str, str] = field(default_factory=dict)

    def as_json(self, specs: dict[str, Spec]) -> dict[str, Any]:
        """The data as JSON, with every text once. specs: of the pictures."""
        texts: dict[str, int] = {}
        shown = {str(row["run"]) for rows in self.sets.values() for row in rows}
        shown |= {figure.of for figure in self.figures}
        return {
            "sets": {name: columns(rows, texts) for name, rows in self.sets.items()},
            "texts": list(texts),
            "specs": specs,
            "own": {figure.id: figure.spec for figure in self.figures},
            "runs": {slug: name for slug, name in self.names.items() if slug in shown},
            "conditions": {slug: text for slug, text in self.conditions.items() if slug in shown},
        }


def columns(rows: Iterable[PageRow], texts: dict[str, int]) -> dict[str, Any]:
    """{"t": columns of texts, as places; "n": all others}. texts: every text once -> its place."""
    found = list(rows)
    names = list(dict.fromkeys(name for row in found for name in row))
    out: dict[str, Any] = {"length": len(found), "names": names, "t": {}, "n": {}}
    for name in names:
        values = [row.get(name) for row in found]
        if all(isinstance(value, str) for value in values):
            out["t"][name] = [
                texts.setdefault(value, len(texts)) for value in values if isinstance(value, str)
            ]
        else:
            out["n"][name] = [_short(value) for value in values]
    return out


def _short(value: Any) -> Any:
    """Round to four digits, which are as many as anybody sees."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.4g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


def script(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text

"""A picture that a study adds to the result pages. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """A Vega-Lite chart with its data in it."""

    name: str
    """Unique within its study."""
    title: str
    says: str
    """One sentence: what it shows, and what it does not."""
    spec: dict[str, Any]
    """Width and theme are the page's. A colour may be one of the page's CSS variables, such as `--lang-python`."""

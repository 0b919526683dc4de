"""A picture that a study adds to the result pages. Pure."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Picture:
    """A Vega-Lite chart with its data in it."""

    name: str
    """Unique within its study."""
    title: str
    says: str
    """One sentence: what it shows, and what it does not."""
    spec: dict[str, Any]
    """Width and theme are the page's. `data.values` is its rows, which the page shows as a table as well, but for the columns
    whose name begins with `_`. A colour may be one of the page's CSS variables, such as `--lang-python`, in the rows too where
    the column is called `hue`."""
    section: Literal["why", "explore"] = "explore"
    """The part of the first page that it belongs to."""
    read: str = ""
    """The document that says how to read it, such as `reference/explaining`."""

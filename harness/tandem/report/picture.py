"""A picture in the report of a study: pages show it, a terminal does not. Pure."""

import json
import re
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderResult

from tandem.report.chart import Spec


@dataclass(frozen=True)
class Picture:
    """A Vega-Lite chart with its data in it."""

    name: str
    """Name, unique within its study."""
    title: str
    says: str
    """One sentence: what it shows, and what it does not."""
    spec: Spec
    """Width and theme are the page's. `data.values` is its rows, which the page shows as a table as well, but for the columns
    whose name begins with `_`. A colour may be one of the page's CSS variables, such as `--lang-python`, in the rows too where
    the column is called `hue`."""
    section: Literal["why", "explore"] = "explore"
    """The part of the first page that it belongs to."""
    read: str = ""
    """The document that says how to read it, such as `reference/explaining`."""
    file: str = ""
    """Name of the file beside the result that has it as well; empty: none."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Nothing: a terminal draws no picture."""
        return ()


COLOURS = {
    "--card": "#ffffff",
    "--ink": "#1c2024",
    "--muted": "#5b636c",
    "--rule": "#e2e4e7",
    "--soft": "#f1f2f3",
    "--role-app": "#2b6cb0",
    "--role-proxy": "#c08a2e",
    "--role-db": "#7a5195",
    "--undecided": "#9aa1a9",
    "--cpu-1": "#0072b2",
    "--cpu-2": "#c44e00",
    "--cpu-3": "#00845f",
    "--cpu-4": "#a8487f",
    "--cpu-5": "#4d5a68",
}
"""Colours of a picture in a file, in the place of the page's variables. Those of the CPU models are after Okabe and Ito, who
chose theirs so that everybody can tell them apart; darker, for text."""
WIDTH = 560


def printable(spec: Spec) -> Spec:
    """Put the colours of a white page into a plot, for a picture of its own."""
    named = re.sub(r'"(--[a-z][a-z0-9-]*)"', lambda found: f'"{COLOURS[found[1]]}"', json.dumps(spec))
    printed: Spec = json.loads(named)
    return printed


def drawn(spec: Spec | str) -> str:
    """A chart, or its JSON, as the text of an SVG file."""
    import vl_convert  # here, because loading it takes longer than most commands

    return str(vl_convert.vegalite_to_svg(spec)) + "\n"


def svg(picture: Picture) -> str:
    """The picture as a file of its own, on white."""
    spec = {**picture.spec, "width": WIDTH, "title": picture.title, "background": "--card"}
    return drawn(json.dumps(printable(spec)))

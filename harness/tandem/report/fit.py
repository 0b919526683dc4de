"""A report on a narrow terminal: nothing of a table is cut off. Pure."""

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement

from tandem.report.markdown import tables_in


def fitted(shown: RenderableType, console: Console) -> RenderableType:
    """Fit a report to a console. A table that is wider loses its frame, and a word that is still too long goes on in the next line:
    Rich would cut it off."""
    wide = console.options.update(max_width=10_000)
    for table in tables_in(shown):
        if Measurement.get(console, wide, table).maximum > console.width:
            table.box, table.collapse_padding, table.pad_edge = box.SIMPLE_HEAD, True, False
            for column in table.columns:
                column.overflow = "fold"
    return shown

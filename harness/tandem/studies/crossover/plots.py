"""The heat map of a crossover: the wait to the right, a row for each number of threads and pool, as SVG."""

from tandem.record.conclusion import Contrast
from tandem.studies.crossover.conclusions import Crossed, row_name, wait_of

FILE = "crossover.svg"
CELL_WIDTH, CELL_HEIGHT = 90, 42
WIDEST = 4.0
"""Ratios beyond this and its reciprocal have the deepest colours."""
COLOURS = ["#d55e00", "#f7f7f7", "#0072b2"]
"""Okabe and Ito's, which can be told apart by everybody: the first wins, nobody, the second wins."""


def told(cell: Contrast) -> str:
    """What stands in a cell: the ratio, and a question mark where nobody is known to win."""
    if cell.ratio is None:
        return "–"
    return f"× {cell.ratio:.2f}" + (" ?" if cell.word == "not decided" else "")


def chart(found: Crossed) -> str:
    """As Vega-Lite."""
    import altair as alt  # here, because loading it takes longer than most commands

    values = [
        {
            "wait": wait_of(cell),
            "row": row_name(cell.coordinates),
            "ratio": cell.ratio,
            "text": told(cell),
        }
        for cell in found.contrasts
    ]
    rows = list(dict.fromkeys(row_name(cell.coordinates) for cell in found.contrasts))
    waits = {wait_of(cell) for cell in found.contrasts}
    data = alt.Data(values=values)  # type: ignore[no-untyped-call]
    of = "distance of the database" if found.waits_for == "database" else "wait of each request"
    base = alt.Chart(data).encode(
        x=alt.X("wait:O", title=f"{of}, ms"), y=alt.Y("row:N", title=None, sort=rows)
    )
    scale = alt.Scale(type="log", domain=[1 / WIDEST, 1, WIDEST], range=COLOURS, clamp=True)
    layers = alt.layer(
        base.mark_rect(stroke="white").encode(color=alt.Color("ratio:Q", title=None, scale=scale)),
        base.mark_text(fontSize=12).encode(text="text:N"),
    )
    drawn = layers.properties(
        width=CELL_WIDTH * len(waits),
        height=CELL_HEIGHT * len(rows),
        title=f"goodput of {found.second} against {found.first}",
    ).configure(background="white")
    return str(drawn.to_json())


def files(found: Crossed) -> dict[str, str]:
    """The name of its file -> its text; nothing where nothing was measured."""
    import vl_convert

    if not found.measured:
        return {}
    return {FILE: str(vl_convert.vegalite_to_svg(chart(found))) + "\n"}

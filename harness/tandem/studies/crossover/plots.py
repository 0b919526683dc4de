"""The heat map of a crossover: the wait to the right, a row for each number of threads and pool, as SVG."""

from tandem.studies.crossover.conclusions import CrossCell, Crossed

FILE = "crossover.svg"
CELL_WIDTH, CELL_HEIGHT = 90, 42
WIDEST = 4.0
"""Ratios beyond this and its reciprocal have the deepest colours."""
COLOURS = ["#d55e00", "#f7f7f7", "#0072b2"]
"""Okabe and Ito's, which can be told apart by everybody: the first wins, nobody, the second wins."""


def row_name(cell: CrossCell) -> str:
    """What a row is called."""
    parts = {"threads": cell.at.threads, "pool": cell.at.pool}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None) or "as they are"


def told(cell: CrossCell) -> str:
    """What stands in a cell: the ratio, and a question mark where nobody is known to win."""
    if cell.ratio is None:
        return "–"
    return f"× {cell.ratio:.2f}" + (" ?" if cell.winner == "not decided" else "")


def chart(found: Crossed) -> str:
    """As Vega-Lite."""
    import altair as alt  # here, because loading it takes longer than most commands

    values = [
        {"wait": cell.at.wait_ms, "row": row_name(cell), "ratio": cell.ratio, "text": told(cell)}
        for cell in found.cells
    ]
    rows = list(dict.fromkeys(row_name(cell) for cell in found.cells))
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
        width=CELL_WIDTH * len(found.waits_ms),
        height=CELL_HEIGHT * len(rows),
        title=f"goodput of {found.second} against {found.first}",
    ).configure(background="white")
    return str(drawn.to_json())


def files(found: Crossed) -> dict[str, str]:
    """The name of its file -> its text; nothing where nothing was measured."""
    import vl_convert

    if all(cell.ratio is None for cell in found.cells):
        return {}
    return {FILE: str(vl_convert.vegalite_to_svg(chart(found))) + "\n"}

"""A comparison for the result pages: what a request costs against the rate. Pure."""

from typing import Any

from tandem.analysis.cost import APP, TOTAL, at
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.facts.metric import GOODPUT, OFFERED
from tandem.report.chart import DASHED, HUES, SOLID, Spec, choice, lines, names, quantity
from tandem.report.picture import Picture
from tandem.studies.compare.conclusions import Compared

WHOLE, OWN = "all roles", "application"


def pictures(found: Compared) -> list[Picture]:
    """Nothing where there were no windows at equal rates."""
    rows = curve_rows(found)
    if all(row["share"] is None for row in rows):
        return []
    drawn = Picture(
        name="cost",
        title="What a request costs at each rate",
        says="CPU time for one request against the offered rate, mean over fresh starts with its 95 % interval: solid of all roles"
        " (application, PgBouncer, database, HAProxy), dashed of the application alone. The last point of each line is its full"
        " load. A line that falls shares a fixed cost among more requests. It says nothing about rates beyond those that were"
        " measured.",
        spec=_spec(rows),
        section="why",
        read="reference/comparing",
    )
    return [drawn]


def curve_rows(found: Compared) -> list[dict[str, Any]]:
    """One of each variant, rate and cost; full load is the last rate."""
    out = []
    for place, label in enumerate(found.variants):
        own = [share for share in EQUAL_SHARES if found.mean(label, at(OFFERED, share)) is not None]
        for share in (*own, None):
            rate_rps = found.mean(label, GOODPUT if share is None else at(OFFERED, share))
            for cost, key in ((WHOLE, TOTAL), (OWN, APP)):
                one = found.estimate(label, key if share is None else at(key, share))
                if one is None or one.mean is None:
                    continue
                low, high = one.interval or (None, None)
                row = {"variant": label, "cost": cost, "share": share, "rate_rps": rate_rps}
                row |= {"us_per_request": one.mean, "low": low, "high": high, "blocks": one.n}
                row |= {"hue": HUES[place % len(HUES)], "_last": share is None and cost == WHOLE}
                out.append(row)
    name_ends(out)
    return out


APART = 0.08
"""Share of the picture's height that a name needs for itself."""


def name_ends(rows: list[dict[str, Any]]) -> None:
    """Names the end of each line; lines that end side by side have their names one below the other."""
    kept: dict[str, Any] | None = None
    highest = max((row["us_per_request"] for row in rows), default=0.0)
    for row in sorted((one for one in rows if one["_last"]), key=lambda one: -one["us_per_request"]):
        room = APART * highest * (1 + kept["_names"].count("\n")) if kept else 0.0
        if kept and kept["us_per_request"] - row["us_per_request"] < room:
            kept["_names"] += f"\n{row['variant']}"
            row["_last"] = False
        else:
            kept, row["_names"] = row, row["variant"]


def _spec(rows: list[dict[str, Any]]) -> Spec:
    x = quantity("rate_rps", "offered rate, 1/s (last: full load)")
    y = quantity("us_per_request", "CPU, µs/request")
    known = any(row["low"] is not None for row in rows)
    return {
        "data": {"values": rows},
        "height": 320,
        "layer": [
            *lines(x, y, choice("cost", {WHOLE: SOLID, OWN: DASHED}), spread=known),
            names(x, y, "datum._last", field="_names"),
        ],
    }

"""The pictures that are panels of lines: light requests beside heavy ones, and how soon the judge of `just nightly` raises an alarm."""

import json

from documents.records import Records
from tandem.analysis.histogram import curve
from tandem.record.window import Verdict
from tandem.report.chart import Spec, category, quantity
from tandem.report.picture import drawn

MIXED = {name: f"comparisons/mixed-{name.lower()}" for name in ("Python", "Rust", "Java")}
"""Panel -> the record of a mix; its first variant is the sync one."""
SHARES = [10 ** (-step / 10) for step in range(3, 31)]
"""Of requests that take longer, from half of them to one in a thousand."""
COLOURS = {"1 %": "#d55e00", "2 %": "#009e73", "3 %": "#0072b2", "5 %": "#000000"}
"""Step -> its colour, of Okabe and Ito's, which can be told apart by everybody."""


def mixes(records: Records) -> str:
    """The share of light requests that take longer than so many milliseconds, as SVG: a panel for each record, a line for each
    variant, over all its good windows at the equal rate."""
    values = [
        {"panel": panel, "program": label, "ms": ms, "longer": 1 - q}
        for panel, folder in MIXED.items()
        for label, found in _light(records, folder).items()
        for q, ms in curve(found, [1 - share for share in SHARES])
    ]
    log, domain = {"type": "log"}, [SHARES[-1], SHARES[0]]
    marks = {"format": "~%", "values": [0.5, 0.1, 0.01, 0.001]}
    encoding = {
        "x": quantity("ms", "light requests: response time, ms", scale={**log, "nice": False}),
        "y": quantity("longer", "that take longer", scale={**log, "domain": domain}, axis=marks),
        "color": category(
            "program",
            sort=None,
            scale={"scheme": "dark2"},
            legend={"labelLimit": 300, "orient": "bottom"},
        ),
        "facet": category("panel", columns=3, sort=[*MIXED]),
    }
    return _lines(values, encoding, 240, 170)


def nightly(records: Records) -> str:
    """The share of series that raised an alarm within so many nights, as SVG: a panel for each kind of series."""
    found = json.loads((records.root / "results/reference-nightly/detection.json").read_text())["found"]
    values = [
        {"series": one["series"], "change": step, "night": night, "share": share}
        for one in found
        for step in COLOURS
        for night, share in enumerate(one["seen"][step], 1)
    ]
    encoding = {
        "x": quantity("night", "nights after the step"),
        "y": quantity("share", "series with an alarm", axis={"format": "%"}),
        "color": category("change", "step", sort=[*COLOURS], scale={"range": [*COLOURS.values()]}),
        "facet": category("series", columns=2, sort=[one["series"] for one in found]),
    }
    return _lines(values, encoding, 250, 150)


def _lines(values: list[Spec], encoding: Spec, width: int, height: int) -> str:
    """Panels of that size. values: the data."""
    size = {"width": width, "height": height, "background": "white"}
    return drawn({"data": {"values": values}, "mark": "line", "encoding": encoding, **size})


def _light(records: Records, folder: str) -> dict[str, list[str]]:
    """Response times of the light requests, the first class of the mix: variant -> a histogram of each good window."""
    _, result, trials = records.read(folder)
    found: dict[str, list[str]] = {one.label: [] for one in result.request.variants}
    for label, window in (one for trial in trials for made in trial.made for one in made.windows.items()):
        light = window.classes[0] if window.classes and window.verdict is Verdict.OK else None
        if label in found and light is not None and light.response_time_hdr is not None:
            found[label].append(light.response_time_hdr)
    return found

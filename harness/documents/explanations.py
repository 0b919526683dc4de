"""Figures of the explained gaps: what a ratio is the product of, and the model beside its cells. Pure."""

from documents.records import Records
from documents.tables import span
from tandem.report.markdown import of_terminal, table
from tandem.studies.explain import waterfall
from tandem.studies.explain.conclusions import Explained, Explanation, FactorShare, Interval
from tandem.studies.explain.design import PROGRAMS, SIDES
from tandem.studies.explain.report import bound_of, bounds, differing, factor_table, model_table, sentence
from tandem.wording import times

NOT_MEASURED = "not measured"
PAIRS = {
    "published-python": ("python-sync", "python-async"),
    "published-rust": ("python-async", "rust-async"),
}
"""The gaps of the founding experiment: its record -> the two sides."""
DISTANCES_MS = {0: "-0ms", 4: "", 15: "-15ms"}
"""How far away the database is -> the end of the record's name."""


def picture(records: Records) -> str:
    """From sync Python's goodput to async Python's, a step for each factor, as SVG."""
    found = records.explanation("published-python")
    assert found is not None
    explained = found.conclusions.goodput()
    assert explained is not None
    return f"{waterfall.svg(found.conclusions, explained)}\n"


def _with(ratio: float, interval: Interval | None, bound: str | None = None) -> str:
    if interval is None:
        return times(ratio, bound)
    low, high = (times(end).removeprefix("× ") for end in interval)
    return f"{times(ratio, bound)} ({low} to {high})"


def _share(found: Explained | Explanation, side: str, name: str) -> FactorShare:
    """A factor or a group. side: A or B; of the programs themselves: `-`."""
    shares = [*found.groups, *found.factors]
    leg = PROGRAMS if side == "-" else f"settings of {SIDES[SIDES.index(side)]}, "
    return next(share for share in shares if share.name == name and share.leg.startswith(leg))


def told(records: Records, name: str) -> str:
    """The answer in a sentence."""
    found = records.explanation(name)
    return NOT_MEASURED if found is None else sentence(found.conclusions)


def factors(records: Records, name: str) -> str:
    """The table of the goodput's factors, as the command prints it."""
    found = records.explanation(name)
    explained = None if found is None else found.conclusions.goodput()
    if found is None or explained is None:
        return f"{NOT_MEASURED.capitalize()}."
    return of_terminal(factor_table(explained, bounds=bounds(found.conclusions)))


def model(records: Records, name: str) -> str:
    """The network's prediction of each cell, and where it is wrong."""
    found = records.explanation(name)
    if found is None:
        return f"{NOT_MEASURED.capitalize()}."
    cells = found.conclusions.cells
    return "\n\n".join(
        filter(None, [of_terminal(model_table(cells)), "\n".join(f"- {line}." for line in differing(cells))])
    )


def factor(records: Records, name: str, side: str, of: str, which: str = "ratio") -> str:
    """One factor or group. which: `ratio` (with its interval), `first` or `last`."""
    found = records.explanation(name)
    if found is None:
        return NOT_MEASURED
    share = _share(found.conclusions, side, of)
    return (
        _with(share.ratio, share.interval, bound_of(found.conclusions, share))
        if which == "ratio"
        else times(getattr(share, which))
    )


def leg(records: Records, name: str, side: str) -> str:
    """All settings of A or of B together."""
    found = records.explanation(name)
    if found is None:
        return NOT_MEASURED
    own = found.conclusions.legs[2 * SIDES.index(side)]
    return _with(own.ratio, own.interval, bounds(found.conclusions).get(own.name))


def cpu_factor(records: Records, name: str, side: str, of: str) -> str:
    """One factor or group of the CPU time of a request. side: as for factor."""
    found = records.explanation(name)
    if found is None or found.conclusions.cpu is None:
        return NOT_MEASURED
    share = _share(found.conclusions.cpu, side, of)
    return _with(share.ratio, share.interval, share.bound)


def rate(records: Records, name: str, label: str) -> str:
    """What a cell answers."""
    found = records.explanation(name)
    if found is None:
        return NOT_MEASURED
    mean = next(cell.goodput_rps for cell in found.conclusions.cells if cell.label == label)
    return "–" if mean is None else f"{mean:,.0f}/s"


def trips(records: Records, name: str, words: str) -> str:
    """Round trips of one request, counted, of the cells with these words in their label."""
    found = records.explanation(name)
    if found is None:
        return NOT_MEASURED
    cells = [cell for cell in found.conclusions.cells if words in cell.label and cell.model is not None]
    counted = [cell.model.round_trips for cell in cells if cell.model is not None]
    return f"{counted[0]:.1f}" if len(counted) == 1 else span(counted, 1)


def gaps(records: Records) -> str:
    """The founding experiment's gaps at each distance: what is there, and what is not measured."""
    rows = []
    for record, (a, b) in PAIRS.items():
        for ms, end in DISTANCES_MS.items():
            found = records.explanation(record + end)
            explained = None if found is None else found.conclusions.goodput()
            cells = [NOT_MEASURED, "", "", ""]
            if found is not None and explained is not None:
                (own, _, other), known = explained.legs, bounds(found.conclusions)
                programs = next(share for share in explained.factors if share.name == PROGRAMS)
                cells = [
                    _with(explained.gap, explained.interval),
                    _with(own.ratio, own.interval, known.get(own.name)),
                    _with(programs.ratio, programs.interval, programs.bound),
                    _with(other.ratio, other.interval, known.get(other.name)),
                ]
            rows.append((f"{b} against {a}", f"{ms} ms away", *cells))
    heads = (
        "gap",
        "database",
        "as published>",
        "settings of the first>",
        "the programs>",
        "settings of the second>",
    )
    return table(heads, rows)

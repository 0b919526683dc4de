"""A reproduction for people: ours beside what was published, and what became of each claim. Pure."""

from collections import Counter
from collections.abc import Collection
from itertools import batched

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.facts.metric import GOODPUT, METRICS
from tandem.record.result import Result
from tandem.report.parts import host_line, spent
from tandem.report.table import Column, figure, table
from tandem.studies.reproduce.conclusions import JudgedClaim, Reproduced, RowFound, Word, verdict
from tandem.wording import limited_by, number, ratio_with_interval

FIRST, FURTHER = 2, 3
"""Number of figures in the first table and in each further one."""
SENTENCE = "about the reference result"
STYLES = {"stands": "green", "reversed": "red", "gone": "yellow", "not decided": "dim"}
NOTE = (
    "ours: mean ± half-width of the 95 % interval over fresh starts (none below two); published figures come from"
    " another machine and other versions: compare only the ratios of rows"
)
WORDS: dict[Word, tuple[str, str]] = {
    "stands": ("stands", "stand"),
    "reversed": ("is reversed", "are reversed"),
    "gone": ("is gone", "are gone"),
    "not decided": ("is not decided", "are not decided"),
}
"""Verdicts as words, for one claim and for several."""


# ---- rows ----


def _columns(found: Reproduced, metric: str, published: Collection[str]) -> list[Column[RowFound]]:
    """Ours, and before it the document's figure, if there is any; that of its other hosts in brackets."""
    heading, digits = METRICS[metric].heading, METRICS[metric].digits

    def cell(row: RowFound) -> str:
        known, elsewhere = found.estimate_of(metric, row.position), row.published_elsewhere.values()
        told = number(known.published if known else None, digits)
        others = [number(values[metric], digits) for values in elsewhere if metric in values]
        return f"{told} ({', '.join(others)})" if others else told

    ours = Column[RowFound](f"{heading}\nours", lambda row: figure(found, metric, row.position))
    return [Column(f"{heading}\npublished", cell), ours] if metric in published else [ours]


def _ceilings(found: Reproduced, row: RowFound) -> str:
    """Model values, with what we reached of each where it is a rate."""
    rate = found.mean_of(GOODPUT, row.position)
    return ", ".join(
        f"{name} {number(value, 0 if value >= 100 else 1)}"
        + (f" ({rate / value:.0%})" if rate and value else "")
        for name, value in row.ceilings.items()
    )


def _tables(found: Reproduced) -> list[Table]:
    """Tables of a few figures each: more beside each other cannot be read. Published values stand only where there are any; the
    first table has the starts and the limits as well."""
    title = f"{found.experiment}: {found.title}; plan {found.plan}, {found.starts} fresh starts each"
    published = {name for row in found.rows for own in row.published_elsewhere.values() for name in own}
    published |= {one.metric for one in found.estimates if one.published is not None}
    name = Column[RowFound]("row", lambda row: row.label, text=True, whole=True)

    def starts(row: RowFound) -> str:
        return str(row.good) if row.good == row.made else f"{row.good} of {row.made}"

    last = list[Column[RowFound]]()
    if any(row.ceilings for row in found.rows):
        last.append(Column("ceilings, 1/s (reached)", lambda row: _ceilings(found, row), text=True))
    limits = {str(one.position): one.limit for one in found.estimates}
    if any(limits.values()):
        last.append(Column("limited by", lambda row: limited_by(limits[str(row.position)]), text=True))
    tables = list[Table]()
    for chosen in [found.columns[:FIRST], *batched(found.columns[FIRST:], FURTHER, strict=False)]:
        shown = [column for metric in chosen for column in _columns(found, metric, published)]
        if not tables:
            shown = [Column("starts", starts), *shown, *last]
        tables.append(table("the same rows" if tables else title, found.rows, name, *shown))
    return [*tables, _claims(found)] if found.claims else tables


def _claims(found: Reproduced) -> Table:
    def compared(one: JudgedClaim) -> str:
        return f"{METRICS[one.found.metric].title}: {one.claim.of} / {one.claim.to}"

    return table(
        "claims",
        found.judged,
        Column("claim", lambda one: one.found.text or "", text=True),
        Column("ratio", compared, text=True),
        Column("published", _published_ratio),
        Column("ours", lambda one: ratio_with_interval(one.found.ratio, one.found.interval)),
        Column("verdict", lambda one: Text(judged(one), style=STYLES[one.found.word or ""]), text=True),
    )


# ---- claims ----


def _published_ratio(one: JudgedClaim) -> str:
    where = f" ({one.claim.host})" if one.claim.host else ""
    return "–" if one.found.published is None else f"× {one.found.published:,.2f}{where}"


def judged(one: JudgedClaim) -> str:
    """The verdict and its size; of one that its own interval would decide, why it is not."""
    claim, found = one
    if found.word == "not decided" and found.p is not None and verdict(claim.says, found) != "not decided":
        return f"not decided (p {found.p:.2f} over all claims)"
    return f"{found.word}" if claim.size in (None, "as published") else f"{found.word}, {claim.size}"


def judgement(found: Reproduced) -> str:
    """One sentence about a claim that people quote; empty for an experiment, whose sentence is written by hand."""
    if not found.source or not found.claims:
        return ""
    first, numbers = found.contrasts[0], Counter(one.word for one in found.contrasts)
    each = ", ".join(f"{n} {words[n > 1]}" for word, words in WORDS.items() if (n := numbers[word]))
    told = f"“{found.title}”: of its {len(found.claims)} statements {each}"
    became = next(one for word, (one, _) in WORDS.items() if word == first.word)
    return f"{told}. The first {became}: {ratio_with_interval(first.ratio, first.interval)}"


# ---- all of it ----


def notes(result: Result[Reproduced]) -> list[str]:
    """Notes under the tables."""
    found = result.conclusions
    address = f" ({found.source})" if found.source else ""
    out = [NOTE, f"published: {found.origin}{address}; {found.published_host}"]
    out += [f"hypothesis: {found.hypothesis}"] if found.hypothesis else []
    elsewhere = list(dict.fromkeys(name for row in found.rows for name in row.published_elsewhere))
    if elsewhere:
        out.append(f"in brackets: {', '.join(elsewhere)}")
    out.append(f"ours: {host_line(result)}, seed {result.request.seed}")
    return out + [f"{row.label}: {row.note}" for row in found.rows if row.note]


def report(result: Result[Reproduced]) -> Group:
    """Tables, notes and sentences for a terminal."""
    found = result.conclusions
    written = f"{SENTENCE}: {found.sentence}" if found.sentence else ""
    warned = dict.fromkeys(f"{row.label}: {text}" for row in found.rows for text in row.warnings)
    return Group(
        *_tables(found),
        *(Text(note, style="dim") for note in notes(result)),
        *(Text(sentence, style="bold") for sentence in (judgement(found), written) if sentence),
        *(Text(reason, style="yellow") for reason in result.reasons),
        *(Text(warning, style="dim") for warning in warned),
        spent(result),
    )

"""A reproduction for people: ours beside what was published, and what became of each claim. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import batched

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.facts.metric import METRICS
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.result import Result
from tandem.report.parts import machine, spent, table
from tandem.studies.reproduce.claims import Word, verdict
from tandem.studies.reproduce.conclusions import JudgedClaim, Reproduced, RowFound, estimates_of
from tandem.wording import limited_by, number, ratio_with_interval, with_interval

FIRST, FURTHER = 2, 3
"""So many figures stand in the first table and in each further one."""
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

type Estimates = dict[str, Estimate]
"""The estimates of a row, by metric."""
type RowCell = Callable[[RowFound, Estimates], str]
type RowColumn = tuple[str, RowCell, bool]
"""Heading, cell of a row, whether it is a number."""


# ---- rows ----


def _published(metric: str) -> RowCell:
    """The document's figure; that of its other hosts in brackets."""

    def cell(row: RowFound, of: Estimates) -> str:
        digits, known = METRICS[metric].digits, of.get(metric)
        others = [
            number(values[metric], digits) for values in row.published_elsewhere.values() if metric in values
        ]
        told = number(known.published if known else None, digits)
        return f"{told} ({', '.join(others)})" if others else told

    return cell


def _ours(metric: str) -> RowCell:
    """`mean ± half-width`; a dash for what was not measured."""

    def cell(_: RowFound, of: Estimates) -> str:
        known = of.get(metric)
        if known is None or known.mean is None:
            return "–"
        return with_interval(known.mean, known.interval, METRICS[metric].digits)

    return cell


def _ceilings(row: RowFound, of: Estimates) -> str:
    """Model values, with what we reached of each where it is a rate."""
    rate = of["goodput_rps"].mean if "goodput_rps" in of else None
    return ", ".join(
        f"{name} {number(value, 0 if value >= 100 else 1)}"
        + (f" ({rate / value:.0%})" if rate and value else "")
        for name, value in row.ceilings.items()
    )


def _starts(row: RowFound, _: Estimates) -> str:
    """Good trials of all."""
    return str(row.good) if row.good == row.made else f"{row.good} of {row.made}"


def _limit(_: RowFound, of: Estimates) -> str:
    return limited_by(next(iter(of.values())).limit)


def columns(found: Reproduced, names: Sequence[str]) -> list[RowColumn]:
    """The columns of a table with these figures: published values only where there are any. The first table has the rest as well."""
    first = list(names) == found.columns[: len(names)]
    out: list[RowColumn] = [("row", lambda row, _: row.label, False)]
    if first:
        out.append(("starts", _starts, True))
    elsewhere = {name for row in found.rows for values in row.published_elsewhere.values() for name in values}
    anywhere = elsewhere | {one.metric for one in found.estimates if one.published is not None}
    for name in names:
        heading = METRICS[name].heading
        if name in anywhere:
            out.append((f"{heading}\npublished", _published(name), True))
        out.append((f"{heading}\nours", _ours(name), True))
    if first and any(row.ceilings for row in found.rows):
        out.append(("ceilings, 1/s (reached)", _ceilings, False))
    if first and any(one.limit for one in found.estimates):
        out.append(("limited by", _limit, False))
    return out


def _tables(found: Reproduced) -> list[Table]:
    """More than a few figures beside each other cannot be read."""
    title = f"{found.experiment}: {found.title}; plan {found.plan}, {found.starts} fresh starts each"
    names = [found.columns[:FIRST], *batched(found.columns[FIRST:], FURTHER, strict=False)]
    of = {row.label: estimates_of(found, row.label) for row in found.rows}
    tables = []
    for place, chosen in enumerate(names):
        shown = columns(found, chosen)
        own = Table(title="the same rows" if place else title, title_justify="left")
        for heading, _, is_number in shown:
            own.add_column(heading, justify="right" if is_number else "left", no_wrap=heading == "row")
        for row in found.rows:
            own.add_row(*(cell(row, of[row.label]) for _, cell, _ in shown))
        tables.append(own)
    claims = table(
        "claims", "claim", "ratio", "published", "ours", "verdict", left=("claim", "ratio", "verdict")
    )
    for one in found.judged:
        word = Text(judged(one), style=STYLES[one.found.word or ""])
        compared = f"{METRICS[one.found.metric].title}: {one.claim.of} / {one.claim.to}"
        claims.add_row(one.found.text or "", compared, _published_ratio(one), ratio_text(one.found), word)
    return [*tables, claims] if found.claims else tables


# ---- claims ----


def ratio_text(found: Contrast) -> str:
    """Our ratio with its interval."""
    return ratio_with_interval(found.ratio, found.interval)


def _published_ratio(one: JudgedClaim) -> str:
    where = f" ({one.claim.host})" if one.claim.host else ""
    return "–" if one.found.published is None else f"× {one.found.published:,.2f}{where}"


def judged(one: JudgedClaim) -> str:
    """The verdict and its size; of one that its own interval would decide, why it is not."""
    claim, found = one
    if found.word == "not decided" and found.p is not None and verdict(claim.says, found) != "not decided":
        return f"not decided (p {found.p:.2f} over all claims)"
    return f"{found.word}" if claim.size in (None, "as published") else f"{found.word}, {claim.size}"


def counted(claims: Sequence[Contrast]) -> str:
    """Count the claims that stand, are reversed, and so on."""
    numbers = Counter(claim.word for claim in claims)
    return ", ".join(f"{n} {words[n > 1]}" for word, words in WORDS.items() if (n := numbers[word]))


def judgement(found: Reproduced) -> str:
    """One sentence about a claim that people quote; empty for an experiment, whose sentence is written by hand."""
    if not found.source or not found.claims:
        return ""
    first = found.contrasts[0]
    told = f"“{found.title}”: of its {len(found.claims)} statements {counted(found.contrasts)}"
    became = next(one for word, (one, _) in WORDS.items() if word == first.word)
    return f"{told}. The first {became}: {ratio_text(first)}"


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
    out.append(
        f"ours: {result.started_at:%Y-%m-%d}, {machine(result) or 'host not recorded'}, seed {result.request.seed}"
    )
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

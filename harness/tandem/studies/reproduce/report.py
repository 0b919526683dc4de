"""A reproduction for people: ours beside what was published, and what became of each claim. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import batched
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.report.parts import machine, spent, table
from tandem.studies.reproduce.claims import ClaimResult, Word, verdict
from tandem.studies.reproduce.conclusions import Mean, Reproduced, RowResult
from tandem.studies.reproduce.figures import FIGURES
from tandem.wording import limited_by, number, ratio_with_interval, with_interval

FIRST, FURTHER = 2, 3
"""So many figures stand in the first table and in each further one."""
SENTENCE = "about the reference result"
STYLES = {"stands": "green", "reversed": "red", "gone": "yellow", "not decided": "dim"}
NOTE = (
    "ours: mean ± half-width of the 95 % interval over fresh starts (none below two); published figures come from"
    " another machine and other versions: compare only the ratios of rows"
)


def ours(found: Mean | None, digits: int) -> str:
    """`mean ± half-width`; a dash for what was not measured."""
    return "–" if found is None else with_interval(found.mean, found.interval, digits)


def published(row: RowResult, figure: str) -> str:
    """The document's figure; that of its other hosts in brackets."""
    digits = FIGURES[figure].digits
    main = row.published.get(figure)
    others = [f[figure] for f in row.published_elsewhere.values() if figure in f]
    told = number(main, digits)
    return f"{told} ({', '.join(number(value, digits) for value in others)})" if others else told


def ceilings(row: RowResult) -> str:
    """Model values, with what we reached of each where it is a rate."""
    rate = row.figures.get("goodput_rps")
    out = []
    for name, value in row.ceilings.items():
        share = f" ({rate.mean / value:.0%})" if rate and value else ""
        out.append(f"{name} {number(value, 0 if value >= 100 else 1)}{share}")
    return ", ".join(out)


def limited(row: RowResult) -> str:
    return limited_by(row.bottleneck)


def trials(row: RowResult) -> str:
    """Good trials of all."""
    good = sum(one.verdict == "ok" for one in row.trials)
    return str(good) if good == len(row.trials) else f"{good} of {len(row.trials)}"


Column = tuple[str, Callable[[RowResult], str], bool]
"""Heading, cell of a row, whether it is a number."""


def _published_of(name: str) -> Callable[[RowResult], str]:
    return lambda row: published(row, name)


def _ours_of(name: str) -> Callable[[RowResult], str]:
    return lambda row: ours(row.figures.get(name), FIGURES[name].digits)


def columns(found: Reproduced, names: Sequence[str]) -> list[Column]:
    """Of a table with these figures: published values only where there are any. The first table has the rest as well."""
    first = list(names) == found.columns[: len(names)]
    out: list[Column] = [("row", lambda row: row.label, False)]
    if first:
        out.append(("starts", trials, True))
    for name in names:
        figure = FIGURES[name]
        heading = f"{figure.title}, {figure.unit}" if figure.unit else figure.title
        anywhere = (p for row in found.rows for p in (row.published, *row.published_elsewhere.values()))
        if any(name in values for values in anywhere):
            out.append((f"{heading}: published", _published_of(name), True))
        out.append((f"{heading}: ours", _ours_of(name), True))
    if first and any(row.ceilings for row in found.rows):
        out.append(("ceilings, 1/s (reached)", ceilings, False))
    if first and any(row.bottleneck for row in found.rows):
        out.append(("limited by", limited, False))
    return out


def parts(found: Reproduced) -> list[list[Column]]:
    """The columns of each table: more than a few figures beside each other cannot be read."""
    return [columns(found, found.columns[:FIRST])] + [
        columns(found, names) for names in batched(found.columns[FIRST:], FURTHER, strict=False)
    ]


def ratio_text(claim: ClaimResult) -> str:
    """Our ratio with its interval."""
    return ratio_with_interval(claim.ratio.ratio, claim.ratio.interval)


def published_ratio(claim: ClaimResult) -> str:
    where = f" ({claim.host})" if claim.host else ""
    return "–" if claim.published is None else f"× {claim.published:,.2f}{where}"


def judged(claim: ClaimResult) -> str:
    """The verdict and its size; of one that its own interval would decide, why it is not."""
    alone = verdict(claim.says, claim.ratio)
    if claim.verdict == "not decided" and alone != "not decided" and claim.p_adjusted is not None:
        return f"not decided (p {claim.p_adjusted:.2f} over all claims)"
    return claim.verdict if claim.size in (None, "as published") else f"{claim.verdict}, {claim.size}"


def of_what(claim: ClaimResult) -> str:
    return f"{FIGURES[claim.figure].title}: {claim.of} / {claim.to}"


def _tables(found: Reproduced) -> list[Table]:
    title = f"{found.experiment}: {found.title}; plan {found.plan}, {found.settings.starts} fresh starts each"
    tables = []
    for number_, shown in enumerate(parts(found)):
        own = Table(title="the same rows" if number_ else title, title_justify="left")
        for heading, _, is_number in shown:
            own.add_column(
                heading.replace(": ", "\n"),
                justify="right" if is_number else "left",
                no_wrap=heading == "row",
            )
        for row in found.rows:
            own.add_row(*(cell(row) for _, cell, _ in shown))
        tables.append(own)
    columns = ("claim", "ratio", "published", "ours", "verdict")
    claims = table("claims", *columns, left=("claim", "ratio", "verdict"))
    for claim in found.claims:
        verdict = Text(judged(claim), style=STYLES[claim.verdict])
        claims.add_row(claim.text, of_what(claim), published_ratio(claim), ratio_text(claim), verdict)
    return [*tables, claims] if found.claims else tables


def notes(result: Result[Reproduced]) -> list[str]:
    """What is said under the tables."""
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
    out += [f"{row.label}: {row.note}" for row in found.rows if row.note]
    return out


def headline(conclusions: dict[str, Any]) -> str:
    """For lists of results. conclusions: as result.json has them."""
    stand = sum(claim["verdict"] == "stands" for claim in conclusions["claims"])
    return f"{stand} of {len(conclusions['claims'])} claims stand"


WORDS: dict[Word, tuple[str, str]] = {
    "stands": ("stands", "stand"),
    "reversed": ("is reversed", "are reversed"),
    "gone": ("is gone", "are gone"),
    "not decided": ("is not decided", "are not decided"),
}
"""What became of one claim, and of several."""


def counted(claims: Sequence[ClaimResult]) -> str:
    """How many of them stand, are reversed, and so on."""
    numbers = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{n} {words[n > 1]}" for word, words in WORDS.items() if (n := numbers[word]))


def judgement(found: Reproduced) -> str:
    """One sentence about a claim that people quote; empty for an experiment, whose sentence is written by hand."""
    if not found.source or not found.claims:
        return ""
    first = found.claims[0]
    told = f"“{found.title}”: of its {len(found.claims)} statements {counted(found.claims)}"
    return f"{told}. The first {WORDS[first.verdict][0]}: {ratio_text(first)}"


def report(result: Result[Reproduced]) -> Group:
    """All that is said at the end."""
    found = result.conclusions
    out: list[Table | Text] = [*_tables(found), *(Text(note, style="dim") for note in notes(result))]
    if judgement(found):
        out.append(Text(judgement(found), style="bold"))
    if found.sentence:
        out.append(Text(f"{SENTENCE}: {found.sentence}", style="bold"))
    out += [Text(reason, style="yellow") for reason in result.reasons]
    warned = dict.fromkeys(
        f"{one.row}: {w}" for row in found.rows for one in row.trials for w in one.warnings
    )
    out += [Text(warning, style="dim") for warning in warned]
    out.append(spent(result))
    return Group(*out)


def markdown(result: Result[Reproduced]) -> str:
    """The tables for a page."""
    found = result.conclusions
    lines: list[str] = []
    for shown in parts(found):
        lines += [
            *([""] if lines else []),
            f"| {' | '.join(heading for heading, _, _ in shown)} |",
            f"| {' | '.join('---:' if is_number else '---' for _, _, is_number in shown)} |",
            *(f"| {' | '.join(cell(row) for _, cell, _ in shown)} |" for row in found.rows),
        ]
    if found.claims:
        lines += ["", "| claim | ratio | published | ours | verdict |", "| --- | --- | ---: | ---: | --- |"]
        lines += [
            f"| {' | '.join((c.text, of_what(c), published_ratio(c), ratio_text(c), judged(c)))} |"
            for c in found.claims
        ]
    lines += ["", *(f"{note}.  " for note in notes(result))]
    if judgement(found):
        lines += ["", f"**{judgement(found)}**"]
    if found.sentence:
        lines += ["", f"**{SENTENCE}: {found.sentence}**"]
    return "\n".join(lines)

"""The page 'What is wrong with this table': what may be concluded, and the rows that contradict themselves. Pure."""

from rich.console import Group
from rich.text import Text

from tandem.audit.rules import Audit, Level, Objection
from tandem.report.table import Column, table, texts
from tandem.wording import counted

TITLE = "What is wrong with this table"
SHOWN = 60
"""Rows that contradict themselves in a report; `--json` has all."""
LAST = "These are statements about numbers, not about people: a row may have an innocent reason."


def sentence(found: Audit) -> str:
    """The answer, in one sentence."""
    one = found.contradicting == 1
    which = "contradicts itself" if one else "contradict themselves"
    told = f"{found.contradicting:,} {which}" if found.contradicting else "none contradicts itself"
    return f"audit of {counted(found.rows, 'rows')}: {told}"


def report(found: Audit, markdown: bool = False) -> Group:
    """Tables and sentences. markdown: foreign names are code, so that nothing in them is a link or a tag."""

    def name(text: str) -> Text:
        return Text(f"`{text.replace('`', "'")}`" if markdown and text else text)

    broken = [of for of in found.findings if of.level is Level.CONTRADICTS]
    rows = [(name(one.name), name(one.test), of.rule, one.told) for of in broken for one in of.caught]
    each = ("row", "test", "rule", "what does not fit")
    findings: list[Column[Objection]] = [
        Column("finding", lambda of: f"{of.rule} ({of.level})", text=True),
        Column("rows", lambda of: f"{len(of.caught):,}"),
        Column("the first", lambda of: name(of.caught[0].name) + ": " + of.caught[0].told, text=True),
        Column("what may be concluded", lambda of: of.may, text=True),
        Column("what may not", lambda of: of.may_not, text=True),
        Column("innocent reasons", lambda of: of.innocent, text=True),
    ]
    more = f"and {len(rows) - SHOWN:,} more: --json has all" if len(rows) > SHOWN else ""
    return Group(
        *([table("what may be concluded", found.findings, *findings)] if found.findings else []),
        *([texts("rows that contradict themselves", rows[:SHOWN], *each, left=each)] if rows else []),
        *(Text(line) for line in (more, *(f"not read: {one}" for one in found.not_read), LAST) if line),
    )

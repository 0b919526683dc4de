"""Fills the figures of the documents in between their markers. Pure but for reading and writing pages.

A figure is asked for by name, with arguments after semicolons, and GitHub shows nothing of the marks. They are HTML
comments: `figure: NAME; ARGUMENT; ...` before the figure, `/figure` behind it. A mark with a line of its own holds a
block, such as a table; any other stands in a sentence and must not begin a line, since a line that begins with a
comment is HTML to GitHub and not Markdown. In code nothing is filled in.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from documents.records import Records
from tandem.errors import TandemError, UsageError, unknown

Figure = Callable[..., str]
"""Records and the arguments of a mark -> Markdown."""

BEGIN, END = re.compile(r"<!-- figure: (.*?) -->"), "<!-- /figure -->"
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINE_START = re.compile(r"[ >]*(?:[-*+] |\d+\. )?")


@dataclass(frozen=True)
class Stale:
    """A figure that is not what the records say."""

    page: Path
    line: int
    asked: str
    found: str
    expected: str

    def __str__(self) -> str:
        if "\n" in self.found + self.expected:
            return f"{self.page}:{self.line}: {self.asked}: the block differs"
        return f"{self.page}:{self.line}: {self.asked}: '{self.found}' should be '{self.expected}'"


def pages(root: Path) -> list[Path]:
    """The documents that hold figures."""
    return [root / "README.md", *sorted(root.glob("*/README.md")), *sorted((root / "docs").rglob("*.md"))]


def marks(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Each opening mark outside of code, and where its closing mark begins."""
    code = [match.span() for match in CODE.finditer(text)]
    end = 0
    for mark in BEGIN.finditer(text):
        if mark.start() < end or any(start <= mark.start() < stop for start, stop in code):
            continue
        close, again = text.find(END, mark.end()), BEGIN.search(text, mark.end())
        if close < 0 or (again and again.start() < close):
            raise UsageError(f"line {_line(text, mark)}: '{mark[1]}' is not closed by {END}")
        end = close + len(END)
        yield mark, close


def _line(text: str, mark: re.Match[str]) -> int:
    return text.count("\n", 0, mark.start()) + 1


def _value(records: Records, figures: Mapping[str, Figure], asked: str) -> str:
    name, *arguments = (part.strip() for part in asked.split(";"))
    if name not in figures:
        raise unknown("figure", name, figures)
    try:
        return figures[name](records, *arguments)
    except (KeyError, StopIteration, TypeError, ValueError) as error:
        raise UsageError(f"{asked}: {type(error).__name__}: {error}") from None


def _placed(text: str, mark: re.Match[str], value: str) -> str:
    """The figure as it stands between its marks. Raises UsageError for a place where GitHub would not show it."""
    before = text[: mark.start()].rpartition("\n")[2]
    if text[mark.end() :].startswith("\n"):
        if before.strip():
            raise UsageError(f"'{mark[1]}': the mark of a block needs a line of its own")
        return f"\n\n{value}\n\n"
    if "\n" in value:
        raise UsageError(f"'{mark[1]}' is a block: its marks need lines of their own")
    if LINE_START.fullmatch(before):
        raise UsageError(f"'{mark[1]}' begins a line: GitHub would take the line for HTML")
    return value


def fill(text: str, page: Path, records: Records, figures: Mapping[str, Figure]) -> tuple[str, list[Stale]]:
    """The text with every figure filled in, and the figures that were something else. Raises UsageError."""
    out, at, stale = [], 0, []
    try:
        for mark, close in marks(text):
            expected = _placed(text, mark, _value(records, figures, mark[1]))
            found = text[mark.end() : close]
            if found != expected:
                stale.append(Stale(page, _line(text, mark), mark[1], found, expected))
            out += [text[at : mark.end()], expected]
            at = close
    except TandemError as error:
        raise UsageError(f"{page}: {error}") from None
    return "".join([*out, text[at:]]), stale


def fill_all(records: Records, figures: Mapping[str, Figure], write: bool) -> list[Stale]:
    """Fills all pages, or only says what is stale in them."""
    out = []
    for page in pages(records.root):
        text, stale = fill(page.read_text(), page.relative_to(records.root), records, figures)
        if stale and write:
            page.write_text(text)
        out += stale
    return out


def draw_all(records: Records, pictures: Mapping[str, Figure], write: bool) -> list[Stale]:
    """Draws all pictures, or only says which are stale. pictures: file -> its text."""
    out = []
    for name, draw in pictures.items():
        file, expected = records.root / name, draw(records)
        found = file.read_text() if file.is_file() else ""
        if found != expected:
            out.append(Stale(Path(name), 1, "picture", found, expected))
            if write:
                file.write_text(expected)
    return out


def outside(text: str) -> str:
    """What is typed: the text without its figures and without code."""
    for mark, close in reversed([*marks(text)]):
        text = text[: mark.start()] + text[close + len(END) :]
    return CODE.sub("", text)

"""documents.fill: where a figure goes, and where it may not."""

import re
from pathlib import Path
from typing import cast

import pytest

from documents.fill import Figure, fill
from documents.records import Records
from tandem.errors import UsageError
from tandem.report.markdown import table

FIGURES: dict[str, Figure] = {
    "rate": lambda _, of="all": f"12/s of {of}",
    "table": lambda _: "| a |\n| --- |",
}


def filled(text: str) -> tuple[str, list[str]]:
    out, stale = fill(text, Path("page.md"), cast(Records, None), FIGURES)
    return out, [str(one) for one in stale]


def test_a_figure_in_a_sentence() -> None:
    text, stale = filled("It made <!-- figure: rate; one, 2 -->7/s<!-- /figure -->.\n")
    assert text == "It made <!-- figure: rate; one, 2 -->12/s of one, 2<!-- /figure -->.\n"
    assert stale == ["page.md:1: rate; one, 2: '7/s' should be '12/s of one, 2'"]
    assert filled(text) == (text, [])


def test_a_block() -> None:
    text, stale = filled("# A\n\n<!-- figure: table -->\n<!-- /figure -->\n")
    assert text == "# A\n\n<!-- figure: table -->\n\n| a |\n| --- |\n\n<!-- /figure -->\n"
    assert stale == ["page.md:3: table: the block differs"]
    assert filled(text) == (text, [])


def test_code_is_left_alone() -> None:
    text = "`<!-- figure: x -->`\n```\n<!-- figure: y -->\n```\n"
    assert filled(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a <!-- figure: rat --><!-- /figure -->", "page.md: there is no figure 'rat'. Did you mean 'rate'?"),
        ("a <!-- figure: rate -->12/s", "line 1: 'rate' is not closed"),
        ("a <!-- figure: rate --><!-- figure: rate --><!-- /figure -->", "is not closed"),
        ("a <!-- figure: rate; b; c --><!-- /figure -->", "rate; b; c: TypeError"),
        ("<!-- figure: rate --><!-- /figure -->", "begins a line"),
        ("- <!-- figure: rate --><!-- /figure -->", "begins a line"),
        ("a <!-- figure: table --><!-- /figure -->", "is a block"),
        ("a <!-- figure: rate -->\n<!-- /figure -->", "needs a line of its own"),
    ],
)
def test_what_cannot_be_filled_is_an_error(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        filled(text)


def test_a_cell_is_text_and_not_html() -> None:
    assert table(["a", "b>"], [["Arc<Mutex>|", "x<br>y"]]) == (
        "| a | b |\n| --- | ---: |\n| Arc&lt;Mutex>/ | x<br>y |"
    )

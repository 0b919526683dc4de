"""The committed result of the weekly self-test: passed, and what the methodology says of it."""

import re
from pathlib import Path

from tandem.selftest import comparing, registry
from tandem.selftest.progress import Progress
from tandem.selftest.result import good

ROOT = Path(__file__).parents[2]
RECORD = Progress.model_validate_json(
    (ROOT / "results/reference-selftest/selftest-progress.json").read_text()
)
PAGE = (ROOT / "docs/methodology.md").read_text()
SECTION = PAGE.partition("### The weekly class")[2].partition("\n## ")[0]
LEFT = {
    "queueing": "The queues of 100,000 requests",
    "pairs": "the 100 comparisons of a server with itself",
}
"""Groups that the page says are still to be made."""


def test_all_that_was_made_passed_and_every_negative_control_was_caught() -> None:
    assert RECORD.full
    outcomes = [outcome for group in RECORD.done.values() for outcome in group]
    assert len(outcomes) > 50
    assert [outcome.name for outcome in outcomes if not good(outcome)] == []


def test_the_page_says_what_is_still_to_be_made() -> None:
    wanted = {"unit", *registry.END_TO_END, *registry.WEEKLY}
    assert wanted - RECORD.done.keys() == LEFT.keys()
    for text in LEFT.values():
        assert text in SECTION


def phrases() -> list[str]:
    """What the section has to have in it, of the record."""
    hangs = [
        int(found) for one in RECORD.done["hangs"] for found in re.findall(r"(\d+)% answered", one.measured)
    ]
    out = [f"{min(hangs)}% to {max(hangs)}% answered", f"{RECORD.started_at:%Y-%m-%d}"]
    for group, how in (("overhead", "the same within 1 %"), ("power", "")):
        out += [f"{how} | {one.measured} | " for one in RECORD.done[group]]
        out += [str(one.negative_control) for one in RECORD.done[group]]
    for share, one in zip(comparing.SLOWDOWNS, RECORD.done["power"], strict=True):
        out.append(f"| {100 * share:.0f} % more")
        assert f"{100 * share:.0f}%" in one.name
    [confusion] = RECORD.done["confusion"]
    out += [f"in 95 % | {confusion.measured.partition(' (')[0]} | {confusion.negative_control}"]
    return [*out, f"{2 * comparing.PAIRS * comparing.WINDOW_S} s of windows"]


def missing(section: str) -> list[str]:
    return [phrase for phrase in phrases() if phrase not in section]


def test_the_page_says_what_was_found() -> None:
    assert missing(SECTION) == []


def test_a_changed_figure_is_noticed() -> None:
    found = [*re.finditer(r"[-+]?\d+(\.\d+)?%", SECTION)]
    assert len(found) > 10
    for figure in found:
        assert missing(f"{SECTION[: figure.start()]}77.7%{SECTION[figure.end() :]}"), figure[0]

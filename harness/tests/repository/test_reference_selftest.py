"""The committed results of the weekly self-test: passed, and what the methodology says of them."""

import re

from harness_places import ROOT

from tandem.record.selftest import Selftest, good
from tandem.selftest import comparing, registry
from tandem.selftest.progress import Progress

FOLDER = ROOT / "results/reference-selftest"
RECORD = Progress.model_validate_json((FOLDER / "selftest-progress.json").read_text())
QUEUES, PAIRS, VISITS = (
    Selftest.model_validate_json((FOLDER / f"{name}.json").read_text()).outcomes
    for name in ("long-queues", "pairs", "visits")
)
"""Made by themselves; each record names its source."""
PAGE = (ROOT / "docs/methodology.md").read_text()
SECTION = PAGE.partition("### The weekly class")[2].partition("\n## ")[0]


def test_all_that_was_made_passed_and_every_negative_control_was_caught() -> None:
    assert RECORD.full
    outcomes = [*QUEUES, *PAIRS, *VISITS, *(outcome for group in RECORD.done.values() for outcome in group)]
    assert len(outcomes) > 55
    assert [outcome.name for outcome in outcomes if not good(outcome)] == []


def test_every_group_was_made() -> None:
    # The short queues were a part of `timing` then.
    made = {*RECORD.done, "queueing", "long-queues", "pairs", "visits"}
    assert {"unit", *registry.END_TO_END, *registry.WEEKLY} == made


def phrases() -> list[str]:
    """What the section has to have in it, of the records."""
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
    assert [queue.name for queue in QUEUES] == ["queue at 50% load", "queue at 70% load"]
    out += [f"| {one.expected} | {one.measured} | {one.negative_control} |" for one in QUEUES]
    [with_itself] = PAIRS
    assert with_itself.tolerance == "1 to 10"
    out += [
        f"1 to 10 intervals leave out 1, and not more are told a difference | {with_itself.measured} | {with_itself.negative_control} |"
    ]
    out += [one.tolerance for one in QUEUES]
    return [*out, f"{2 * comparing.PAIRS * comparing.WINDOW_S} s of windows"]


def missing(section: str) -> list[str]:
    return [phrase for phrase in phrases() if phrase not in section]


def test_the_page_says_what_was_found() -> None:
    assert missing(SECTION) == []


def test_a_changed_figure_is_noticed() -> None:
    found = [*re.finditer(r"[-+]?\d+(\.\d+)?%", SECTION)]
    assert len(found) > 12
    for figure in found:
        assert missing(f"{SECTION[: figure.start()]}77.7%{SECTION[figure.end() :]}"), figure[0]

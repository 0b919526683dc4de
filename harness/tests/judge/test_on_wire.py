"""tandem.judge.on_wire: enough answers are compared, and a wrong one makes the window invalid, whatever the host did."""

from typing import Any

import pytest
from harness_samples import EXPECTED, good_window, tap, there

from tandem.judge.judge import gates, verdict
from tandem.judge.on_wire import ALTERED, LONG_S, MISSED, coverage, needed, on_wire, stated
from tandem.record.window import Verdict, Window


def tapped(compared: int = 2_140, wrong: int = 0, **changes: Any) -> Window:
    return good_window(tap=tap(compared, wrong)).model_copy(update={"duration_s": float(LONG_S), **changes})


def test_so_many_find_an_alteration() -> None:
    assert (1 - ALTERED) ** needed() <= MISSED < (1 - ALTERED) ** (needed() - 1)


def test_how_many_were_compared() -> None:
    assert coverage([tapped(), good_window()]) == "2,140 of 12,000 answers compared"
    assert stated([tapped(), tapped()]) == "4,280 of 24,000 answers compared for 0.20 s of CPU"
    assert coverage([good_window()]) == stated([good_window()]) == ""


def test_one_wrong_answer_is_invalid_on_a_disturbed_host_as_well() -> None:
    window = tapped(wrong=1)
    window.host.steal_share = 0.5
    found = [*on_wire(window), *gates(window, EXPECTED)]
    assert found[0].text.endswith("are wrong: GET /1: not a recipe")
    assert "void" in {one.severity for one in found}
    assert verdict(found) is Verdict.INVALID


@pytest.mark.parametrize(
    ("compared", "changes", "warned"),
    [
        (2_140, {}, False),
        (1_200, {}, False),
        (1_100, {}, True),
        (110, {"good": 200}, False),
        (90, {"good": 200}, True),
        (200, {"duration_s": 4.0}, False),
        (0, {"good": 0}, False),
        (0, {"tap": None}, False),
    ],
)
def test_few_is_a_warning(compared: int, changes: dict[str, Any], warned: bool) -> None:
    found = [(one.code, one.severity) for one in on_wire(tapped(compared, **changes))]
    assert found == [("few-compared", "warning")] * warned


def test_it_says_why_nothing_was_captured() -> None:
    window = tapped(0)
    there(window.tap).problem = "tcpdump: no permission"
    [found] = on_wire(window)
    assert found.text.endswith("would be enough: tcpdump: no permission")

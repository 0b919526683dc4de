"""docs/reference/lies.md: every lie that a test makes is told, with what the test sees it by."""

import re
import runpy

from harness_lies import CHALLENGED, HIDDEN_MEMORY, LEAK, LIARS
from harness_places import ROOT

from tandem.selftest import liars

ROW = re.compile(r"^\| [^|]+ \| `([a-z-]+)` \| ((?:`[a-z_-]+` ?)+)\|$", re.MULTILINE)
BY_CONTRACT = re.compile(r'^    "([a-z_]+)": "([a-z0-9 -]+)",$', re.MULTILINE)
"""A line of FINDS in contract/tests/test_broken.py."""


def told() -> dict[str, set[str]]:
    """Fault -> what sees it, by the page."""
    page = (ROOT / "docs/reference/lies.md").read_text()
    rows = ROW.findall(page)
    assert len(rows) == len(dict(rows)), "a fault has one row"
    return {fault: set(seen.replace("`", "").split()) for fault, seen in rows}


def by_tests() -> dict[str, set[str]]:
    """The same by the tests of runs and the self-test."""
    out = {fault: {code} for fault, (_, code) in LIARS.items()}
    out |= {fault: {liars.CODE} for fault in liars.FAULTS}
    for fault, (_, codes) in CHALLENGED.items():
        out[fault] = out.get(fault, set()) | codes
    out |= {fault: {figure} for fault, figure in (HIDDEN_MEMORY[:2], LEAK)}
    cached = liars.CACHED.behaviour.removeprefix("FAULT=")
    return out | {cached: out[cached] | {liars.CACHED.code}}


def by_contract() -> dict[str, set[str]]:
    text = (ROOT / "contract/tests/test_broken.py").read_text()
    out: dict[str, set[str]] = {}
    for check, faults in BY_CONTRACT.findall(text):
        for fault in faults.split():
            out.setdefault(fault, set()).add(check)
    return out


def test_what_the_page_tells_is_tested() -> None:
    by_run, by_verify = by_tests(), by_contract()
    for fault, seen in told().items():
        assert seen == by_run.get(fault, by_verify.get(fault)), fault


def test_what_only_a_run_can_see_is_told() -> None:
    faults = runpy.run_path(str(ROOT / "contract/broken/src/faults.py"))
    assert faults["UNDER_LOAD"] <= told().keys() <= faults["FAULTS"].keys()


def test_a_challenged_lie_is_told() -> None:
    assert CHALLENGED.keys() <= told().keys()

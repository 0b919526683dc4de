"""tandem.audit.rules: every rule has a sample that it catches, and one that it must not."""

from pathlib import Path
from typing import Any

import pytest

from tandem.audit.readers import WRK_ADDS, read
from tandem.audit.row import Row, row_of
from tandem.audit.rules import RULES, Level, audit

# Rows of HttpArena, site/data (https://github.com/MDA2AV/HttpArena), but for the depth that is left out or the like.
STATIC = {
    "name": "actix",
    "rate_rps": 6404,
    "mean": "188.95ms",
    "p99": "188.95ms",
    "connections": 1024,
    "loop": "closed",
}
PIPED = {"rate_rps": 16269526, "mean": "502us", "p99": "536us", "connections": 512, "depth": 16}
LIMITED = {"rate_rps": 486117, "mean": "1.03ms", "connections": 512}
"""Connections are closed after ten requests."""
PLAIN = {"rate_rps": 2942559, "mean": "173us", "p99": "278us", "connections": 512, "loop": "closed"}
LOOSE = {"rate_rps": 70673, "mean": "1.16ms", "connections": 50, "loose": WRK_ADDS}  # fixtures/wrk-good.txt
WHOLE = {"rate_rps": 100, "requests": 1000, "duration_s": 10}
APACHE = {"rate_rps": 0, "requests": 1875336, "errors": 1875336, "duration_s": 5}  # pipelined-512
TOP = [
    {"name": f"a{n}", "language": one, "rate_rps": 1000 - n} for n, one in enumerate(("C", "Rust", "Go", "c"))
]

CAUGHT: list[tuple[str, list[dict[str, Any]]]] = [
    ("little-above", [STATIC]),
    ("little-above", [PIPED | {"depth": None}]),
    ("little-other", [LOOSE]),
    ("little-below", [LIMITED | {"connections": 600}]),
    ("order", [{"p50": 5, "p90": 4.4}]),
    ("order", [{"p99": "20.0ms", "max": "19.0ms"}]),
    ("order", [{"mean": 3.25, "max": 3.1}]),
    ("order", [{"min": 3.25, "mean": 3.1}]),
    ("order", [{"min_us": -6.15e18, "p50_us": 1033}]),  # the-benchmarker, data.min.json, framework 1
    ("order", [{"mean": 1.0, "p50": 2.4}]),
    ("percentile-is-mean", [STATIC]),
    ("few-samples", [{"p99": 5, "requests": 9999}]),
    ("coordinated-omission", [PLAIN]),
    ("coordinated-omission", [{"p95": 5}]),
    ("errors-counted", [WHOLE | {"errors": 80}]),
    ("errors-counted", [{"rate_rps": 100, "requests": 1000, "errors": 80}]),
    ("cpu-beyond", [{"cpu_percent": 430, "cpus": 4}]),
    ("last-second", [{"last_second": (120, 190.0)}]),
    ("last-second", [{"cut_off": 50, "requests": 1000}]),
    ("common-ceiling", TOP),
    ("single-run", [PLAIN]),
    ("single-run", [PLAIN | {"runs": 1}]),
]
SPARED: list[tuple[str, list[dict[str, Any]]]] = [
    ("little-above", [PIPED]),
    ("little-above", [STATIC | {"loop": "open"}]),
    ("little-above", [STATIC | {"several": True}]),  # streams of HTTP/2 whose number is not told
    ("little-above", [{"rate_rps": 40_000, "mean": "2ms", "connections": 64}]),  # 1.5 ms by its digits: 60
    ("little-above", [LOOSE]),
    ("little-other", [PLAIN | {"loose": WRK_ADDS}]),
    ("little-below", [LIMITED]),
    ("little-below", [{"rate_rps": 10, "mean": 5, "connections": 512, "loop": "open"}]),
    ("order", [{"min": 1, "p50": 5, "p90": 5, "p99": "5.00ms", "max": 5, "mean": 4}]),
    ("order", [{"p50": "1.2ms", "p90": "1ms", "mean": "1ms"}]),  # 1 ms is up to 1.5
    ("order", [{"p99": 90, "mean": 1.0}]),
    ("percentile-is-mean", [PLAIN]),
    ("percentile-is-mean", [{"mean": "2ms", "p99": "2ms"}]),
    ("percentile-is-mean", [{"min": "20.01ms", "mean": "20.02ms", "p99": "20.02ms"}]),  # a timer's answers
    ("percentile-is-mean", [{"mean": "2.22ms", "p50": "2.22ms"}]),
    ("few-samples", [{"p99": 5, "requests": 10_000}]),
    ("coordinated-omission", [{"p99": 5, "loop": "open"}]),
    ("coordinated-omission", [{"p50": 5, "loop": "closed"}]),
    ("errors-counted", [WHOLE | {"rate_rps": 92, "errors": 80}]),
    ("errors-counted", [APACHE]),
    ("cpu-beyond", [{"cpu_percent": 395.6, "cpus": 4}]),  # actix, api-4-256
    ("last-second", [{"last_second": (185, 190.0), "cut_off": 0, "requests": 1000}]),
    ("last-second", [{"last_second": (5, 9.0)}]),  # as far as chance goes
    ("common-ceiling", [one | {"language": "C"} for one in TOP]),
    ("common-ceiling", TOP[:3]),
    ("common-ceiling", [one | {"rate_rps": 1000 - 10 * n} for n, one in enumerate(TOP)]),
    ("common-ceiling", [one | {"rate_rps": 0} for one in TOP]),
    ("single-run", [PLAIN, PLAIN]),
    ("single-run", [PLAIN | {"runs": 3}]),
]


@pytest.mark.parametrize(
    ("rule", "records", "places"),
    [(*one, [*range(len(one[1]))]) for one in CAUGHT] + [(*one, list[int]()) for one in SPARED],
)
def test_a_rule_catches_and_spares(rule: str, records: list[dict[str, Any]], places: list[int]) -> None:
    findings = audit([*map(row_of, records)]).findings
    assert [one.row for found in findings if found.rule == rule for one in found.caught] == places


def test_every_rule_has_both_and_says_what_may_be_concluded() -> None:
    names = [rule.rule for rule, _ in RULES]
    assert {rule for rule, _ in CAUGHT} == {rule for rule, _ in SPARED} == {*names}
    assert len({*names}) == len(names)
    for rule, _ in RULES:
        assert all(text.endswith(".") for text in (rule.may, rule.may_not, rule.innocent))


def test_only_what_no_load_can_have_counts_as_a_contradiction() -> None:
    found = audit([row_of(STATIC), row_of(PIPED), row_of({"p50": 2.5, "max": 1.5})])
    assert (found.rows, found.contradicting) == (3, 2)
    levels = {one.rule: one.level for one in found.findings}
    assert levels["little-above"] is Level.CONTRADICTS
    assert levels["percentile-is-mean"] is Level.QUESTION
    assert [found.rule for found in audit([Row(name="a")]).findings] == ["single-run"], "without figures"
    assert audit([]).findings == []


def test_the_public_tables_have_what_was_counted_by_hand(fixtures: Path) -> None:
    static, piped = (
        audit(read(fixtures / f"audit/{name}.json", {})) for name in ("static-1024", "pipelined-512")
    )
    counts = {one.rule: len(one.caught) for one in static.findings}
    assert (static.rows, static.contradicting) == (51, 32)
    assert (counts["little-above"], counts["percentile-is-mean"]) == (32, 51)
    assert (piped.rows, piped.contradicting) == (57, 0)

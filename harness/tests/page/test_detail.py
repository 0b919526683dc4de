"""tandem.page.detail: what a request costs, by role, as the picture shows it."""

from typing import Any

import pytest
from harness_places import ROOT

from tandem.analysis.cost import ROLES as CHARGED
from tandem.page.detail import ROLES, roles, title
from tandem.page.read import Header, Run, read
from tandem.studies.bench.conclusions import TOTAL


def run_of(folder: str) -> Run:
    found = read(Header(ROOT / "results" / folder, folder, "", slug="slug"))
    assert isinstance(found, Run)
    return found


@pytest.mark.parametrize(
    ("folder", "most", "least"),
    [("reference", "python-sync", "cpp-async"), ("questions", "python-sync", "cpp-async")],
)
def test_a_bar_is_the_whole_that_the_table_tells(folder: str, most: str, least: str) -> None:
    run = run_of(folder)
    found = run.result.conclusions
    rows = found.rows if folder == "reference" else found.conditions["as asked"].rows
    told = list(roles(run))
    assert {row["variant"] for row in told} == {row.label.partition(" @ ")[0] for row in rows}
    for row in rows:
        own: list[dict[str, Any]] = [one for one in told if one["variant"] == row.label.partition(" @ ")[0]]
        assert [one["role"] for one in own] == ["application", "pooler", "database", "proxy"]
        assert sum(one["us"] for one in own) == pytest.approx(row.summary.total_cpu_us_per_request)
        assert own[0]["us"] == pytest.approx(row.summary.app_cpu_us_per_request, rel=1e-5)
        assert (own[0]["low"], own[0]["high"]) == row.summary.total_cpu_us_per_request_interval
        assert {(one["low"], one["text"]) for one in own[1:]} == {(None, None)}, "once for each bar"
        ratio = row.against_first[TOTAL].ratio.ratio if row is not rows[0] else None
        ratio_told = "" if ratio is None else f", × {ratio:.2f}"
        assert own[0]["text"] == f"{row.summary.total_cpu_us_per_request:,.0f} µs{ratio_told}"
    whole = {label: sum(row["us"] for row in told if row["variant"] == label) for label in (most, least)}
    assert whole[most] > whole[least]


@pytest.mark.parametrize("folder", ["comparisons/falcon", "explanations/published-rust"])
def test_generator_and_latency_proxy_are_in_no_bar(folder: str) -> None:
    told = list(roles(run_of(folder)))
    assert {row["role"] for row in told} == {ROLES[role] for role in CHARGED}
    assert {row["low"] for row in told} == {None}, "no interval is made up for what is a mean only"


def test_the_whole_has_its_title() -> None:
    assert title(TOTAL) == "CPU of all roles, µs/request"

"""tandem.load.wrk and tandem.load.drill: their command lines, and summaries that wrk 4.1.0 and drill 0.9.1 printed."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.errors import TandemError
from tandem.load import drill, wrk
from tandem.load.generator import Load
from tandem.load.generators import GENERATORS

UNITS_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}


def text(fixtures: Path, name: str, without: str | None = None) -> str:
    """What a tool printed. without: lines with this are left out."""
    lines = (fixtures / f"{name}.txt").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if without is None or without not in line)


# ---- wrk ----


@pytest.mark.parametrize(
    ("name", "figures", "socket_errors"),
    [
        (
            "good",
            {
                "requests": 142_045,
                "failed": 0,
                "duration_s": 2.01,
                "requests_rps": 70_672.95,
                "latency_mean_ms": 1.16,
                "latency_p50_ms": 0.317,
                "latency_p90_ms": 3.59,
                "latency_p99_ms": 8.32,
                "latency_max_ms": 16.60,
            },
            (0, 0, 0, 0),
        ),
        ("10000", {"requests_rps": 29_011.16, "latency_mean_ms": 230.66}, None),
        ("refused", {}, (304, 0, 0, 0)),  # 500 connections, 200 open files
        ("wrong", {"failed": 80_541, "requests": 80_541, "latency_p50_ms": None}, None),  # without --latency
        ("timeout", {"failed": 0}, (0, 0, 0, 20)),
        # It spent its time looking for free source ports, and never sent.
        ("stuck", {"requests": 0, "requests_rps": 0, "duration_s": 8.67}, None),
    ],
)
def test_a_real_summary_of_wrk(
    fixtures: Path, name: str, figures: dict[str, float | None], socket_errors: tuple[int, ...] | None
) -> None:
    found = wrk.parse(text(fixtures, f"wrk-{name}"))
    assert {field: getattr(found, field) for field in figures} == pytest.approx(figures)
    if socket_errors is not None:
        errors = there(found.socket_errors)
        assert (*errors.model_dump().values(), errors.total) == (*socket_errors, sum(socket_errors))


@PROPERTY
@given(
    requests=st.integers(0, 10**9),
    rate=st.decimals(0, 10**6, places=2),
    mean=st.decimals(0, 999, places=2),
    unit=st.sampled_from(sorted(UNITS_MS)),
    errors=st.none() | st.tuples(*[st.integers(0, 10**6)] * 4),
    wrong=st.none() | st.integers(1, 10**6),
)
def test_every_summary_of_wrk_is_read_back(
    requests: int,
    rate: float,
    mean: float,
    unit: str,
    errors: tuple[int, int, int, int] | None,
    wrong: int | None,
) -> None:
    lines = [
        "Running 1m test @ http://app:8080/",
        "  1 threads and 10000 connections",
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        f"    Latency   {mean}{unit}    1.67ms  {mean}{unit}   57.39%",
        "    Req/Sec   108.59k     1.04k  112.20k    85.64%",
        f"  {requests} requests in 1.00m, 1.44GB read",
    ]
    if errors is not None:
        lines.append("  Socket errors: connect {}, read {}, write {}, timeout {}".format(*errors))
    if wrong is not None:
        lines.append(f"  Non-2xx or 3xx responses: {wrong}")
    found = wrk.parse("\n".join([*lines, f"Requests/sec: {rate}", "Transfer/sec:     24.58MB"]))
    assert (found.requests, found.requests_rps, found.duration_s) == (requests, float(rate), 60)
    assert found.latency_mean_ms == pytest.approx(float(mean) * UNITS_MS[unit])
    assert found.failed == (wrong or 0)
    assert tuple(there(found.socket_errors).model_dump().values()) == (errors or (0, 0, 0, 0))


# ---- drill ----


@pytest.mark.parametrize(
    ("name", "requests", "failed"),
    [("good", 10_000, 0), ("rounded", 10_000, 0), ("wrong", 300, 300), ("refused", 300, 300)],
)
def test_a_real_summary_of_drill(fixtures: Path, name: str, requests: int, failed: int) -> None:
    found = drill.parse(text(fixtures, f"drill-{name}"))
    assert (found.requests, found.failed, found.socket_errors) == (requests, failed, None)
    if name == "good":
        in_mean = 10_000 / found.duration_s
        assert found.requests_rps == pytest.approx(in_mean, rel=0.2), "the time has one digit"
        # Two iterations at a time; what its one thread does between requests is in no latency.
        assert found.requests_rps * there(found.latency_mean_ms) / 1e3 <= 2
        assert 0 < there(found.latency_p50_ms) <= there(found.latency_p99_ms)
    if name == "rounded":
        assert found.latency_p50_ms in (0.0, 1.0), "without nanoseconds"


def test_colours_are_no_part_of_drills_summary(fixtures: Path) -> None:
    plain = text(fixtures, "drill-good")
    coloured = re.sub(
        r"^(Total requests)( +)(\d+)$", "\x1b[33m\\1\x1b[0m\\2\x1b[35m\\3\x1b[0m", plain, flags=re.M
    )
    assert coloured != plain
    assert drill.parse(coloured) == drill.parse(plain)


def test_the_totals_are_read_and_not_those_of_one_request() -> None:
    """The summaries of single requests come first, and are not what the whole is."""
    one = "ask Total requests 5\nask Failed requests 5\n"
    totals = (
        "Time taken for tests      6.4 seconds\nTotal requests            10000\nFailed requests           0\n"
        "Requests per second       1557.70 [#/sec]\nMedian time per request   0ms\nAverage time per request  0ms\n"
        "99.0'th percentile        0ms\n"
    )
    found = drill.parse(one + totals)
    assert (found.requests, found.failed, found.requests_rps, found.duration_s) == (10_000, 0, 1557.70, 6.4)
    assert found.latency_max_ms is None


@pytest.mark.parametrize(
    ("name", "missing", "told"),
    [
        *(("wrk", one, "no summary") for one in ("Requests/sec", "requests in", "Latency  ", "threads and")),
        ("drill", "Time taken", "no summary"),
        *(("drill", one, f"no readable '{one}") for one in ("Requests per second", "Median time")),
    ],
)
def test_half_a_summary_is_none(fixtures: Path, name: str, missing: str, told: str) -> None:
    parse = {"wrk": wrk.parse, "drill": drill.parse}[name]
    with pytest.raises(TandemError, match=told):
        parse(text(fixtures, f"{name}-good", without=missing))
    for said in ("", "unable to resolve nowhere:8080\n"):
        with pytest.raises(TandemError, match=said.strip() or "it printed nothing"):
            parse(said)


# ---- as generators that a window can name ----

LOAD = Load("http://app:8080/", 5, 300, 1, {}, timeout_s=10)
USERS = ["http://app:8080/user/0", "http://app:8080/user/1"]


@pytest.mark.parametrize("name", ["wrk", "drill"])
def test_a_tool_leaves_its_figures_and_no_rows(name: str, fixtures: Path, tmp_path: Path) -> None:
    by = GENERATORS[name]
    (tmp_path / "closed.txt").write_text(text(fixtures, f"{name}-good"))
    rows, report = by.read(tmp_path, "closed")
    assert (len(rows), by.suffixes) == (0, ())
    assert there(report.told).requests > 0
    with pytest.raises(TandemError, match=r"other\.txt: the load generator printed nothing"):
        by.read(tmp_path, "other")


def test_what_wrk_is_told() -> None:
    told = wrk.WRK.arguments(replace(LOAD, connections=10_000, options={"threads": 10}), "closed")
    assert told == ["wrk", "-t10", "-c10000", "-d5s", "--timeout=10s", "--latency", "http://app:8080/"]
    assert wrk.WRK.arguments(replace(LOAD, urls=USERS), "closed")[-1] == USERS[0]


ASK = {"name": "ask", "request": {"url": "/"}}
IN_TURN = {"name": "ask", "request": {"url": "{{ item }}"}, "with_items": ["/user/0", "/user/1"]}


@pytest.mark.parametrize(
    ("changes", "options", "iterations", "step"),
    [
        # The published benchmark.
        ({"connections": 2}, {"rampup_s": 10}, 10_000, ASK),
        ({"connections": 10, "urls": USERS}, {"rampup_s": 1, "quiet": False}, 5_000, IN_TURN),
    ],
)
def test_the_benchmark_of_drill(
    changes: dict[str, Any], options: dict[str, Any], iterations: int, step: object
) -> None:
    load = replace(LOAD, **changes, options={"requests": 10_000, **options})
    assert yaml.safe_load(drill.DRILL.inputs(load, "closed")["yml"]) == {
        "concurrency": load.connections,
        "base": "http://app:8080",
        "iterations": iterations,
        "rampup": options["rampup_s"],
        "plan": [step],
    }
    told = drill.DRILL.arguments(load, "closed")
    assert told[:3] == ["drill", "--benchmark", "/tmp/closed.yml"]
    assert ("--quiet" in told) is options.get("quiet", True)


@pytest.mark.parametrize("requests", [10_001, 2])
def test_requests_that_drill_cannot_make(requests: int) -> None:
    load = replace(LOAD, urls=USERS, connections=2, options={"requests": requests})
    with pytest.raises(TandemError, match=r"2 requests per iteration"):
        drill.DRILL.inputs(load, "closed")


@pytest.mark.parametrize("name", ["wrk", "drill"])
@pytest.mark.parametrize(
    "change", [{"rate_rps": 10}, {"method": "POST"}, {"headers": {"Cookie": "a"}}, {"url": "https://a/"}]
)
def test_a_load_that_a_tool_cannot_make_is_refused(name: str, change: dict[str, Any]) -> None:
    load = replace(LOAD, options={"requests": 1_000}, **change)
    with pytest.raises(TandemError, match="closed loops of plain GET"):
        GENERATORS[name].arguments(load, "closed")

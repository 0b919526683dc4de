"""Loads of the kinds `tools` and `connections`: what is seen, what limited them, what they are refused for."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from harness_samples import good_window, quiet_roles, role
from harness_windows import CORES, conditions, measured

from tandem.errors import TandemError
from tandem.judge import measure, second_opinion
from tandem.judge.judge import verdict
from tandem.lab.generator_runs import split
from tandem.load import wrk
from tandem.load.generator import Report
from tandem.load.rows import no_rows
from tandem.load.tool_result import SocketErrors, ToolResult
from tandem.probes.connection_ends import busiest
from tandem.record.window import Finding, Statement, Verdict, Window
from tandem.studies.reproduce import connections, plots, tools
from tandem.studies.reproduce.connections import ConnectionsSpec
from tandem.studies.reproduce.saturation import limit

RESULT = ToolResult(
    requests=100_000,
    failed=0,
    duration_s=10.0,
    requests_rps=10_000.0,
    latency_mean_ms=5.0,
    socket_errors=SocketErrors(connect=0, read=0, write=0, timeout=0),
)


def window(**changes: Any) -> Window:
    return good_window(proxy=None, statements={}, **changes)


# ---- what is seen during a load ----


def test_the_generators_busiest_thread() -> None:
    seen = {7: [(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)], 8: [(0.0, 0.0), (2.0, 1.9)], 9: [(1.9, 5.0)]}
    assert busiest(seen) == pytest.approx(0.95)
    assert busiest({}) is None


def test_what_a_tool_printed_stands_between_two_stamps() -> None:
    ran = split("1700000000.5\nRunning\n\nRequests\n1700000010.25\n")
    assert (ran.began_s, ran.text, ran.ended_s) == (1700000000.5, "Running\n\nRequests\n", 1700000010.25)
    for broken in ("", "Running\n", "1700000000.5\nRunning\n"):
        with pytest.raises(TandemError, match="stamps"):
            split(broken)


# ---- what limited it ----


@pytest.mark.parametrize(
    ("generator", "app", "thread", "tag"),
    [
        (0.95, 0.50, 0.95, "generator"),
        (0.95, 0.92, 0.95, "generator+app-cpu"),
        (0.95, 0.84, 0.95, "generator"),
        (0.92, 0.99, 0.92, "app-cpu"),
        (0.50, 0.99, 0.50, "app-cpu"),
        (0.20, 0.30, 0.20, "latency-bound"),
    ],
)
def test_the_generator_is_named_where_it_is_the_limit(
    generator: float, app: float, thread: float, tag: str
) -> None:
    roles = quiet_roles(loadgen=role(generator, "3"), app=role(app, "4", busiest_thread_cores=app / 2))
    found, evidence = limit(window(roles=roles), thread)
    assert found == tag
    assert any("busiest thread" in line for line in evidence)


def test_one_thread_of_a_generator_with_more_cores_is_a_limit() -> None:
    roles = quiet_roles(loadgen=role(1.0, "2-3", available=2), app=role(0.5, "4"))
    assert limit(window(roles=roles), 0.97)[0] == "generator-thread"
    assert limit(window(roles=roles), 0.60)[0] == "latency-bound"
    assert limit(window(roles=roles), None)[0] == "latency-bound"


def test_a_generator_that_keeps_requests_back_is_the_limit() -> None:
    """drill with a ramp-up: two iterations at a time, 1,458/s, 0.22 ms each, and no CPU busy."""
    roles = quiet_roles(loadgen=role(0.14, "3"), app=role(0.07, "4"))
    found, evidence = limit(window(roles=roles), 0.14, 1_458 * 0.22e-3 / 2)
    assert found == "generator"
    assert "16% of its connections" in evidence[-1]
    assert limit(window(roles=roles), 0.14, 0.9)[0] == "latency-bound"
    busy = quiet_roles(loadgen=role(0.14, "3"), app=role(0.99, "4"))
    assert limit(window(roles=busy), 0.14, 0.1)[0] == "app-cpu"


# ---- second opinions ----

NOTE = {"second-opinion": "warning"}


def judged(told: ToolResult, made: Window) -> list[Finding]:
    return second_opinion.findings(told, made)


def codes(told: ToolResult, made: Window) -> dict[str, str]:
    found = {finding.code: finding.severity for finding in judged(told, made)}
    assert found.pop("second-opinion") == "warning", "it is always marked"
    return dict(found)


def test_a_load_that_took_too_long_is_refused(fixtures: Path) -> None:
    stuck = wrk.parse((fixtures / "wrk-stuck.txt").read_text())
    assert [finding.code for finding in tools.overrun(stuck, 5.0)] == ["overrun"]
    assert codes(stuck, window()) == {"no-answers": "invalid"}
    assert tools.overrun(RESULT, 10.0) == []


def test_a_good_second_opinion_has_no_findings() -> None:
    assert codes(RESULT, window()) == {}


def test_a_connect_error_makes_it_invalid(fixtures: Path) -> None:
    """wrk's real summary of a run that had too few descriptors: 304 connect errors."""
    real = wrk.parse((fixtures / "wrk-refused.txt").read_text())
    found = judged(real, window())
    assert [f.code for f in found if f.severity == "invalid"] == ["connect-errors", "wrong-answers"]
    assert "304 connections" in found[0].text
    one = RESULT.model_copy(update={"socket_errors": SocketErrors(connect=1, read=0, write=0, timeout=0)})
    assert codes(one, window()) == {"connect-errors": "invalid", "wrong-answers": "warning"}
    assert verdict(judged(one, window())) is Verdict.INVALID


@pytest.mark.parametrize(
    ("changed", "made", "code", "severity"),
    [
        ({"requests": 0}, {}, "no-answers", "invalid"),
        ({"failed": 600}, {}, "wrong-answers", "invalid"),
        ({"failed": 100}, {}, "wrong-answers", "warning"),
        ({}, {"probe_failures": ["/: other bytes"], "probes": 9}, "wrong-body", "invalid"),
        ({}, {"failed": {"probe not answered": 2}}, "wrong-answers", "warning"),
    ],
)
def test_what_a_second_opinion_is_refused_for(
    changed: dict[str, int], made: dict[str, Any], code: str, severity: str
) -> None:
    assert codes(RESULT.model_copy(update=changed), window(**made)) == {code: severity}


def test_checks_that_need_rows_do_not_apply() -> None:
    """No little, no exact count of answers: what an oha window would be invalid for."""
    counted = {"other": Statement(calls=10**6, rows=1)}
    made = window(little=None, rows_2xx=None).model_copy(update={"statements": counted, "requests": 0})
    assert codes(RESULT, made) == {}


def test_a_disturbed_host_voids_a_second_opinion() -> None:
    host = window().host.model_copy(update={"steal_share": 0.3})
    assert codes(RESULT, window(host=host)) == {"steal": "void"}


def told_window(told: ToolResult) -> Window:
    """The window of a load whose generator left no rows."""
    report = Report(statusCodeDistribution={}, told=told)
    return measure.window(measured(rows=no_rows(), report=report), conditions())


def test_a_window_without_rows_has_the_tools_figures_and_the_counters() -> None:
    made = told_window(RESULT.model_copy(update={"failed": 1_000}))
    assert (made.requests, made.good, made.failed) == (100_000, 99_000, {"wrong answers": 1_000})
    assert made.goodput_rps == pytest.approx(9_900)
    assert made.service_time_ms.mean == 5.0
    assert made.roles["app"].cpu_cores == pytest.approx(CORES["app"])
    assert (made.little, made.rows_2xx, made.service_time_hdr, made.per_second) == (None, None, None, None)
    assert told_window(RESULT.model_copy(update={"requests": 0})).goodput_rps == 0


def test_figures_of_a_second_opinion() -> None:
    told = RESULT.model_copy(update={"failed": 1_000})
    made = told_window(told)
    found = tools.tool_figures(told, made)
    assert found["goodput_rps"] == pytest.approx(9_900)
    assert found["app_cpu_us_per_request"] == made.app_cpu_us_per_request
    assert found["errors"] == 1_000
    assert found["connect_errors"] == 0
    assert "p99_ms" not in found, "what was not told is left out"


def test_connect_errors_of_oha() -> None:
    made = window(failed={"error: Connection refused (os error 111)": 3, "status 500": 2})
    found = tools.oha_figures(made)
    assert (found["connect_errors"], found["errors"]) == (3, 5)
    seen = made.model_copy(update={"established": 7})
    codes = [f.code for f in tools.not_connected(seen, 8, found["connect_errors"])]
    assert codes == ["not-connected", "connect-errors"]
    assert tools.not_connected(window().model_copy(update={"established": 8}), 8) == []
    assert [f.code for f in tools.not_connected(window(), 8)] == ["not-connected"], "nobody was seen"


# ---- connections ----


def threads(number: int) -> Window:
    return window().model_copy(update={"app_threads": number})


def test_a_thread_for_each_connection_is_counted() -> None:
    spec = ConnectionsSpec(implementation="cpp-sync", connections=7_000, thread_each=True)
    assert connections.too_few_threads(spec, threads(7_001)) == []
    [found] = connections.too_few_threads(spec, threads(4_096))
    assert found.severity == "invalid"
    assert "4,096 threads for 7,000" in found.text
    shared = ConnectionsSpec(implementation="cpp-async", connections=7_000)
    assert connections.too_few_threads(shared, threads(3)) == []


def test_figures_of_a_load_of_connections() -> None:
    found = connections.window_figures(window())
    assert found["cpu_percent"] == pytest.approx(50)
    assert found["anonymous_memory_mib"] == pytest.approx(50)
    assert found["mean_ms"] == 5.0


def test_connections_are_opened_before_the_measured_part() -> None:
    few = tools.loaded("few", "cpp-async", 5, 100)
    assert (few.scenario_changes, few.trim_start_s, few.seconds) == ({"connections": 100}, 1.5, 5)
    many = tools.loaded("many", "cpp-async", 5, 10_000)
    assert (many.scenario_changes, many.trim_start_s, many.seconds) == ({"connections": 10_000}, 5.5, 9)


POINTS = [
    plots.PlotPoint("cpp-async", 100, {"goodput_rps": 9_000.0, "mean_ms": 2.0}),
    plots.PlotPoint("cpp-async", 1, {"goodput_rps": 3_000.0, "mean_ms": 0.0}),
    plots.PlotPoint("node", 1, {"goodput_rps": 300.0}),
]


def test_what_a_plot_shows() -> None:
    assert [row["value"] for row in plots.rows(POINTS, "goodput_rps", "log")] == [3_000.0, 9_000.0, 300.0]
    assert [row["connections"] for row in plots.rows(POINTS, "mean_ms", "linear")] == [1, 100]
    assert [row["connections"] for row in plots.rows(POINTS, "mean_ms", "log")] == [100], "0 has no logarithm"
    assert plots.rows(POINTS, "p90_ms", "linear") == []


def test_plots_are_svg_with_both_kinds_of_axes() -> None:
    written = plots.files(POINTS)
    assert list(written) == [
        "goodput_rps-linear.svg",
        "goodput_rps-log.svg",
        "mean_ms-linear.svg",
        "mean_ms-log.svg",
    ]
    for text in written.values():
        drawing = ElementTree.fromstring(text)
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        told = " ".join(drawing.itertext())
        assert "connections" in told
        assert "cpp-async" in told
    assert heights(written["goodput_rps-linear.svg"]) != heights(written["goodput_rps-log.svg"])


def heights(text: str) -> list[str]:
    """Where a plot's lines run."""
    drawing = ElementTree.fromstring(text)
    found = [path.get("d") or "" for path in drawing.iter("{http://www.w3.org/2000/svg}path")]
    assert found
    return found

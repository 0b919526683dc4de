"""Loads of the kinds `tools` and `connections`: what is seen, what limited them, what they are refused for."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from harness_samples import good_window, quiet_roles, role
from rich.console import Console
from tandem.reproduce import connections, opinion, plots, tool_spec
from tandem.reproduce.benches import Work, failed, loaded, started
from tandem.reproduce.connections import ConnectionsSpec
from tandem.reproduce.experiment import ExperimentPlan
from tandem.reproduce.kinds import Bench
from tandem.reproduce.saturation import limit
from tandem.reproduce.toolrun import split
from tandem.reproduce.witness import Seen

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.live import Lines
from tandem.load import wrk
from tandem.load.tool_result import SocketErrors, ToolResult
from tandem.record.window import Verdict, Window

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
    seen = Seen(
        generator_threads={
            7: [(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)],
            8: [(0.0, 0.0), (2.0, 1.9)],
            9: [(1.9, 5.0)],
        }
    )
    assert seen.busiest_generator_thread_cores == pytest.approx(0.95)
    assert Seen().busiest_generator_thread_cores is None


def test_what_a_tool_printed_stands_between_two_stamps() -> None:
    assert split("1700000000.5\nRunning\n\nRequests\n1700000010.25\n") == (
        1700000000.5,
        "Running\n\nRequests\n",
        1700000010.25,
    )
    for broken in ("", "Running\n", "1700000000.5\nRunning\n"):
        with pytest.raises(TandemError, match="stamps"):
            split(broken)


# ---- what limited it ----


@pytest.mark.parametrize(
    ("generator", "app", "thread", "tag"),
    [
        (0.95, 0.50, 0.95, "generator"),
        (0.95, 0.92, 0.95, "generator"),
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


def test_a_load_that_took_too_long_is_refused(fixtures: Path) -> None:
    stuck = wrk.parse((fixtures / "wrk-stuck.txt").read_text())
    assert [f.code for f in opinion.findings(stuck, window(), 1, 1, asked_s=5.0)] == ["overrun", "no-answers"]
    assert opinion.findings(RESULT, window(), 1, 1, asked_s=10.0) == []


def codes(result: ToolResult, made: Window, established: int = 10_000) -> dict[str, str]:
    return {f.code: f.severity for f in opinion.findings(result, made, 10_000, established)}


def test_a_good_second_opinion_has_no_findings() -> None:
    assert codes(RESULT, window()) == {}


def test_a_connect_error_makes_it_invalid(fixtures: Path) -> None:
    """wrk's real summary of a run that had too few descriptors: 304 connect errors."""
    real = wrk.parse((fixtures / "wrk-refused.txt").read_text())
    found = opinion.findings(real, window(), 500, 500)
    assert [f.code for f in found if f.severity == "invalid"] == ["connect-errors", "wrong-answers"]
    assert "304 connections" in found[0].text
    one = RESULT.model_copy(update={"socket_errors": SocketErrors(connect=1, read=0, write=0, timeout=0)})
    assert codes(one, window()) == {"connect-errors": "invalid", "wrong-answers": "warning"}
    start = started(
        window(), opinion.figures(one, 1.0, 0), opinion.findings(one, window(), 1, 1), Seen(), ("x", [])
    )
    assert (start.verdict, start.figures) == (Verdict.INVALID, {})


@pytest.mark.parametrize(
    ("changed", "made", "established", "code", "severity"),
    [
        ({}, {}, 9_999, "not-connected", "invalid"),
        ({"requests": 0}, {}, 10_000, "no-answers", "invalid"),
        ({"failed": 600}, {}, 10_000, "wrong-answers", "invalid"),
        ({"failed": 100}, {}, 10_000, "wrong-answers", "warning"),
        ({}, {"probe_failures": ["/: other bytes"], "probes": 9}, 10_000, "wrong-body", "invalid"),
        ({}, {"failed": {"probe not answered": 2}}, 10_000, "wrong-answers", "warning"),
    ],
)
def test_what_a_second_opinion_is_refused_for(
    changed: dict[str, int], made: dict[str, Any], established: int, code: str, severity: str
) -> None:
    found = codes(RESULT.model_copy(update=changed), window(**made), established)
    assert found == {code: severity}


def test_a_disturbed_host_voids_a_second_opinion() -> None:
    host = window().host.model_copy(update={"steal_share": 0.3})
    assert codes(RESULT, window(host=host)) == {"steal": "void"}


def test_figures_of_a_second_opinion() -> None:
    found = opinion.figures(RESULT.model_copy(update={"failed": 1_000}), app_cpu_s=5.0, probes=0)
    assert found["goodput_rps"] == pytest.approx(9_900)
    assert found["app_cpu_us_per_request"] == pytest.approx(50)
    assert found["errors"] == 1_000
    assert found["connect_errors"] == 0
    assert "p99_ms" not in found, "what was not told is left out"
    assert opinion.figures(RESULT.model_copy(update={"requests": 0}), 5.0, 0)["goodput_rps"] == 0


def test_connect_errors_of_oha() -> None:
    found = tool_spec.oha_figures(
        window(failed={"error: Connection refused (os error 111)": 3, "status 500": 2})
    )
    assert (found["connect_errors"], found["errors"]) == (3, 5)
    codes = [f.code for f in tool_spec.not_connected(found, Seen(established=7), 8)]
    assert codes == ["not-connected", "connect-errors"]
    assert tool_spec.not_connected(tool_spec.oha_figures(window()), Seen(established=8), 8) == []


# ---- connections ----


def test_a_thread_for_each_connection_is_counted() -> None:
    spec = ConnectionsSpec(implementation="cpp-sync", connections=7_000, thread_each=True)
    assert connections.too_few_threads(spec, Seen(app_threads=7_001)) == []
    [found] = connections.too_few_threads(spec, Seen(app_threads=4_096))
    assert found.severity == "invalid"
    assert "4,096 threads for 7,000" in found.text
    shared = ConnectionsSpec(implementation="cpp-async", connections=7_000)
    assert connections.too_few_threads(shared, Seen(app_threads=3)) == []


def test_figures_of_a_load_of_connections() -> None:
    found = connections.window_figures(window())
    assert found["cpu_percent"] == pytest.approx(50)
    assert found["anonymous_memory_mib"] == pytest.approx(50)
    assert found["mean_ms"] == 5.0


def test_connections_are_opened_before_the_measured_part(real: Catalog, tmp_path: Path) -> None:
    bench = Bench(real, tmp_path, Lines(Console(quiet=True)))
    cell = Work.of(bench, "index", ExperimentPlan(starts=1), 5, 0).cell("cpp-async", "index")
    few, seconds = loaded(cell, 100)
    assert (few.scenario.connections, few.plan.trim_start_s, seconds) == (100, 1.5, 5)
    many, seconds = loaded(cell, 10_000)
    assert (many.scenario.connections, many.plan.trim_start_s, seconds) == (10_000, 5.5, 9)


def test_a_failed_load_has_a_reason() -> None:
    assert (failed("it broke").verdict, failed("it broke").reason) == (Verdict.FAILED, "it broke")


POINTS = [
    plots.Point("cpp-async", 100, {"goodput_rps": 9_000.0, "mean_ms": 2.0}),
    plots.Point("cpp-async", 1, {"goodput_rps": 3_000.0, "mean_ms": 0.0}),
    plots.Point("node", 1, {"goodput_rps": 300.0}),
]


def test_what_a_plot_shows() -> None:
    assert [row["value"] for row in plots.rows(POINTS, "goodput_rps", "log")] == [3_000.0, 9_000.0, 300.0]
    assert [row["connections"] for row in plots.rows(POINTS, "mean_ms", "linear")] == [1, 100]
    assert [row["connections"] for row in plots.rows(POINTS, "mean_ms", "log")] == [100], "0 has no logarithm"
    assert plots.rows(POINTS, "p90_ms", "linear") == []


def test_plots_are_svg_with_both_kinds_of_axes(tmp_path: Path) -> None:
    written = plots.write(tmp_path, POINTS)
    assert [file.name for file in written] == [
        "goodput_rps-linear.svg",
        "goodput_rps-log.svg",
        "mean_ms-linear.svg",
        "mean_ms-log.svg",
    ]
    for file in written:
        drawing = ElementTree.fromstring(file.read_text())
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        told = " ".join(drawing.itertext())
        assert "connections" in told
        assert "cpp-async" in told
    assert heights(tmp_path / "goodput_rps-linear.svg") != heights(tmp_path / "goodput_rps-log.svg")


def heights(file: Path) -> list[str]:
    """Where a plot's lines run."""
    drawing = ElementTree.fromstring(file.read_text())
    found = [path.get("d") or "" for path in drawing.iter("{http://www.w3.org/2000/svg}path")]
    assert found
    return found

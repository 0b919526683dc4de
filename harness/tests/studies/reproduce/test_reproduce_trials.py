"""tandem.studies.reproduce.trials: the figures of a row, what it is refused for, what limited it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_samples import PROPERTY, TOOL_RESULT, good_window, quiet_roles, role
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis import histogram
from tandem.hosts import beside
from tandem.judge.bottleneck import Concurrency, bottleneck
from tandem.load import wrk
from tandem.load.generator import ToolResult
from tandem.record.request import Variant
from tandem.record.trial import Start, WindowRecord
from tandem.record.window import Window
from tandem.studies.reproduce.experiment import ExperimentPlan, ExperimentRow
from tandem.studies.reproduce.rows import PlannedRow
from tandem.studies.reproduce.trials import (
    connected,
    connection_figures,
    idle_figures,
    limit,
    peaks,
    percentiles_ms,
    tool_figures,
    window_figures,
)
from tandem.studies.reproduce.windows import RowWindow

# ---- figures ----


def window_of(seconds: Any) -> Window:
    """A window with these service times."""
    return good_window(service_time_hdr=histogram.encode(np.asarray(seconds, dtype=np.float64)))


def test_figures_of_a_window() -> None:
    found = window_figures(good_window(goodput_rps=400))
    assert (found["goodput_rps"], found["mean_ms"]) == (400, 5.0)
    assert found["cpu_percent"] == pytest.approx(50)
    assert found["anonymous_memory_mib"] == pytest.approx(50)
    assert found["peak_cpu_1s_percent"] is None


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.integers(1000, 1200), st.floats(0, 3))
def test_percentiles_are_those_of_the_times(seed: int, number: int, sigma: float) -> None:
    """Of distributions from one value for all to a long tail."""
    values = np.clip(np.random.default_rng(seed).lognormal(-4, sigma, number), 1e-4, 50)
    found = percentiles_ms(window_of(values))
    for name, q in (("p10_ms", 0.1), ("p50_ms", 0.5), ("p90_ms", 0.9)):
        exact = np.quantile(values, q, method="inverted_cdf") * 1e3
        assert found[name] == pytest.approx(exact, rel=2e-3, abs=2e-3)


def test_a_percentile_needs_samples_on_its_side() -> None:
    many, few = (percentiles_ms(window_of(np.linspace(0.1, 1, n))) for n in (1000, 100))
    assert set(many) == {"p10_ms", "p25_ms", "p50_ms", "p75_ms", "p90_ms"}
    assert few == percentiles_ms(good_window()) == {}


def test_the_peaks_of_a_log_as_published() -> None:
    log = "# Elapsed time   CPU (%)     Real (MB)\n       0.000        0.000      227.293\n      11.048       48.000      274.422\n      12.052       38.000      275.672\n"
    seen = beside.peaks(log)
    assert seen is not None
    found = peaks(Start(cpu_peak_percent=seen[0], resident_peak_bytes=seen[1]))
    assert found == {"peak_cpu_percent": 48.0, "peak_memory_mib": pytest.approx(275.672, abs=1e-6)}
    assert beside.peaks("# Elapsed time\n") is None
    assert set(peaks(Start()).values()) == {None}


def test_figures_of_a_tool() -> None:
    """Wrong answers are no goodput; what was not told is none."""
    found = tool_figures(TOOL_RESULT.model_copy(update={"failed": 1_000}), good_window(goodput_rps=9_900))
    assert (found["goodput_rps"], found["errors"], found["connect_errors"]) == (9_900, 1_000, 0)
    assert found["p99_ms"] is None
    assert (
        tool_figures(TOOL_RESULT.model_copy(update={"requests": 0}), good_window())["app_cpu_us_per_request"]
        is None
    )


def test_memory_of_silent_connections() -> None:
    own = RowWindow(generator="silent", connections=100).spec("w", "v", ExperimentPlan(starts=1), None, {})
    memory = {"memory_before_bytes": 1024, "memory_after_bytes": 1024 + 100 * 2048}
    record = WindowRecord(
        spec=own, windows={"v": good_window().model_copy(update={"idle_connections": 100})}, told=memory
    )
    assert idle_figures(record) == {"memory_per_idle_kib": 2.0, "established": 100.0}


# ---- connections that are counted ----


def seen(**changes: Any) -> Window:
    """A window with what only some generators tell."""
    return good_window(proxy=None, statements={}).model_copy(update=changes)


def codes(own: dict[str, Any], made: Window, told: ToolResult | None = None, seconds: int = 10) -> list[str]:
    window = RowWindow.model_validate(own)
    row = PlannedRow(ExperimentRow(label="r"), Variant(label="v", implementation="node"), "v", {}, window)
    spec = window.spec("r", "v", ExperimentPlan(starts=1, window_s=seconds), None, {})
    findings = connected(row, WindowRecord(spec=spec, windows={"v": made}), told)
    assert all(finding.severity == "invalid" for finding in findings)
    return [finding.code for finding in findings]


def test_connections_that_were_not_there() -> None:
    refused = seen(failed={"error: Connection refused (os error 111)": 3, "status 500": 2}, established=7)
    found = connection_figures(refused)
    assert (found["connect_errors"], found["errors"], found["established"]) == (3, 5, 7)
    assert codes({"connections": 8}, refused) == ["not-connected", "connect-errors"]
    assert codes({"connections": 8}, seen(established=8)) == []
    assert codes({"connections": 8}, good_window()) == ["not-connected"], "nobody was seen"
    assert codes({}, good_window()) == [], "the scenario's are not counted"


def test_a_load_that_took_too_long(fixtures: Path) -> None:
    stuck = wrk.parse((fixtures / "wrk-stuck.txt").read_text())
    own, held = {"generator": "wrk", "connections": 8}, seen(established=8)
    assert codes(own, held, stuck, 5) == ["overrun"]
    assert codes(own, held, TOOL_RESULT) == []
    drill = {"generator": "drill", "connections": 8, "generator_options": {"requests": 9}}
    assert codes(drill, good_window(), stuck, 5) == [], "it opens connections when it needs them"


def test_a_thread_for_each_connection_is_counted() -> None:
    own = {"connections": 7_000, "thread_each": True}
    few, enough = (seen(established=7_000, app_threads=n) for n in (4_096, 7_001))
    assert codes(own, few) == ["too-few-threads"]
    assert codes(own, enough) == codes({"connections": 7_000}, few) == []


# ---- what limited it ----


def limited(
    roles: dict[str, Any], thread: float | None, told: ToolResult | None, connections: int = 2
) -> str | None:
    made = seen(roles=roles, generator_thread_cores=thread)
    tag, _ = bottleneck(made, Concurrency())
    return limit(made.model_copy(update={"bottleneck": tag}), told, connections)


@pytest.mark.parametrize(
    ("generator", "app", "tag"),
    [
        (0.95, 0.50, "generator"),
        (0.95, 0.92, "generator+app-cpu"),
        (0.95, 0.84, "generator"),
        (0.92, 0.99, "app-cpu"),
        (0.50, 0.99, "app-cpu"),
        (0.20, 0.30, "latency-bound"),
    ],
)
def test_the_generator_is_named_where_it_is_the_limit(generator: float, app: float, tag: str) -> None:
    roles = quiet_roles(loadgen=role(generator, "3"), app=role(app, "4", busiest_thread_cores=app / 2))
    assert limited(roles, generator, None) == limited(roles, generator, TOOL_RESULT) == tag


def test_one_thread_of_a_generator_with_more_cores_is_a_limit() -> None:
    roles = quiet_roles(loadgen=role(1.0, "2-3", available=2), app=role(0.5, "4"))
    assert limited(roles, 0.97, TOOL_RESULT) == "generator-thread"
    assert (
        limited(roles, 0.60, TOOL_RESULT)
        == limited(roles, None, TOOL_RESULT)
        == limited(roles, 0.97, None)
        == "latency-bound"
    )


def test_a_generator_that_keeps_requests_back_is_the_limit() -> None:
    """drill with a ramp-up: two iterations at a time, 1,458/s, 0.22 ms each, and no CPU busy."""
    roles = quiet_roles(loadgen=role(0.14, "3"), app=role(0.07, "4"))
    ramped = TOOL_RESULT.model_copy(update={"requests_rps": 1_458, "latency_mean_ms": 0.22})
    full = TOOL_RESULT.model_copy(update={"requests_rps": 1_458, "latency_mean_ms": 1.3})
    assert limited(roles, 0.14, ramped) == "generator"
    assert limited(roles, 0.14, full) == "latency-bound"
    busy = quiet_roles(loadgen=role(0.14, "3"), app=role(0.99, "4"))
    assert limited(busy, 0.14, ramped) == "app-cpu"

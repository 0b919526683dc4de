"""The kind `http`: windows, ceilings, figures."""

from typing import Any

import numpy as np
import pytest
from harness_samples import PROPERTY, good_window
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis import histogram
from tandem.hosts import psrecord
from tandem.record.trial import Start
from tandem.record.window import Window
from tandem.studies.reproduce.experiment import ExperimentPlan
from tandem.studies.reproduce.http_figures import (
    Counted,
    figures,
    oha_text,
    peaks,
    percentiles_ms,
    service_times,
)
from tandem.studies.reproduce.http_run import (
    HttpRun,
    timeout_s,
    trips_ceiling,
    trips_implied,
    waiting_ceilings,
    window_times,
)


def run(**changes: Any) -> HttpRun:
    fields = {"implementation": "rust-sync", "scenario": "work", "topology": "direct", "connections": 100}
    return HttpRun.model_validate({**fields, **changes})


# ---- windows ----

FULL = ExperimentPlan(starts=5, window_s=8, requests=10_000, cap_s=60)
SMOKE = ExperimentPlan(starts=2, window_s=3, cap_s=3)


@pytest.mark.parametrize(
    ("plan", "ceiling_rps", "delay_ms", "seconds", "measured_s"),
    [
        (FULL, 5000, 20, 8, 7.25),
        (FULL, 500, 200, 23, 19.8),
        (FULL, 100, 1000, 60, 56),
        (FULL, 2, 1000, 60, 56),
        (FULL, None, None, 8, 7.25),
        (SMOKE, 100, 1000, 5, 3),
        (SMOKE, 5000, 20, 3, 2.25),
    ],
)
def test_how_long_a_window_is(
    plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None, seconds: int, measured_s: float
) -> None:
    found = window_times(plan, ceiling_rps, delay_ms)
    assert (found.seconds, round(found.measured_s, 6)) == (seconds, measured_s)


@PROPERTY
@given(st.integers(50, 5000), st.integers(1, 60), st.floats(1, 5000))
def test_no_wave_of_a_long_delay_is_cut(delay_ms: int, window_s: int, ceiling_rps: float) -> None:
    plan = ExperimentPlan(starts=1, window_s=window_s, requests=10_000, cap_s=60)
    found, delay_s = window_times(plan, ceiling_rps, delay_ms), delay_ms / 1e3
    waves = found.measured_s / delay_s
    assert waves == pytest.approx(round(waves), abs=1e-6)
    assert round(waves) >= 3
    assert found.trim_start_s / delay_s % 1 == pytest.approx(0.5, abs=1e-6)
    assert found.trim_start_s >= 1.5 * delay_s - 1e-6
    assert found.trim_end_s >= 0.25 - 1e-9
    # Requests that all take the delay and 1 ms more: whatever the window, the rate is right.
    ends = np.concatenate([np.full(100, n * (delay_s + 1e-4)) for n in range(1, round(60 / delay_s) + 60)])
    inside = (ends >= found.trim_start_s) & (ends < found.seconds - found.trim_end_s)
    assert inside.sum() / found.measured_s == pytest.approx(100 / delay_s, rel=0.02 + 1.1e-4 / delay_s)


def test_ceilings_of_waiting() -> None:
    assert waiting_ceilings(run(delay_ms=20), 32) == {"connections/delay": 5000, "threads/delay": 1600}
    assert waiting_ceilings(run(delay_ms=20), None) == {"connections/delay": 5000}
    assert waiting_ceilings(run(delay_ms=0), 32) == {}
    assert waiting_ceilings(run(), 32) == {}


def test_ceilings_of_round_trips() -> None:
    published = run(db_rtt_ms=15, round_trips=10)
    [ceiling] = trips_ceiling(published, 20, 16.0).values()
    assert ceiling == pytest.approx(20 / (10 * 0.016))
    assert trips_implied(20, 16.0, ceiling) == pytest.approx(10)
    assert trips_ceiling(published, None, 16.0) == {}
    assert trips_ceiling(run(db_rtt_ms=15), 20, 16.0) == {}
    assert trips_implied(20, 16.0, 0.0) is None


def test_a_request_that_rightly_waits_is_given_the_time() -> None:
    assert timeout_s(100, 2.0) == 100
    assert timeout_s(100, 5000.0) == 10
    assert timeout_s(100, None) == 10


# ---- figures ----


def window_of(seconds: Any, rate: float = 400.0) -> Window:
    """A window with these service times."""
    hdr = histogram.encode(np.asarray(seconds, dtype=np.float64))
    return good_window(goodput_rps=rate, good=len(seconds), requests=len(seconds), service_time_hdr=hdr)


def ten_values(rate: float = 400.0) -> Window:
    """5 to 14 ms, each as often, for 27 s."""
    return window_of(0.005 + 0.001 * (np.arange(round(27 * rate)) % 10), rate)


def spread(values: Any) -> Counted:
    return service_times(window_of(values))


def test_figures_of_a_window() -> None:
    window = ten_values()
    assert service_times(window)[1].sum() == 27 * 400
    found = figures(window)
    assert found["goodput_rps"] == 400
    assert found["p50_ms"] == pytest.approx(9, rel=1e-3)
    assert found["p99_ms"] == pytest.approx(14, rel=1e-3)
    assert found["anonymous_memory_mib"] == 50
    assert "peak_cpu_1s_percent" not in found, "what was not measured is left out"


@PROPERTY
@given(st.lists(st.floats(1e-4, 50), min_size=1000, max_size=1200))
def test_percentiles_are_those_of_the_times(values: list[float]) -> None:
    found = percentiles_ms(spread(values))
    for name, q in (("p10_ms", 0.1), ("p50_ms", 0.5), ("p90_ms", 0.9)):
        exact = np.quantile(values, q, method="inverted_cdf") * 1e3
        assert found[name] == pytest.approx(exact, rel=2e-3, abs=2e-3)


def test_a_percentile_needs_samples_on_its_side() -> None:
    assert set(percentiles_ms(spread(np.linspace(0.1, 1, 1000)))) == {
        "p10_ms",
        "p25_ms",
        "p50_ms",
        "p75_ms",
        "p90_ms",
    }
    assert percentiles_ms(spread(np.linspace(0.1, 1, 100))) == {}
    assert percentiles_ms(service_times(good_window())) == {}, "a window without a histogram"


def test_the_text_in_the_style_of_the_documents() -> None:
    window = ten_values()
    text = oha_text(window)
    lines = text.splitlines()
    assert "service times of the closed loop" in lines[0]
    assert "  Requests/sec:\t400.0000" in lines
    bins = [line for line in lines if "|" in line]
    assert len(bins) == 11
    counts = [int(line.split("[")[1].split("]")[0]) for line in bins]
    assert sum(counts) == 27 * 400
    assert "  50% in 0.0090 secs" in lines
    assert "no answer ended" in oha_text(window_of([]))
    assert "|■" in oha_text(window_of([0.005])), "one value is a histogram, too"


def test_the_peaks_of_a_log_as_published() -> None:
    log = "# Elapsed time   CPU (%)     Real (MB)\n       0.000        0.000      227.293\n      11.048       48.000      274.422\n      12.052       38.000      275.672\n"
    seen = psrecord.peaks(log)
    assert seen is not None
    found = peaks(Start(cpu_peak_percent=seen[0], resident_peak_bytes=seen[1]))
    assert found == {"peak_cpu_percent": 48.0, "peak_memory_mib": pytest.approx(275.672, abs=1e-6)}
    assert psrecord.peaks("# Elapsed time\n") is None
    assert peaks(Start()) == {}

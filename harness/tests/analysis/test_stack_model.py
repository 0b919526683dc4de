"""tandem.analysis.stack: what is counted in windows, what limits, and what a cell that differs may owe."""

import pytest
from harness_places import ROOT
from harness_samples import good_window, pooler, role, there

from tandem.analysis.stack import (
    Calibrated,
    Setup,
    beside,
    calibrated,
    likely,
    parallel,
    predict,
    round_trips,
)
from tandem.record.window import DbRtt, Verdict, Window
from tandem.studies.registry import read_folder

RECIPES = Setup(connections=50, pool=20)
SETTINGS = {"WORKERS": "1", "DB_PERSISTENT": "1", "DB_PREPARE": "1"}


def recorded(label: str) -> list[Window]:
    """The closed windows of the committed bench."""
    trials = [one for one in read_folder(ROOT / "results/reference")[2] if one.spec.variants == [label]]
    return [w for trial in trials if trial.verdict is Verdict.OK for w in trial.of(label, "closed")]


def base(**changes: object) -> Calibrated:
    """Two cores as in the placement of that name: a request costs the application 1 ms and the others 1.2 ms."""
    fields = {
        "demands_us": {"app": 1000, "db": 700, "pgbouncer": 350, "proxy": 100, "loadgen": 50},
        "cpusets": {"app": "1", "db": "0", "pgbouncer": "0", "proxy": "0", "loadgen": "0"},
        "cores": {"1": 1, "0": 1},
        "round_trips": 8,
        "distance_ms": 0,
        "windows": 3,
        **changes,
    }
    return Calibrated.model_validate(fields)


@pytest.mark.parametrize(
    "label", ["rust-async", "rust-sync", "cpp-async", "node", "python-async", "python-sync"]
)
def test_the_committed_bench_is_predicted_from_its_cpu_times(label: str) -> None:
    """Within 10 %, and with the bottleneck that the windows named."""
    windows = recorded(label)
    found = there(calibrated(windows))
    assert found.round_trips == pytest.approx(8, abs=0.01), "counted: eight reads"
    predicted = predict(found, RECIPES)
    measured = sorted(window.goodput_rps for window in windows)[len(windows) // 2]
    assert predicted.throughput_rps == pytest.approx(measured, rel=0.10)
    assert {window.bottleneck for window in windows} & {predicted.limited_by, "app-cpu", "database"}


def test_each_limit_is_named_in_the_words_of_windows() -> None:
    far = base(distance_ms=15)
    limits = {
        "database": predict(base(), RECIPES),
        "app-cpu": predict(base(demands_us={"app": 3000, "db": 700}), RECIPES),
        "pool-wait": predict(base(), Setup(connections=50, pool=2, distance_ms=15)),
        "thread-pool": predict(far, Setup(connections=50, pool=20, threads=4, distance_ms=15)),
        "latency-bound": predict(far, Setup(connections=5, pool=20, distance_ms=15)),
    }
    assert {word: found.limited_by for word, found in limits.items()} == {word: word for word in limits}


def test_connections_and_distance_set_the_rate_of_a_far_database() -> None:
    """Little: a connection is busy for eight round trips and the CPU time of a request."""
    found = predict(base(), Setup(connections=50, pool=4, distance_ms=15))
    assert found.throughput_rps == pytest.approx(4 / (8 * 15 + 2.2) * 1e3, rel=0.03)
    assert found.utilisation["pool"] == pytest.approx(1, abs=0.01)


def test_a_wait_without_statements_holds_threads_and_no_connection() -> None:
    computing = base(round_trips=0, demands_us={"app": 100, "loadgen": 50})
    sync = predict(computing, Setup(connections=100, threads=32, wait_ms=100, pool=2))
    assert sync.throughput_rps == pytest.approx(32 / 0.1001, rel=0.01)
    assert "pool" not in sync.utilisation
    free = predict(computing, Setup(connections=100, wait_ms=100))
    assert free.throughput_rps == pytest.approx(100 / 0.1001, rel=0.02)


@pytest.mark.parametrize(
    ("language", "model", "settings", "cores"),
    [
        ("python", "sync", {"WORKERS": "2", "THREADS": "10"}, 2),
        ("javascript", "async", {"WORKERS": "1"}, 1),
        ("rust", "async", {"WORKERS": "3"}, 3),
        ("rust", "sync", {"WORKERS": "1", "THREADS": "32"}, None),
        ("python", "async", {"WORKERS": ""}, 1),
    ],
)
def test_a_worker_that_runs_one_thread_at_a_time_uses_one_core(
    language: str, model: str, settings: dict[str, str], cores: int | None
) -> None:
    assert parallel(language, model, settings) == cores


def test_more_workers_use_more_of_its_cores() -> None:
    wide = base(cores={"1": 4, "0": 8}, demands_us={"app": 5000, "db": 100})
    rates = [predict(wide, Setup(connections=50, parallel=n)).throughput_rps for n in (1, 2, 8)]
    assert rates == pytest.approx([200, 400, 800], rel=0.01)


def test_round_trips_are_counted() -> None:
    window = good_window()
    answered = window.requests + window.probes
    calls = sum(s.calls for s in window.statements.values())
    for changes, told in (
        ({"pooler": pooler(queries=9 * answered)}, 9),
        ({"pooler": None}, calls / answered),
        ({"statements": {}}, 0),
        ({"requests": 0, "probes": 0}, 0),
    ):
        assert round_trips(window.model_copy(update=changes)) == pytest.approx(told)


@pytest.mark.parametrize(("before", "distance_ms"), [(5.5, 4.5), (4.2, 4.0)])
def test_the_distance_is_the_idle_round_trip_without_its_cpu_time(before: float, distance_ms: float) -> None:
    """8 ms of CPU in eight trips; it is never less than what was asked for."""
    rtt = DbRtt(setting=4, before_p50=before, during_p50=9.0, during_p90=12, samples=9)
    roles = {"app": role(0.5, "1"), "db": role(0.4, "0"), "faults": role(0.4, "0")}
    window = good_window(goodput_rps=100.0, roles=roles, db_rtt_ms=rtt)
    trips = pooler(queries=8 * (window.requests + window.probes))
    found = there(calibrated([window.model_copy(update={"pooler": trips})]))
    assert (found.distance_ms, found.during_ms) == pytest.approx((distance_ms, 9))
    assert calibrated([]) is calibrated([good_window("open")]) is None, "nothing follows from no window"


@pytest.mark.parametrize(
    ("here", "settings", "too_high", "told"),
    [
        ({"demands_us": {"app": 1500}}, {}, True, "cost app 1,500 µs of CPU, not 1,000"),
        ({"demands_us": {"app": 700}}, {}, False, "cost app 700 µs of CPU, not 1,000"),
        ({"distance_ms": 4, "during_ms": 7.5}, {}, True, "took 7.5 ms during the load"),
        ({"round_trips": 10}, {}, True, "made 10.0 round trips, not 8.0"),
        ({}, {"DB_PERSISTENT": "0"}, True, "login"),
        ({}, {"DB_PREPARE": "each"}, True, "prepared each time"),
        ({}, {"WORKERS": "2"}, True, "spread over 2 workers"),
        ({"steal_share": 0.08}, {}, False, "took 8% of the CPU time"),
        ({"foreign_share": 0.12}, {}, True, "other processes took 12% of the CPU time"),
        ({}, {"DB_PERSISTENT": "0"}, False, "nothing that was counted"),
        ({}, {}, True, "nothing that was counted"),
    ],
)
def test_a_cell_that_differs_is_explained_by_what_was_counted(
    here: dict[str, object], settings: dict[str, str], too_high: bool, told: str
) -> None:
    [reason] = likely(base(), base(**here), {**SETTINGS, **settings}, too_high)
    assert told in reason


def test_a_prediction_is_explained_where_it_is_far_off() -> None:
    slow = base(demands_us={"app": 3000, "db": 700})
    predicted, off, reasons = beside(base(), slow, RECIPES, SETTINGS, predict(slow, RECIPES).throughput_rps)
    assert off == pytest.approx(predicted.throughput_rps / predict(slow, RECIPES).throughput_rps - 1)
    assert "a request cost app 3,000 µs of CPU" in reasons[0]
    near = beside(base(), base(), RECIPES, SETTINGS, predicted.throughput_rps)
    assert near == (predicted, 0, [])
    assert beside(base(), None, RECIPES, SETTINGS, 0) == (predicted, None, [])

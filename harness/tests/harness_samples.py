"""Good examples of everything that a record holds; a test changes the one thing that it is about."""

from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from hypothesis import settings

from tandem.judge.judge import Expectation, gates
from tandem.load.generator import SocketErrors, ToolResult
from tandem.load.rows import Floats, OpenLoop, Rows
from tandem.record.host import Hiccup, HostActivity
from tandem.record.window import (
    Finding,
    ImpliedRows,
    Pooler,
    Proxy,
    Role,
    Statement,
    Tap,
    Times,
    Verdict,
    Window,
)

PROPERTY = settings(max_examples=60, deadline=None, database=None, derandomize=True)
"""For property tests: the same examples every time, nothing written to disk."""

TOOL_RESULT = ToolResult(
    requests=100_000,
    failed=0,
    duration_s=10.0,
    requests_rps=10_000.0,
    latency_mean_ms=5.0,
    socket_errors=SocketErrors(connect=0, read=0, write=0, timeout=0),
)
STATEMENTS = ["session", "recipe_random", "steps"]
EXPECTED = Expectation(statements=STATEMENTS, db_pool_max=20)
REQUESTS, PROBES = 12_000, 50
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def there[T](found: T | None) -> T:
    """The value, which has to be there."""
    assert found is not None
    return found


def counted(answered: int) -> dict[str, Statement]:
    """Of so many right answers: a recipe has six steps in the mean."""
    each = {"steps": 6}
    return {name: Statement(calls=answered, rows=each.get(name, 1) * answered) for name in STATEMENTS}


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def make_rows(
    start_s: Any, end_s: Any, *, paced_s: Any = None, status: Any = 200, length_bytes: Any = 1000
) -> Rows:
    """Rows with one status and one length, or those of each; a closed loop's unless `paced_s` is given."""
    start = np.asarray(start_s, dtype=np.float64)
    paced = np.full(len(start), np.nan) if paced_s is None else np.asarray(paced_s, dtype=np.float64)
    return Rows(
        start_s=start,
        paced_s=paced,
        end_s=np.asarray(end_s, dtype=np.float64),
        status=np.full(len(start), status, dtype=np.int64),
        length_bytes=np.full(len(start), length_bytes, dtype=np.int64),
    )


def answered(due_s: Floats, response_s: Floats) -> OpenLoop:
    """An open loop whose requests were all sent in time."""
    return OpenLoop(len(due_s), 0, due_s, response_s, np.zeros(len(due_s)))


def role(cores: float = 0.2, cpuset: str = "0", available: int = 1, **changes: Any) -> Role:
    fields = {"memory_peak_bytes": 50 << 20, "throttled_s": 0.0, **changes}
    return Role(cpu_cores=cores, cpuset=cpuset, cores_available=available, **fields)


def tap(compared: int = 2_140, wrong: int = 0) -> Tap:
    return Tap(
        bursts=12,
        bytes=1 << 20,
        packets_lost=0,
        begun=compared + 40,
        compared=compared,
        wrong=wrong,
        wrong_first=["GET /1: not a recipe"][:wrong],
        capture_cpu_s=0.1,
        compare_cpu_s=0.3,
    )


def quiet_roles(**changes: Role) -> dict[str, Role]:
    """Every role on CPUs of its own and half idle."""
    roles = {
        "app": role(0.5, "4", busiest_thread_cores=0.5),
        "proxy": role(0.3, "1"),
        "pgbouncer": role(0.3, "0"),
        "db": role(0.5, "2"),
        "loadgen": role(0.3, "3"),
    }
    return {**roles, **changes}


def finding(
    severity: Literal["invalid", "void", "warning"], code: str = "code", text: str = "text"
) -> Finding:
    return Finding(code=code, severity=severity, text=text)


def host(**changes: Any) -> HostActivity:
    """That of a good window, with changes."""
    return good_window().host.model_copy(update=changes)


def proxy(**changes: Any) -> Proxy:
    return there(good_window().proxy).model_copy(update=changes)


def pooler(**changes: Any) -> Pooler:
    return there(good_window().pooler).model_copy(update=changes)


def good_window(load: Literal["closed", "open"] = "closed", **changes: Any) -> Window:
    """A window that passes every gate."""
    answered = REQUESTS + PROBES
    opened = load == "open"
    fields: dict[str, Any] = {
        "load": load,
        "duration_s": 30.0,
        "connections": 50,
        "offered_rps": REQUESTS / 30 if opened else None,
        "measured_s": 27.0,
        "requests": REQUESTS,
        "good": REQUESTS,
        "failed": {},
        "goodput_rps": REQUESTS / 30,
        "little": None if opened else 0.99,
        "service_time_ms": Times(samples=REQUESTS, mean=5.0, p50=4.0, p90=8.0, p99=12.0, max=20.0),
        "response_time_ms": Times(samples=REQUESTS, mean=6.0, p50=5.0, p90=9.0, p99=13.0, max=25.0)
        if opened
        else None,
        "lateness_ms": Times(samples=REQUESTS, mean=0.4, p50=0.4, p90=0.8, p99=1.2, max=9.0)
        if opened
        else None,
        "scheduled": REQUESTS if opened else None,
        "unsent": 0 if opened else None,
        "app_cpu_us_per_request": 900.0,
        "app_memory_peak_bytes": 50 << 20,
        "app_memory_counts": "all",
        "roles": quiet_roles(),
        "statements": counted(answered),
        "proxy": Proxy(
            responses_2xx=answered,
            responses_other=0,
            connection_errors=0,
            response_errors=0,
            queue_max=0,
            in_flight_mean=2.9 if opened else 49.0,
            queue_mean=0.0,
            connections_opened=50,
            in_flight_error=0.0,
        ),
        "pooler": Pooler(
            queries=answered * len(STATEMENTS),
            wait_us_per_query=10.0,
            clients_waiting_max=0,
            servers_active_max=20,
            servers_active_mean=9.0,
        ),
        "host": HostActivity(
            steal_share=0.001,
            foreign_cpu_share=0.01,
            softirq_share=0.03,
            harness_cpu_cores=0.02,
            hiccup=Hiccup(realtime=True, cpu_cores=0.01, samples=10_000, p999_ms=0.4, max_ms=2.0),
            clock_drift_ms=0.01,
            clock_changed=False,
            swapped_pages=0,
            listen_overflows=0,
        ),
        "probes": PROBES,
        "probe_failures": [],
        "connections_opened": 50,
        "in_flight_mean": 2.0 if opened else 49.5,
        "rows_2xx": REQUESTS,
        "reported_2xx": REQUESTS,
        "utilisation_bound_rps": REQUESTS / 30 / 0.5,
        "utilisation_bound_by": "app",
        "db_connections_max": 20,
        "app_descriptors": 90,
        "answer_ms_min": 2.0,
        "answer_ms_max": 30.0,
        "wal_syncs": 40,
        "implied_rows": {"steps": ImpliedRows(rows=6.0 * answered, error=10.0, most=7)},
        "choice_p": 0.4,
        "bottleneck": "unknown",
        "evidence": [],
        "findings": [],
        "verdict": Verdict.OK,
    }
    return Window.model_validate({**fields, **changes})


def codes(window: Window, expected: Expectation = EXPECTED) -> list[tuple[str, str]]:
    """Code and severity of each finding of the gates."""
    return [(one.code, one.severity) for one in gates(window, expected)]

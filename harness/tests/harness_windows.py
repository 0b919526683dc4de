"""What a window leaves behind, made from counters that grow at known rates."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from harness_samples import make_rows

from tandem.hosts.host import HostCpu, Usage
from tandem.judge.measure import ClassConditions, Measured, Seen, WindowConditions
from tandem.load.generator import Report
from tandem.load.rows import Rows
from tandem.probes.haproxy import ProxyCounters
from tandem.probes.pools import PoolerCounters
from tandem.probes.postgres import StatementCounts
from tandem.probes.sampler import Counted, Probed, Sample, Series
from tandem.record.window import DatabaseWork, Statement

BEGAN_S = 1_000_000.0
DURATION_S, RATE = 10.0, 100
CORES = {"app": 0.8, "proxy": 0.1, "pgbouncer": 0.05, "db": 0.4, "loadgen": 0.3, "harness": 0.02}
CPUSETS = {"app": "2-3", "proxy": "0", "pgbouncer": "0", "db": "1", "loadgen": ""}
CPUS = 4
FOREIGN_CORES, STEAL_CORES, SOFTIRQ_CORES = 0.2, 0.04, 0.12


def sample(after_s: float, **changes: Any) -> Sample:
    """The counters so long after the load began, each grown at a constant rate."""
    made = Sample(
        at_s=BEGAN_S + after_s,
        usage={role: Usage(50 + cores * after_s, 0.5, 1000) for role, cores in CORES.items()},
        host=HostCpu(
            busy_s=900 + (sum(CORES.values()) + FOREIGN_CORES) * after_s,
            softirq_s=9 + SOFTIRQ_CORES * after_s,
            steal_s=7 + STEAL_CORES * after_s,
            total_s=5000 + CPUS * after_s,
        ),
        proxy=ProxyCounters(
            responses_2xx=70 + round(RATE * (after_s + 1)),
            responses_other=3,
            connection_errors=1,
            response_errors=2,
            queue_now=5,
            in_flight_now=8,
            connections_opened=30 + round(20 * (after_s + 1)),
        ),
        pooler=PoolerCounters(
            queries=40 + round(800 * (after_s + 1)),
            wait_us=10_000 + round(1600 * (after_s + 1)),
            clients_waiting=4,
            servers_active=6,
        ),
    )
    return replace(made, **changes)


def series(**last: Any) -> Series:
    """A sample every half second from one second before the load until one second after it."""
    moments = np.arange(-1, DURATION_S + 1, 0.5)
    return Series([*(sample(float(moment)) for moment in moments), sample(DURATION_S + 1, **last)])


def rows(rate: float = RATE) -> Rows:
    start = np.arange(0, DURATION_S, 1 / rate)
    return make_rows(start, start + 0.005, paced_s=start)


COUNTED = Counted(series(), busiest_thread_s=6.0)
STATEMENTS = StatementCounts(DatabaseWork(statements={"session": Statement(calls=1020, rows=1020)}))
PROBED = Probed(20, [], [])


def measured(*seen: Seen, **changes: Any) -> Measured:
    """seen: what probes saw; what they usually see where there is nothing of that kind."""
    usual = [one for one in (COUNTED, STATEMENTS, PROBED) if type(one) not in map(type, seen)]
    report = Report(statusCodeDistribution={"200": 1000})
    return replace(Measured(rows(), report, BEGAN_S, [*seen, *usual]), **changes)


def conditions(load: Literal["closed", "open"] = "closed", **changes: Any) -> WindowConditions:
    fields: dict[str, Any] = {
        "load": load,
        "duration_s": DURATION_S,
        "connections": 1,
        "rate_rps": RATE if load == "open" else None,
        "trim_start_s": 2.0,
        "trim_end_s": 1.0,
        "classes": [ClassConditions("", 1, 200, {1000})],
        "cpusets": CPUSETS,
        "host_cpus": CPUS,
    }
    return WindowConditions(**{**fields, **changes})

"""A queue of known load, end to end: against the recursion over the server's own log, and against the theory of queues."""

import math

import numpy as np

from tandem.record.outcome import Outcome
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.models import evenly_spaced_mean, lindley, mean_error
from tandem.selftest.stage import Running, SeenFromBothEnds, Stage
from tandem.selftest.timing import LEAST_MS, LEAST_SHARE, late, path, require_same, way

LOADS = (0.5, 0.7)
SERVICE_S = 0.005
"""Time of a service: long by the twentieth of a millisecond that a server takes to wake up, which is not in the recursion."""
WINDOWS = 10
"""Windows of each queue. A window that the host disturbs is made again by itself, and each is long enough for a beginning without a
queue not to matter."""


def as_asked(busy: float, load: float, requests: int) -> bool:
    """Whether a load of so many exponential services is the one that was asked for. Their mean scatters by 1 / sqrt(requests);
    besides, a server may take a tenth of a millisecond, 2 % of SERVICE_S, more than it is told."""
    return close(busy / load, 1, 0.02 + 3 / math.sqrt(requests))


def queue(running: Running, load: float, idle: SeenFromBothEnds, seconds: int) -> Outcome:
    """A single server with exponential service and evenly spaced arrivals, over all windows together. The generator is
    held against the recursion over the server's log, the recursion against the log itself and against the theory at
    the load that there was, which has to be the one that was asked for."""
    rate, way_s = round(load / SERVICE_S), float(np.median(way(idle)))
    seen = [
        running.steady_window("open", seconds, behaviour(load, number), rate_rps=rate, connections=50)
        for number in range(WINDOWS)
    ]
    for one in seen:
        require_same(one)
    late_s = np.concatenate([late(one) for one in seen])
    took_s = np.concatenate([one.served.service_s for one in seen])
    own_s = np.concatenate([one.served.response_s for one in seen])
    recursion_s = np.concatenate([lindley(one.served.arrival_s, one.served.service_s) for one in seen])
    wanted_ms = float((recursion_s + late_s).mean() + way_s) * 1e3
    found_ms = float(np.concatenate([one.response_s() for one in seen]).mean()) * 1e3
    replayed, busy = recursion_s.mean() / own_s.mean(), rate * float(took_s.mean())
    theory, spread = evenly_spaced_mean(busy), 3 * mean_error(load, len(took_s))
    unqueued_ms = float((took_s + late_s).mean() + way_s) * 1e3
    in_services = float(recursion_s.mean() / took_s.mean())
    consistent = (
        close(replayed, 1, 0.01) and as_asked(busy, load, len(took_s)) and abs(in_services - theory) <= spread
    )
    return KnownAnswer[float](
        name=f"queue at {load:.0%} load",
        group="queueing",
        expected=f"{wanted_ms:.2f} ms by the recursion, which theory puts at {theory:.3f} service times at {busy:.1%} load;"
        f" it gives {in_services:.3f} service times and {replayed:.4f} of the server's own log",
        tolerance=f"0.3 ms or 1 %; {spread:.2f} (three standard errors of {len(took_s):,} requests)",
        right=lambda ms: close(ms, wanted_ms, LEAST_SHARE, LEAST_MS) and consistent,
        shown=lambda ms: f"{ms:.2f} ms",
        broken="without the queue",
        caught=lambda ms: not close(ms, wanted_ms, LEAST_SHARE, LEAST_MS),
    ).judged(found_ms, unqueued_ms)


def behaviour(load: float, number: int) -> str:
    """The server's behaviour in the window of that number: each draws other service times."""
    return f"kind=queue&us={SERVICE_S * 1e6:.0f}&seed={round(load * 100) + 1000 * number}"


def run(stage: Stage, requests: int) -> list[Outcome]:
    """Queues at 50 and 70 % load, with so many requests that the theory binds to 2 and 4 %."""
    with stage.running() as running:
        idle = path(running, round(0.5 / SERVICE_S))
        seconds = {load: round(requests * SERVICE_S / load / WINDOWS) for load in LOADS}
        return [queue(running, load, idle, seconds[load]) for load in LOADS]

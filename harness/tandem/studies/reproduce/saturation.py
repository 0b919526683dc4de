"""Names what limited a load of many connections: generator, application, or something between. Pure."""

from tandem.judge.bottleneck import SET_BUSY, THREAD_BUSY, Concurrency, bottleneck, tags
from tandem.record.window import Role, Window

GENERATOR, GENERATOR_THREAD, APP_CPU = "generator", "generator-thread", "app-cpu"
LATENCY = "latency-bound"
BUSY_LEAST = 0.5
"""Of a closed loop's connections, by Little's law: below, the generator itself keeps requests back."""


def _share(role: Role) -> float:
    return role.cpu_cores / role.cores_available


def limit(
    window: Window, generator_thread_cores: float | None, in_flight_share: float | None = None
) -> tuple[str, list[str]]:
    """What limited a window, and the shares that decided it.

    in_flight_share: of the connections, how many had a request in flight in the mean, by the tool's own figures.

    As tandem.judge.bottleneck, with three exceptions. An application whose CPUs are exhausted, and more so than the
    generator's, is the limit even where the generator is busy too: in a closed loop of thousands of connections
    both always are. And a generator that has more cores than busy threads is the limit where one thread of it uses
    a core: wrk has as many threads as it is told, drill has one. And where nothing was exhausted and the connections
    mostly had nothing to wait for, the generator was the limit without being busy: a timer of its own, for example.
    """
    tag, evidence = bottleneck(window, Concurrency())
    named = tags(tag)
    loadgen, app = window.roles["loadgen"], window.roles["app"]
    thread = generator_thread_cores
    if thread is not None:
        evidence = [*evidence, f"the generator's busiest thread used {thread:.2f} of a core"]
    if GENERATOR in named and _share(app) >= SET_BUSY and _share(app) > _share(loadgen):
        return APP_CPU, [*evidence, "the application's CPUs were closer to exhaustion than the generator's"]
    if not {GENERATOR, APP_CPU} & {*named} and thread is not None and thread >= THREAD_BUSY:
        return GENERATOR_THREAD, evidence
    if tag == LATENCY and in_flight_share is not None and in_flight_share < BUSY_LEAST:
        told = f"only {in_flight_share:.0%} of its connections had a request in flight: the generator held requests back"
        return GENERATOR, [*evidence, told]
    return tag, evidence

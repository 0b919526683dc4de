"""Names what limited a load of many connections: generator, application, or something between. Pure."""

from tandem.bottleneck import SET_BUSY, THREAD_BUSY, bottleneck
from tandem.record import Role, Window

GENERATOR, GENERATOR_THREAD, APP_CPU = "generator", "generator-thread", "app-cpu"


def _share(role: Role) -> float:
    return role.cpu_cores / role.cores_available


def limit(window: Window, generator_thread_cores: float | None) -> tuple[str, list[str]]:
    """What limited a window, and the shares that decided it.

    As tandem.bottleneck, with two exceptions. An application whose CPUs are exhausted, and more so than the
    generator's, is the limit even where the generator is busy too: in a closed loop of thousands of connections
    both always are. And a generator that has more cores than busy threads is the limit where one thread of it uses
    a core: wrk has as many threads as it is told, drill has one.
    """
    tag, evidence = bottleneck(window, None)
    loadgen, app = window.roles["loadgen"], window.roles["app"]
    thread = generator_thread_cores
    if thread is not None:
        evidence = [*evidence, f"the generator's busiest thread used {thread:.2f} of a core"]
    if tag == GENERATOR and _share(app) >= SET_BUSY and _share(app) > _share(loadgen):
        return APP_CPU, [*evidence, "the application's CPUs were nearer to their end than the generator's"]
    if tag not in (GENERATOR, APP_CPU) and thread is not None and thread >= THREAD_BUSY:
        return GENERATOR_THREAD, evidence
    return tag, evidence

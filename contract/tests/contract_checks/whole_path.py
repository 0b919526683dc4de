"""Through HAProxy, as in production: limits on heads, slow clients and what is no HTTP are the proxy's to deal with."""

from collections.abc import Iterator
from contextlib import contextmanager

from contract_checks.backend import Backend
from contract_checks.connections import WORK, check_conflicting_lengths, check_malformed
from contract_checks.crowds import SLOW, assert_prompt, check_slow_clients
from contract_checks.docker import address
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.limits import REFUSED_HEAD, assert_heads_refused, check_head
from contract_checks.needs import for_scenario
from contract_checks.wire import wires


@contextmanager
def behind_proxy(backend: Backend) -> Iterator[Backend]:
    """The same application, asked through HAProxy."""
    host = address(backend.stack.container("proxy"))
    proxy = Backend(backend.stack, backend.implementation, backend.container, host)
    try:
        proxy.wait_alive()
        yield proxy
    finally:
        proxy.close()


def check_proxied(backend: Backend) -> None:
    """HAProxy finds the application and passes its answers on unchanged."""
    with behind_proxy(backend) as proxy:
        assert_error(proxy.get("/nothing"), 404, what="an unknown path, through HAProxy")
        if backend.implementation.serves("recipe"):
            assert_golden(proxy.get(f"{RECIPES}/1", session(1)), 1)
            assert_error(proxy.get(f"{RECIPES}/1"), 401, what="without a session, through HAProxy")


def check_proxied_heads(backend: Backend) -> None:
    """A head of 8 KiB is served; one of 72 KiB is refused, with whichever status HAProxy has for it."""
    with behind_proxy(backend) as proxy:
        check_head(proxy)
        assert_heads_refused(proxy, REFUSED_HEAD)


def check_proxied_slow_heads(backend: Backend) -> None:
    """300 clients that send their heads a byte a second keep nobody from being served."""
    with behind_proxy(backend) as proxy:
        check_slow_clients(proxy)


@for_scenario("work")
def check_proxied_slow_bodies(backend: Backend) -> None:
    """300 clients that stop in the middle of a small body keep nobody from being served, and are answered in the end."""
    with behind_proxy(backend) as proxy, wires(proxy, SLOW) as slow:
        for wire in slow:
            assert wire.send(WORK[:-1]), "a slow client was thrown out at once"
        for _ in range(3):
            assert_prompt(proxy)
        for wire in slow[:20]:
            answer = wire.ask(WORK[-1:])
            assert (answer.status, answer.body) == (200, b"Sum: 3"), f"a slow client's request: {answer}"


@for_scenario("work")
def check_proxied_malformed(backend: Backend) -> None:
    """What is not HTTP is refused or gets a closed connection."""
    with behind_proxy(backend) as proxy:
        check_malformed(proxy)


@for_scenario("work")
def check_proxied_lengths(backend: Backend) -> None:
    """Where two lengths contradict each other nothing behind the head is taken for a request."""
    with behind_proxy(backend) as proxy:
        check_conflicting_lengths(proxy)


CHECKS = (
    check_proxied,
    check_proxied_heads,
    check_proxied_slow_heads,
    check_proxied_slow_bodies,
    check_proxied_malformed,
    check_proxied_lengths,
)

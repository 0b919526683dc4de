"""Through HAProxy, as in production. What it refuses by itself is asked once, in test_broken.py."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from contract_checks.backend import Backend
from contract_checks.connections import WORK
from contract_checks.crowds import SLOW, assert_prompt
from contract_checks.docker import address
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.wire import wires


@contextmanager
def behind_proxy(backend: Backend) -> Iterator[Backend]:
    """The same application, asked through HAProxy."""
    host = address(backend.stack.container("proxy"))
    with closing(Backend(backend.stack, backend.implementation, backend.container, host)) as proxy:
        proxy.wait_alive()
        yield proxy


def check_proxied(backend: Backend) -> None:
    """HAProxy finds the application and passes its answers on unchanged."""
    with behind_proxy(backend) as proxy:
        assert_error(proxy.get("/nothing"), 404, what="an unknown path, through HAProxy")
        if backend.implementation.serves("recipe"):
            assert_golden(proxy.get(f"{RECIPES}/1", session(1)), 1)
            assert_error(proxy.get(f"{RECIPES}/1"), 401, what="without a session, through HAProxy")


def slow_bodies(proxy: Backend) -> None:
    """300 clients that stop in the middle of a small body keep nobody from being served, and are answered in the end."""
    with wires(proxy, SLOW) as slow:
        for wire in slow:
            assert wire.send(WORK[:-1]), "a slow client was thrown out at once"
        assert_prompt(proxy)
        for wire in slow[:20]:
            answer = wire.ask(WORK[-1:])
            assert (answer.status, answer.body) == (200, b"Sum: 3"), f"a slow client's request: {answer}"


CHECKS = (check_proxied,)

"""the settings of the process itself: port, log, values that make no sense, and the signal to stop."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from contract_checks.backend import DIRECT, Backend
from contract_checks.catalog import settings
from contract_checks.docker import docker, end_of_log, inspect, output, wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.needs import needs

KEY = session(1)
BAD = {
    "PORT": ("http", "0", "65536"),
    "DATABASE_URL": ("nonsense",),
    "DB_POOL_MAX": ("0", "many"),
    "WORKERS": ("many",),
    "THREADS": ("many",),
}
ANY_CHOICE = ("maybe",)  # for the settings with a list of values
GRACE_S = 12.0


@needs("PORT")
def check_port_and_stop(backend: Backend, grace_s: float = GRACE_S) -> None:
    """PORT is the one port; SIGTERM ends a container that has served with status 0, in good time."""
    with backend.variant(PORT="9191") as variant:
        _serve(variant)
        try:
            httpx.get(f"http://{variant.host}:8080/healthz", timeout=2, trust_env=False)
        except httpx.TransportError:
            pass
        else:
            raise AssertionError("PORT=9191, but port 8080 answers as well")
        began = time.monotonic()
        docker("stop", "--time", str(int(grace_s)), variant.container)
        took_s = time.monotonic() - began
        status = inspect(variant.container)["State"]["ExitCode"]
        log = end_of_log(variant.container)
    ended = f"SIGTERM: ended with status {status} after {took_s:.1f} s; the end of its log:\n{log}"
    assert status == 0, ended
    assert took_s < grace_s, ended


def _serve(backend: Backend) -> None:
    """Has used what the implementation has: threads, and connections to the database."""
    assert_error(backend.get("/nothing"), 404, what="/nothing")
    if backend.implementation.serves("recipe"):
        assert_golden(backend.get(f"{RECIPES}/1", KEY), 1)


@needs("ACCESS_LOG")
def check_access_log(backend: Backend) -> None:
    """ACCESS_LOG=1 writes one line per request to standard output, 0 none, also for requests at once."""
    with backend.variant(ACCESS_LOG="1") as variant:
        _assert_lines(variant, 8, "ACCESS_LOG=1")
    _assert_lines(backend, 0, "ACCESS_LOG=0")


def _assert_lines(backend: Backend, expected: int, what: str) -> None:
    def lines() -> int:
        return len(output(backend.container)[0].splitlines())

    time.sleep(0.3)  # the line of the last /healthz
    before = lines()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(backend.get, ("/healthz", "/nothing") * 4))
    wait_until(lambda: lines() - before > expected, 0.5)
    assert lines() - before == expected, f"{what}: {lines() - before} lines for 8 requests"


def check_bad_settings(backend: Backend, only: str | None = None) -> None:
    """A value that makes no sense ends the container at once with a line that names the variable.

    `only` keeps to one setting.
    """
    values = [
        (name, value)
        for name, choices in settings().items()
        if name not in backend.implementation.settings and only in (None, name)
        for value in (ANY_CHOICE if choices else BAD[name])
    ]
    with ThreadPoolExecutor(3) as pool:
        complaints = [text for text in pool.map(lambda pair: _complaint(backend, *pair), values) if text]
    assert not complaints, "\n".join(complaints)


def _complaint(backend: Backend, name: str, value: str) -> str | None:
    """Starts a container with the bad value; returns what is wrong with how it ends."""
    settings = {"DATABASE_URL": DIRECT, **backend.environment, name: value}
    with backend.stack.started(backend.implementation, settings) as container:
        ended = wait_until(
            lambda: inspect(container)["State"]["Status"] == "exited", backend.stack.patience_s, 0.2
        )
        if not ended:
            return f"{name}={value!r}: still running after {backend.stack.patience_s:.0f} s"
        if inspect(container)["State"]["ExitCode"] == 0:
            return f"{name}={value!r}: ended with status 0"
        if name not in end_of_log(container, 500):
            return f"{name}={value!r}: no line names the variable; the log ends:\n{end_of_log(container, 5)}"
    return None


CHECKS = (check_port_and_stop, check_access_log, check_bad_settings)

"""The settings of the process itself: port, log, and values that make no sense."""

import time
from concurrent.futures import ThreadPoolExecutor

from contract_checks.backend import DIRECT, Backend
from contract_checks.catalog import settings
from contract_checks.docker import end_of_log, inspect, output, wait_until
from contract_checks.errors import assert_error
from contract_checks.needs import needs

BAD = {
    "PORT": ("http", "0", "65536"),
    "DATABASE_URL": ("nonsense",),
    "DB_POOL_MAX": ("0", "many"),
    "WORKERS": ("many",),
    "THREADS": ("many",),
}
ANY_CHOICE = ("maybe",)  # for the settings with a list of values


@needs("PORT")
def check_port(backend: Backend) -> None:
    """PORT is the one port."""
    with backend.variant(PORT="9191") as variant:
        assert_error(variant.get("/nothing"), 404, what="/nothing")
        variant.port = 8080
        assert not variant.alive(), "PORT=9191, but port 8080 answers as well"


@needs("ACCESS_LOG")
def check_access_log(backend: Backend) -> None:
    """ACCESS_LOG=1 writes one line per request to standard output, 0 none, also for requests at once."""
    with backend.variant(ACCESS_LOG="1") as variant:
        told = {"1": _lines(variant), "0": _lines(backend)}
    assert told == {"1": 8, "0": 0}, f"lines for 8 requests, by ACCESS_LOG: {told}"


def _lines(backend: Backend) -> int:
    """How many lines 8 requests add."""
    time.sleep(0.3)  # the line of the last /healthz
    before = output(backend.container)[0]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(backend.get, ("/healthz", "/nothing") * 4))
    time.sleep(0.5)
    return len(output(backend.container)[0].removeprefix(before).splitlines())


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


def _complaint(backend: Backend, name: str, value: str) -> str:
    """Starts a container with the bad value; returns what is wrong with how it ends, if anything is."""
    settings = {"DATABASE_URL": DIRECT, **backend.environment, name: value}
    with backend.stack.started(backend.implementation, settings) as container:
        wait_until(lambda: inspect(container)["State"]["Status"] == "exited", backend.stack.patience_s, 0.2)
        state, log = inspect(container)["State"], end_of_log(container, 500)
    if state["Status"] == "exited" and state["ExitCode"] != 0 and name in log:
        return ""
    ended = f"{state['Status']}, status {state['ExitCode']}"
    return f"{name}={value!r}: {ended}; the log, which has to name it, ends:\n{log[-500:]}"


CHECKS = (check_port, check_access_log, check_bad_settings)

"""The servers in C++ under sanitizers, whole and with debug assertions: the contract's checks of faults, and no report."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract_checks import catalog, crowds, outage, pool, restarts, stopping
from contract_checks.backend import Backend, at_once
from contract_checks.docker import DockerFailed, docker, inspect, output
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, assert_golden_dashboard, session
from contract_checks.needs import for_scenario, name_of, needs, unsupported
from contract_checks.registry import Check
from contract_checks.stack import Stack
from contract_checks.wire import Wire, request

BUILDS = ("address", "thread")  # of common/cpp/compile
SERVERS = [replace(catalog.load(name), build=build) for name in ("cpp-async", "cpp-sync") for build in BUILDS]
REPORT = re.compile(r"(Address|Leak|Thread)Sanitizer|runtime error: |Assertion '")
SHOWN = 60  # lines of a report
GRACE_S = 20
SEEDED = "common/cpp/tests/seeded"
SHORT_OF = 28  # https://github.com/google/sanitizers/issues/1716
KEY = session(1)
RECIPE = request("GET", f"{RECIPES}/1", f"Cookie: sessionid={KEY}")

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        int(Path("/proc/sys/vm/mmap_rnd_bits").read_text()) > SHORT_OF,
        reason=f"GCC 14's sanitizers may not run here: they need vm.mmap_rnd_bits={SHORT_OF}",
    ),
]


def first_report(log: str) -> str:
    """The first report of a sanitizer; "" where there is none."""
    lines = log.splitlines()
    found = next((number for number, line in enumerate(lines) if REPORT.search(line)), len(lines))
    return "\n".join(lines[found : found + SHOWN])


def report(container: str, since_s: float = 0) -> str:
    """The first report in the container's log, or what is odd about its end; "" where there is none."""
    found = first_report("\n".join(output(container, since_s)))
    if found:
        return found
    status = inspect(container)["State"]["ExitCode"]
    return f"ended with status {status}" if status else ""


class Watched(Stack):
    """Ends each container of the application as an orderly stop does, and keeps what was reported in it."""

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.reports: list[str] = []

    def leave(self, container: str) -> None:
        docker("stop", "--time", str(GRACE_S), container)
        self.reports += filter(None, [report(container)])
        super().leave(container)


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with Watched("tandem-sanitizers") as stack:
        yield stack


@pytest.fixture(scope="module", params=SERVERS, ids=lambda server: f"{server.name}-{server.build}")
def server(watched: Watched, request: pytest.FixtureRequest) -> Iterator[Backend]:
    with watched.serving(request.param) as backend:
        yield backend


@needs("DB_POOL_MAX")
@for_scenario("recipe", "fan-out")
def check_one_connection(backend: Backend) -> None:
    """Two workers share one connection to the database; some who wait for it go away."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="2")) as variant:

        def ask(number: int) -> None:
            if number % 4 == 0:
                with Wire(variant) as wire:
                    wire.send(RECIPE)
                    wire.abort()
            elif number % 4 == 1:
                assert_golden_dashboard(variant.get("/api/v1/dashboard", KEY), 1)
            else:
                assert_golden(variant.get(f"{RECIPES}/1", KEY), 1)

        at_once(ask, range(400), clients=8)


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_nobody_there(backend: Backend) -> None:
    """Nothing listens where the database should be: what one worker hears is told to those who wait in the other."""
    nowhere = "postgresql://app:app@db:1/tandem?sslmode=disable"
    settings = {"DB_POOL_MAX": "1", "DATABASE_URL": nowhere, **backend.implementation.honours(WORKERS="2")}
    with backend.variant(**settings) as variant:
        for answer in at_once(lambda _: variant.get(f"{RECIPES}/1", KEY), range(400), clients=24):
            assert_error(answer, 503, what="without a database")


CHECKS: tuple[Check, ...] = (
    check_one_connection,
    check_nobody_there,
    pool.check_pool_told,
    crowds.check_broken_off,
    *stopping.CHECKS,
    *outage.CHECKS,
    *restarts.CHECKS,
)


@pytest.mark.weekly
@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_nothing_is_reported(watched: Watched, server: Backend, check: Check) -> None:
    reason = unsupported(check, server.implementation)
    if reason:
        pytest.skip(reason)
    began, watched.reports = time.time(), []
    try:
        check(server)
    finally:
        found = [*watched.reports, *filter(None, [report(server.container, began)])]
        assert not found, "\n\n".join(found)


@pytest.mark.weekly
def test_nothing_is_reported_at_the_end(watched: Watched, server: Backend) -> None:
    """Leaks are looked for when the process ends."""
    began = time.time()
    watched.stop("app")
    assert not report(server.container, began)


# ---- mistakes are reported ----


@pytest.fixture(scope="module", params=BUILDS)
def seeded(request: pytest.FixtureRequest) -> Iterator[str]:
    """The image of a program that makes the mistake that it is told to make."""
    image = f"tandem/seeded-{request.param}"
    built = ["--build-arg", f"PROFILE={request.param}", "--label", "dev.tandem.built=test", "--tag", image]
    docker(
        "buildx", "build", "--load", *built, "-f", f"{catalog.ROOT / SEEDED}/Dockerfile", str(catalog.ROOT)
    )
    yield image
    docker("image", "rm", "--force", image)


def reported(image: str, mistake: str) -> str:
    """The report of a container that makes the mistake; "" where it ends as it should."""
    try:
        docker("run", "--rm", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", image, mistake)
    except DockerFailed as failed:
        return first_report(str(failed)) or str(failed)
    return ""


MISTAKES = {
    "data-race": ("thread", "ThreadSanitizer: data race"),
    "use-after-free": ("address", "AddressSanitizer: heap-use-after-free"),
    "leak": ("address", "LeakSanitizer: detected memory leaks"),
    "overflow": ("address", "runtime error: signed integer overflow"),
    "beyond-the-end": ("thread", "Assertion '"),
}


@pytest.mark.weekly
def test_mistakes_are_reported(seeded: str) -> None:
    for mistake, (build, said) in MISTAKES.items():
        if seeded.endswith(build):
            assert said in reported(seeded, mistake), mistake
    assert not reported(seeded, "none")

"""One stack for the whole run; each implementation in turn is its application."""

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# The helpers are a package beside this file; this works under every import mode.
sys.path.insert(0, str(Path(__file__).parent))

from contract_checks import catalog
from contract_checks.backend import Backend
from contract_checks.docker import end_of_log
from contract_checks.stack import Stack


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("contract").addoption(
        "--implementation",
        action="append",
        metavar="NAME",
        help="an implementation to test, repeatable; without it every folder that has a bench.toml",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docker: needs the Docker engine and builds images")
    try:
        _chosen(config)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" not in metafunc.fixturenames:
        return
    # test_broken.py names its one subject itself.
    broken = getattr(metafunc.module, "BROKEN", None)
    subjects = [broken] if broken else _chosen(metafunc.config)
    # Session scope makes pytest run all tests of one implementation before the next starts; where several
    # processes share the work, harness/checks/groups.py keeps them together.
    values = [pytest.param(subject, id=subject.name) for subject in subjects]
    metafunc.parametrize("backend", values, indirect=True, scope="session")


def _chosen(config: pytest.Config) -> list[catalog.Implementation]:
    names: list[str] = config.getoption("implementation") or catalog.names()
    return [catalog.load(name) for name in names]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows what the application and PgBouncer said beside a failure: the answers alone do not tell why."""
    report = yield
    backend = getattr(item, "funcargs", {}).get("backend")
    if report.failed and isinstance(backend, Backend):
        for name in (backend.container, backend.stack.container("pgbouncer")):
            report.sections.append((f"end of the log of {name}", end_of_log(name, 60)))
    return report


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The database and PgBouncer, seeded and healthy. TANDEM_VERIFY_PROJECT lets several runs be side by side."""
    project = os.environ.get("TANDEM_VERIFY_PROJECT") or "tandem-verify"
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    with Stack(f"{project}-{worker}" if worker else project) as stack:
        yield stack


@pytest.fixture(scope="session")
def backend(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Backend]:
    """One implementation, built, started and healthy."""
    with stack.serving(request.param) as backend:
        yield backend

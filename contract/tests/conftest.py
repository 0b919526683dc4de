"""One stack for the whole run; each implementation in turn is its application."""

import os
import sys
from collections.abc import Generator, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pytest

# The helpers are a package beside this file; this works under every import mode.
sys.path.insert(0, str(Path(__file__).parent))

from contract_checks import catalog
from contract_checks.backend import Backend
from contract_checks.brief import brief
from contract_checks.crowds import idling
from contract_checks.docker import end_of_log
from contract_checks.needs import file_of, name_of
from contract_checks.registry import CHECKS, Check, promised
from contract_checks.stack import Stack

TOLD = set[str]()
START_SHOWN = 2500  # characters: the end of a build or of a log


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("contract").addoption
    several: dict[str, Any] = {"action": "append", "default": []}
    every = "an implementation to test, repeatable; without it every folder that has a bench.toml"
    add("--implementation", metavar="NAME", help=every, **several)
    add("--only", metavar="CHECK", help="a check, without `check_`; repeatable", **several)
    add("--scenario", metavar="S", help="checks about a scenario; repeatable", **several)
    add("--brief", action="store_true", help="a few lines for each check that fails")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docker: needs the Docker engine and builds images")
    try:
        _chosen(config)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    _known("check", config.getoption("only"), {*map(name_of, CHECKS)})
    _known("scenario", config.getoption("scenario"), _scenarios(*CHECKS))


def _known(kind: str, given: list[str], known: set[str]) -> None:
    """Refuses a name that does not exist; offers the nearest."""
    for name in {*given} - known:
        near = get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise pytest.UsageError(f"there is no {kind} '{name}'.{hint} There are: {', '.join(sorted(known))}.")


def _scenarios(*checks: Check) -> set[str]:
    return {scenario for check in checks for scenario in getattr(check, "scenarios", ())}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the checks that were not asked for, and those that a core implementation does not promise."""
    left = [
        item
        for item in items
        if getattr(item, "originalname", "") == "test_contract" and not _asked(config, item)
    ]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


def _asked(config: pytest.Config, item: pytest.Item) -> bool:
    parameters = getattr(item, "callspec").params  # noqa: B009 (of pytest.Function, which has no public type for it)
    check, implementation = parameters["check"], parameters["backend"]
    only, scenarios = config.getoption("only"), config.getoption("scenario")
    if only and name_of(check) not in only:
        return False
    if scenarios and not _scenarios(check) & {*scenarios}:
        return False
    # Where all are asked, a bridge is asked what it does in a way of its own; by its name, all.
    bridge = () if config.getoption("implementation") else implementation.bridge
    if bridge and file_of(check) not in bridge:
        return False
    # A check that is named is asked, whatever was promised.
    return promised(check, implementation) or bool(only)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        # test_broken.py names its one subject itself.
        broken = getattr(metafunc.module, "BROKEN", None)
        subjects = [broken] if broken else _chosen(metafunc.config)
        # Session scope makes pytest run all tests of one implementation before the next starts; where several
        # processes share the work, harness/checks/groups.py keeps them together.
        names = [subject.name for subject in subjects]
        metafunc.parametrize("backend", subjects, ids=names, indirect=True, scope="session")


def _chosen(config: pytest.Config) -> list[catalog.Implementation]:
    return [catalog.load(name) for name in config.getoption("implementation") or catalog.names()]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows what the application and PgBouncer said beside a failure: the answers alone do not tell why.

    With --brief the failure is told in a few lines instead.
    """
    report = yield
    backend = getattr(item, "funcargs", {}).get("backend")
    # Of the parameters, because a check whose application did not start has no arguments yet.
    check = getattr(getattr(item, "callspec", None), "params", {}).get("check")
    if not report.failed:
        return report
    if item.config.getoption("brief") and call.excinfo and check:
        report.sections = []
        error = call.excinfo.value
        if isinstance(backend, Backend):
            report.longrepr = brief(check, backend.implementation.name, error)
        else:  # it was not even started, which is the same for every check
            told = str(error)[-START_SHOWN:]
            report.longrepr = "as above" if told in TOLD else told
            TOLD.add(told)
    elif isinstance(backend, Backend):
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
        idling(backend)
        yield backend

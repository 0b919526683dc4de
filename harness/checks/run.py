"""Runs the project's own tests: sessions of pytest one after the other, and a last line `N passed, N failed`."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from checks.changed import proved, recent
from checks.groups import BESIDE, IMAGES, Groups
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.file_io import FileIoContainer
from tandem.lab.images import build_side_by_side
from tandem.lab.laboratory import SHARED
from tandem.lab.sites import FAULTS
from tandem.lab.stack import BENCH_PROJECT, Stack

SIDE_BY_SIDE = "4"
"""Number of implementations that are tested at the same time: they mostly wait, for outages, restarts and time limits. More would
disturb their clocks."""
UNIT_TESTS_AT_ONCE = "2"
CONTAINERS, SELFTEST = "harness/tests/containers", "harness/tests/selftest"
"""Folders of all tests that start containers; the first has the files that `BUILDS` and `BESIDE` name."""
BUILDS = ("test_page_in_chromium.py", *IMAGES, "test_implementations.py")
OWN_TESTS = f"{CONTAINERS}/test_implementations.py::test_the_implementations_own_tests_pass"
BUILDS_AT_ONCE = "3"
"""Number of builds at the same time: each has stretches on one core, such as linters, the linker or a browser."""
SLOWEST = "--durations=12"
IN_GROUPS = ("--dist", "loadscope", "--no-loadscope-reorder")
"""Arguments that keep groups together and in this order: the long ones first, so that none is left at the end."""
CONTRACT = ("test_contract.py", "test_contract_files.py")
SANITIZERS = "contract/tests/test_sanitizers.py"
"""Tests of instrumented programs, which are slow and beside others would miss the contract's time limits."""
PLUGINS = ("-p", "xdist", "-p", "timeout")
"""All that the tests need. pytest would import every plugin that is installed, in each process, and Schemathesis takes seconds."""
OTHERS = ("contract/broken", "harness/calibrated", "falcon-sync")  # besides one of each language
MOST_AGAIN = 10
"""Most failing tests that are run once more. Where more fail, it is not by chance."""


@dataclass(frozen=True)
class Session:
    """arguments: of pytest. again: whether tests that fail are run once more, alone. What has containers shares the host with
    others and measures times, so it may fail once by chance; a unit test may not."""

    arguments: list[str]
    again: bool = True


@dataclass(eq=False)
class Outcomes:
    """A plugin for pytest that collects the outcome of each test."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    """Node ids; of a test that could not be collected, its file."""
    skipped: set[str] = field(default_factory=set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped.add(report.nodeid)
        elif report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


@dataclass
class _Run:
    """A session that has run. cache: the folder in which pytest keeps what failed."""

    session: Session
    cache: Path
    outcomes: Outcomes = field(default_factory=Outcomes)
    status: int = 0

    def start(self, root: Path, outcomes: Outcomes, *more: str) -> int:
        """Runs pytest. more: arguments besides the session's."""
        config = [*PLUGINS, "-c", str(root / "harness/pyproject.toml"), "--rootdir", str(root)]
        config += ["-o", f"cache_dir={self.cache}"]
        return int(pytest.main([*config, *self.session.arguments, *more], plugins=[outcomes, Groups()]))

    def again(self, root: Path) -> list[str]:
        """Runs what failed once more, in one process. Returns a line for each, and corrects what came of it."""
        second, first = Outcomes(), self.outcomes
        self.status = self.start(root, second, "--last-failed", "--dist", "no", "-n", "0")
        mended = first.failed - second.failed
        alone, unjudged = mended & second.passed, mended & second.skipped
        told = [f"failed beside others, passed alone: {name}" for name in sorted(alone)]
        told += [f"failed, and then could not be judged on this host: {name}" for name in sorted(unjudged)]
        first.failed -= alone | unjudged
        first.passed, first.skipped = first.passed | alone, first.skipped | unjudged
        return told + [f"failed twice: {name}" for name in sorted(first.failed)]


def run_all(root: Path, *sessions: Session) -> int:
    """Runs sessions one after the other, then, with nothing beside them, the few tests that failed in those that may be
    repeated. Returns the worst exit status. The last line sums up; above it stands whatever failed once.

    Plugins such as pytest-rerunfailures repeat a test at once, beside the tests that disturbed it.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # an option would not reach the processes of xdist
    with TemporaryDirectory() as caches:
        runs = [_Run(session, Path(caches) / str(number)) for number, session in enumerate(sessions)]
        for one in runs:
            one.status = one.start(root, one.outcomes)
        # Any other status is an interrupt, or a file that could not even be read.
        disturbed = [one for one in runs if one.session.again and one.status == pytest.ExitCode.TESTS_FAILED]
        number = sum(len(one.outcomes.failed) for one in disturbed)
        told = [f"{number} tests failed, more than {MOST_AGAIN}: none was run again"]
        if number <= MOST_AGAIN:
            told = [line for one in disturbed for line in one.again(root)]
    print(*told, sep="\n", end="\n" if told else "")
    outcomes = [one.outcomes for one in runs]
    passed = sum(len(one.passed - one.failed) for one in outcomes)
    failed, skipped = sum(len(one.failed) for one in outcomes), sum(len(one.skipped) for one in outcomes)
    print(f"{passed} passed, {failed} failed{f', {skipped} skipped' if skipped else ''}", flush=True)
    return max(one.status for one in runs)


def build_images(root: Path, names: Sequence[str], weekly: bool = False) -> None:
    """Builds every image that the tests of these implementations use, so that no test's time limit has to allow for it.
    weekly: with the generators that only those tests run."""

    def stack(implementation: str, **variables: str) -> Stack:
        env_file = (
            root / "results" / f".test-{implementation.replace('/', '-')}{''.join(variables.values())}.env"
        )
        return Stack(root, BENCH_PROJECT, {"IMPL": implementation, **variables}, env_file)

    began = time.monotonic()
    jobs = {service: (stack(names[0]), service) for service in (*SHARED, FAULTS)}
    for image in ("vegeta", "all") if weekly else ("vegeta",):
        jobs[f"loadgen, {image}"] = stack(names[0], LOADGEN=image), "loadgen"
    jobs |= {name: (stack(name), "app") for name in names}
    build_side_by_side(jobs, lambda told: print(told, flush=True))
    print(f"images: ready in {time.monotonic() - began:.0f} s", flush=True)


def sessions(
    root: Path, weekly: bool, rest: bool = False, proved: Sequence[str] | None = None
) -> list[Session]:
    """The sessions of all tests: those that need no container; builds; measurements, alone; and, beside each other, those
    that only ask questions of containers. weekly: with those that take too long for every change: all commands have one engine, which `bench`,
    `compare`, `replay` and `reproduce` run to their ends each time, and the conclusions of the others are tested without containers.
    rest: without the contract's tests, which `verify` runs for an implementation. proved: the implementations whose own tests,
    and those of the contract, are run; None: all.
    Compilers are kept from the rest: a test that has to wait for its CPU misses its deadline."""
    builds = [str(root / CONTAINERS / name) for name in BUILDS]
    beside = [str(root / CONTAINERS / name) for name in BESIDE]
    alone = [str(root / place) for place in (CONTAINERS, SELFTEST, SANITIZERS)]
    ignored = [argument for file in (*builds, *beside) for argument in ("--ignore", file)]
    contract = [
        str(root / "contract/tests" / file) for file in ("test_broken.py", *(() if rest else CONTRACT))
    ]
    names = list(Catalog(root).implementations)
    left = [name for name in names if proved is not None and name not in proved]
    builds += [argument for name in left for argument in ("--deselect", f"{OWN_TESTS}[{name}]")]
    contract += [argument for name in proved or () for argument in ("--implementation", name)]
    due = [] if weekly else ["-m", "not weekly"]
    measuring = ["-m", "docker" if weekly else "docker and not weekly"]
    return [
        _units(root),
        Session(["-n", BUILDS_AT_ONCE, *due, *IN_GROUPS, SLOWEST, *builds]),
        Session([*measuring, SLOWEST, *alone, *ignored]),
        Session(["-n", SIDE_BY_SIDE, *due, *IN_GROUPS, SLOWEST, *beside, *contract]),
    ]


def _units(root: Path) -> Session:
    """The tests that need no container. Those of a file stay in one process: what they read they read once."""
    beside = ["-n", UNIT_TESTS_AT_ONCE, "--dist", "loadfile", "--no-loadscope-reorder"]
    return Session([*beside, "-m", "not docker", str(root / "harness/tests")], again=False)


def everything(root: Path, weekly: bool = False, rest: bool = False) -> int:
    """All tests. Returns the exit status."""
    chosen = None if weekly else proved(Catalog(root), recent(root))
    if chosen is not None:
        print(f"implementations: {', '.join(chosen)}; --weekly proves all", flush=True)
    build_images(root, [*OTHERS, *(chosen or Catalog(root).implementations)], weekly)
    print(f"  file-io: {FileIoContainer(root).build():.0f} s", flush=True)
    return run_all(root, *sessions(root, weekly, rest, chosen))


def quick(root: Path) -> int:
    """The tests that start no container. Returns the exit status."""
    return run_all(root, _units(root))


def undisturbing(measuring: Callable[[], list[str]], wait: bool, pause_s: float = 5.0) -> None:
    """Returns when nothing measures that containers beside it would disturb. measuring: names of what does.

    Raises TandemError while something does, unless it is to wait.
    """
    while others := measuring():
        if not wait:
            raise TandemError(
                f"another command is measuring (container {others[0]}), and these tests would disturb it."
                " Try again later, or start after it with --wait"
            )
        time.sleep(pause_s)


def contract(
    root: Path,
    implementations: list[str],
    only: list[str],
    scenarios: list[str],
    verbose: bool,
) -> int:
    """The contract's tests against some implementations; those of its files only where nothing is chosen.

    Returns the exit status, 2 for names that do not exist.
    """
    files = CONTRACT[:1] if only or scenarios else CONTRACT
    chosen = [argument for name in implementations for argument in ("--implementation", name)]
    chosen += [argument for name in only for argument in ("--only", name)]
    chosen += [argument for name in scenarios for argument in ("--scenario", name)]
    chosen += ["--verbose"] if verbose else ["--brief", "-q", "--no-header", "--disable-warnings", "-rsx"]
    arguments = [*(str(root / "contract/tests" / file) for file in files), *chosen]
    if len(implementations) > 1:
        build_images(root, implementations)
        arguments += ["-n", SIDE_BY_SIDE, *IN_GROUPS]
    # A chosen check fails at once, for who works on it; what CI asks of a whole implementation may be disturbed.
    status = run_all(root, Session(arguments, again=not (only or scenarios)))
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("no check matches both --only and --scenario", file=sys.stderr)
    return 2 if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED) else status


def format_sources(root: Path) -> None:
    """Formats Python, Rust and the justfile in place."""
    own = [one.parent for name in ("*", "common/*") for one in root.glob(f"{name}/pyproject.toml")]
    python = [str(path) for path in (root / "contract", *own)]
    ruff = Path(sys.executable).parent / "ruff"
    subprocess.run([ruff, "format", *python], check=True)
    subprocess.run([ruff, "check", "--fix", *python], check=False)
    subprocess.run(["just", "--fmt", "--unstable"], cwd=root, check=True)
    for manifest in root.glob("*/Cargo.toml"):
        folder = manifest.parent
        mounts = [f"-v{each}:{each}" for each in (folder, root / "common")]
        build = ["docker", "buildx", "build", "--quiet", "--target", "rust"]
        build += ["-f", str(folder / "Dockerfile"), str(root)]
        image = subprocess.run(build, check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(
            ["docker", "run", "--rm", *mounts, "-w", str(folder), image, "cargo", "fmt", "--all"], check=True
        )

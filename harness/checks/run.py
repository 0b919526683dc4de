"""Runs the project's own tests: one pytest session, whose last line is `N passed, N failed`."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.groups import BESIDE, Groups
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.laboratory import SHARED
from tandem.lab.prepare import FAULTS
from tandem.lab.stack import BENCH_PROJECT, Stack, build_side_by_side
from tandem.studies.files.container import FilesContainer

SIDE_BY_SIDE = "3"
"""Implementations that are tested at the same time: they mostly wait, and more would disturb their clocks."""
UNIT_TESTS_AT_ONCE = "2"
CONTAINERS = "harness/tests/containers"
"""Where the files of the next two names are, and all that start containers but for the self-test's."""
BUILDS = "test_implementations.py"
BUILDS_AT_ONCE = "3"
"""Each has stretches on one core: linters, the linker, packages on their way."""
SLOWEST = "--durations=12"
CONTRACT = ("test_contract.py", "test_contract_files.py")
SANITIZERS = "contract/tests/test_sanitizers.py"
"""What is instrumented is slow, and beside others it would miss the contract's time limits."""


class _LastLine:
    """Counts outcomes and prints them as the very last line."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed += 1


def _pytest(root: Path, *sessions: list[str]) -> int:
    """Runs sessions one after the other; returns the worst exit status. The last line sums them up."""
    counts, status = _LastLine(), 0
    config = str(root / "harness/pyproject.toml")
    common = ["-c", config, "--rootdir", str(root), "-p", "no:cacheprovider"]
    for arguments in sessions:
        status = max(status, int(pytest.main([*common, *arguments], plugins=[counts, Groups()])))
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    print(f"{counts.passed} passed, {counts.failed} failed{skipped}", flush=True)
    return status


def build_images(root: Path) -> None:
    """Builds every image that the tests use, so that no test's time limit has to allow for it."""

    def stack(implementation: str, **variables: str) -> Stack:
        env_file = (
            root / "results" / f".test-{implementation.replace('/', '-')}{''.join(variables.values())}.env"
        )
        return Stack(root, BENCH_PROJECT, {"IMPL": implementation, **variables}, env_file)

    began = time.monotonic()
    names = [*Catalog(root).implementations, "contract/broken", "harness/calibrated"]
    jobs = {service: (stack(names[0]), service) for service in (*SHARED, FAULTS)}
    jobs |= {"loadgen, all": (stack(names[0], LOADGEN="all"), "loadgen")}
    jobs |= {name: (stack(name), "app") for name in names}
    print(f"images: building what is new of {', '.join(jobs)}", flush=True)
    taken = build_side_by_side(jobs, lambda name, seconds: print(f"  {name}: {seconds:.0f} s", flush=True))
    for name, origin in sorted(taken.items()):
        print(f"  {name}: not built, taken from {origin}", flush=True)
    print(f"  file-io: {FilesContainer(root).build():.0f} s", flush=True)
    print(f"images: ready in {time.monotonic() - began:.0f} s", flush=True)


def sessions(root: Path, weekly: bool, rest: bool = False) -> list[list[str]]:
    """Arguments of pytest, a list for each session: what needs no container; what builds; what measures, alone; and
    beside each other what only asks questions of containers. weekly: with those that take too long for every change.
    rest: without the contract's tests, which `verify` runs for an implementation.
    Compilers are kept from the rest: a test that has to wait for its CPU misses its deadline."""
    tests = root / "harness/tests"
    builds = str(root / CONTAINERS / BUILDS)
    beside = [str(root / CONTAINERS / name) for name in BESIDE]
    ignored = [argument for file in (builds, *beside) for argument in ("--ignore", file)]
    chosen = "docker" if weekly else "docker and not weekly"
    return [
        ["-n", UNIT_TESTS_AT_ONCE, "-m", "not docker", str(tests)],
        ["-n", BUILDS_AT_ONCE, SLOWEST, builds],
        ["-m", chosen, SLOWEST, str(tests), str(root / SANITIZERS), *ignored],
        # In this order: the long groups first, so that none is left at the end.
        [
            *("-n", SIDE_BY_SIDE, "--dist", "loadscope", "--no-loadscope-reorder", SLOWEST, *beside),
            *(
                str(root / "contract/tests" / file)
                for file in ("test_broken.py", *(() if rest else CONTRACT))
            ),
        ],
    ]


def everything(root: Path, weekly: bool = False, rest: bool = False) -> int:
    """All tests. Returns the exit status."""
    build_images(root)
    return _pytest(root, *sessions(root, weekly, rest))


def quick(root: Path) -> int:
    """The tests that start no container. Returns the exit status."""
    return _pytest(root, ["-m", "not docker", str(root / "harness/tests")])


def undisturbing(measuring: Callable[[], list[str]], wait: bool, pause_s: float = 5.0) -> None:
    """Returns when nothing measures that containers beside it would disturb. measuring: names of what does.

    Raises TandemError while something does, unless it is to wait.
    """
    while others := measuring():
        if not wait:
            raise TandemError(
                f"another command is measuring (container {others[0]}), and these tests would disturb it."
                " Wait for it, or begin after it with --wait"
            )
        time.sleep(pause_s)


def contract(
    root: Path,
    implementations: list[str],
    only: list[str],
    scenarios: list[str],
    hardened: bool,
    verbose: bool,
) -> int:
    """The contract's tests against some implementations; those of its files only where nothing is chosen.

    Returns the exit status, 2 for names that do not exist.
    """
    files = CONTRACT[:1] if only or scenarios else CONTRACT
    chosen = [argument for name in implementations for argument in ("--implementation", name)]
    chosen += [argument for name in only for argument in ("--only", name)]
    chosen += [argument for name in scenarios for argument in ("--scenario", name)]
    chosen += ["--hardened"] if hardened else []
    chosen += ["--verbose"] if verbose else ["--brief", "-q", "--no-header", "--disable-warnings", "-rsx"]
    status = _pytest(root, [*(str(root / "contract/tests" / file) for file in files), *chosen])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("no check is both one of --only and about one of --scenario", file=sys.stderr)
    return 2 if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED) else status


def format_sources(root: Path) -> None:
    """Formats Python, Rust and the justfile in place."""
    own = [
        file.parent for glob in ("*/pyproject.toml", "common/*/pyproject.toml") for file in root.glob(glob)
    ]
    python = [str(path) for path in (root / "contract", *own)]
    ruff = Path(sys.executable).parent / "ruff"
    subprocess.run([ruff, "format", *python], check=True)
    subprocess.run([ruff, "check", "--fix", *python], check=False)
    subprocess.run(["just", "--fmt", "--unstable"], cwd=root, check=True)
    for manifest in root.glob("*/Cargo.toml"):
        folder = manifest.parent
        mounts = [f"-v{each}:{each}" for each in (folder, root / "common")]
        build = [
            "docker",
            "buildx",
            "build",
            "--quiet",
            "--target",
            "rust",
            "-f",
            str(folder / "Dockerfile"),
            str(root),
        ]
        image = subprocess.run(build, check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(
            ["docker", "run", "--rm", *mounts, "-w", str(folder), image, "cargo", "fmt", "--all"],
            check=True,
        )

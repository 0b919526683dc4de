"""checks: every test is in one session, what measures is alone, groups stay together."""

import subprocess
import sys
from pathlib import Path

import pytest

from checks import run
from checks.groups import BESIDE, FAULT_PARTS, group
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError

GROUPED = """
import os, pathlib, pytest
@pytest.mark.parametrize("check", ["golden_bodies", "index", "stop", "users"])
@pytest.mark.parametrize("backend", ["python-sync", "node", "rust-async"])
def test_contract(backend, check):
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{backend} {os.environ['PYTEST_XDIST_WORKER']}\\n")
"""
PYTEST = "import pytest, sys; from checks.groups import Groups; sys.exit(pytest.main(sys.argv[1:], plugins=[Groups()]))"


def test_what_runs_beside_others_does_not_run_alone_as_well(root: Path) -> None:
    unit, builds, alone, together = run.sessions(root, weekly=False)
    tests = str(root / "harness/tests")
    assert tests in unit
    assert tests in alone
    assert builds[-1] == alone[alone.index(builds[-1])] == str(root / run.CONTAINERS / run.BUILDS)
    assert alone[alone.index(builds[-1]) - 1] == "--ignore"
    for name in (*BESIDE, run.BUILDS):
        assert "pytest.mark.docker" in (root / run.CONTAINERS / name).read_text(), (
            "it would run without an engine"
        )
    for name in BESIDE:
        file = root / run.CONTAINERS / name
        assert alone[alone.index(str(file)) - 1] == "--ignore"
        assert together[together.index(str(file)) - 1] != "--ignore"
    for file in (root / "contract/tests").glob("test_*.py"):
        assert (str(file) in together) != (str(file) in alone)
    assert str(root / run.SANITIZERS) in alone


@pytest.mark.parametrize(("weekly", "chosen"), [(False, "docker and not weekly"), (True, "docker")])
def test_weekly_tests_are_asked_for(root: Path, weekly: bool, chosen: str) -> None:
    _, _, alone, _ = run.sessions(root, weekly)
    assert alone[alone.index("-m") + 1] == chosen


def test_what_measures_is_not_disturbed() -> None:
    """Refused beside a study; with --wait it begins after it; alone at once."""
    with pytest.raises(TandemError, match=r"container study.*--wait"):
        run.undisturbing(lambda: ["study"], wait=False)
    running = [["study"], ["study"], list[str]()]
    run.undisturbing(lambda: running.pop(0), wait=True, pause_s=0.0)
    assert running == []
    run.undisturbing(list, wait=False)


def test_groups(real: Catalog) -> None:
    for name in real.implementations:
        for check in ("index", "note_stored"):
            assert group(f"contract/tests/test_contract.py::test_contract[{name}-{check}]") == name
    broken = "contract/tests/test_broken.py::"
    assert group(f"{broken}test_without_a_fault_it_passes[contract/broken-index]") == "broken"
    assert group(f"{broken}test_unclean_image_is_found[contract/broken]") == "broken"
    faults = {group(f"{broken}test_fault_is_found[contract/broken-{n}-index]") for n in range(30)}
    assert faults == {f"faults {part}" for part in range(FAULT_PARTS)}
    assert group("harness/tests/containers/test_interruptions.py::test_a") == "commands"
    assert group("harness/tests/containers/test_matrix_end_to_end.py::test_a") == "commands"
    alone = "contract/tests/test_contract_files.py::test_what_is_declared_exists[node]"
    assert group(alone) == alone


@pytest.mark.parametrize(("dist", "together"), [("loadscope", True), ("load", False)])
def test_a_group_stays_in_one_process(dist: str, together: bool, tmp_path: Path) -> None:
    """Without the plugin it does not: xdist's own marks had silently lost their effect."""
    (tmp_path / "test_contract.py").write_text(GROUPED)
    seen = tmp_path / "seen"
    flags = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "-n",
        "2",
        "--dist",
        dist,
        "--no-loadscope-reorder",
    ]
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, *flags, str(tmp_path)], env={"SEEN": str(seen), **_path()}, check=False
    )
    assert done.returncode == 0
    lines = seen.read_text().split("\n")[:-1]
    assert len(lines) == 12
    assert (len(set(lines)) == 3) == together


def _path() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(run.__file__).parents[1])}


CORE = "harness/tests/unbuildable"
"""An implementation of the tier core, whose image is not built here."""


def chosen(root: Path, *arguments: str, of: str = "") -> tuple[int, set[str], str]:
    """Exit status of a collection of the contract's tests, the checks that would be asked (of this implementation alone,
    if it is given), and what was said."""
    file = str(root / "contract/tests/test_contract.py")
    flags = ["-q", "--collect-only", "-c", str(root / "harness/pyproject.toml"), "--rootdir", str(root)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *flags, file, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    asked = [line for line in done.stdout.splitlines() if f"::test_contract[{of}" in line]
    names = {line.rsplit("-", 1)[-1].rstrip("]") for line in asked}
    return done.returncode, names, done.stdout + done.stderr


def test_a_core_implementation_is_asked_the_core_checks(root: Path) -> None:
    _, core, said = chosen(root, "--implementation", CORE)
    _, with_hardened, _ = chosen(root, "--implementation", CORE, "--hardened")
    _, every, _ = chosen(root, "--implementation", "rust-async")
    assert {"golden_bodies", "statements_by_id", "stop_finishes", "proxied_heads"} <= core
    assert with_hardened == every > core
    assert {"slow_clients", "head_too_large", "database_away"} <= every - core
    assert f"{CORE} is of the tier core: {len(every - core)} checks" in said


def test_a_bridge_is_asked_what_it_does_in_a_way_of_its_own(root: Path, real: Catalog) -> None:
    """Where all are asked, and all of it where it is named."""
    bridges = {name: own.bridge for name, own in real.implementations.items() if own.bridge}
    assert bridges
    for name, bridge in bridges.items():
        _, whole, _ = chosen(root, "--implementation", name)
        part = chosen(root, of=name)[1]
        assert bridge is not None
        assert real.implementations[bridge.of].bridge is None, "what it does not do itself is asked there"
        assert {"golden_bodies", "note_stored", "database_killed"} <= part < whole
        assert {"pipelined", "head_too_large"} <= whole - part
    assert chosen(root, of="python-async")[1] == chosen(root, "--implementation", "python-async")[1]


def test_checks_are_chosen_by_name_and_by_scenario(root: Path) -> None:
    only = ["--implementation", "node", "--only", "bad_ids", "--only", "index"]
    assert chosen(root, *only)[1] == {"bad_ids", "index"}
    assert chosen(root, *only, "--scenario", "index")[1] == {"index"}
    assert chosen(root, "--implementation", "node", "--scenario", "users")[1] == {
        *("users", "user_paths", "users_at_once")
    }
    # What is asked for by its name is asked, whatever was promised.
    assert chosen(root, "--implementation", CORE, "--only", "bad_ids")[1] == {"bad_ids"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "bad_id"], "there is no check 'bad_id'. Did you mean 'bad_ids'?"),
        (["--scenario", "user"], "there is no scenario 'user'. Did you mean 'users'?"),
    ],
)
def test_an_unknown_name_gets_the_nearest(root: Path, arguments: list[str], told: str) -> None:
    status, names, said = chosen(root, *arguments)
    assert (status, names) == (pytest.ExitCode.USAGE_ERROR, set())
    assert told in said

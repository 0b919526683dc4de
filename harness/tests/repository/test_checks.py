"""checks: every test is in one session, what measures is alone, groups stay together."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from harness_places import ROOT

from checks import run
from checks.groups import BESIDE, FAULT_PARTS, IMAGES, group
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
    unit, builds, alone, together = (session.arguments for session in run.sessions(root, weekly=False))
    tests = root / "harness/tests"
    assert str(tests) in unit
    measuring = [str(root / run.CONTAINERS), str(root / run.SELFTEST)]
    assert {*measuring} <= {*alone}
    marked = [file for file in tests.rglob("test_*.py") if "pytest.mark.docker" in file.read_text()]
    assert [file for file in marked if not str(file).startswith(tuple(measuring))] == [Path(__file__)]
    for name in (*BESIDE, *run.BUILDS):
        file = root / run.CONTAINERS / name
        assert "pytest.mark.docker" in file.read_text(), "it would run without an engine"
        assert alone[alone.index(str(file)) - 1] == "--ignore"
        elsewhere = together if name in BESIDE else builds
        assert elsewhere[elsewhere.index(str(file)) - 1] != "--ignore"
    for file in (root / "contract/tests").glob("test_*.py"):
        assert (str(file) in together) != (str(file) in alone)
    assert str(root / run.SANITIZERS) in alone


def test_who_is_not_proved_is_left_out_by_name(root: Path) -> None:
    _, builds, _, together = (session.arguments for session in run.sessions(root, False, proved=["node"]))
    assert f"{run.OWN_TESTS}[cpp-sync]" in builds
    assert f"{run.OWN_TESTS}[node]" not in builds
    assert together[-2:] == ["--implementation", "node"]
    file = root / run.OWN_TESTS.partition("::")[0]
    assert f"def {run.OWN_TESTS.partition('::')[2]}(name" in file.read_text(), (
        "the name that is left out is the test's"
    )


# ---- what fails beside others is run once more, alone ----

DISTURBED = """
import os, pathlib, pytest
seen = pathlib.Path(__file__).with_name("seen")
def tries(name):
    with seen.open("a") as file:
        file.write(f"{name} {os.environ.get('PYTEST_XDIST_WORKER', 'alone')}\\n")
    return sum(line.startswith(f"{name} ") for line in seen.read_text().splitlines())
def test_good():
    assert tries("good") == 1, "what passed is not run again"
def test_once():
    assert tries("once") > 1
@pytest.mark.parametrize("number", range(NUMBER))
def test_always(number):  # with none of them it is skipped
    assert tries(f"always{number}") < 0
@pytest.fixture
def unclean():
    yield
    assert tries("unclean") > 1
def test_unclean(unclean):
    pass
"""
RUN = "import sys; from pathlib import Path; from checks.run import Session, run_all; sys.exit(run_all(Path(sys.argv[1]), *SESSIONS))"


def disturbed(folder: Path, sessions: str, always: int) -> tuple[int, list[str], list[str]]:
    """Exit status, the last lines said, and who was tried, by whom. always: so many tests fail each time."""
    (folder / "harness").mkdir()
    (folder / "harness/pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (folder / "test_all.py").write_text(DISTURBED.replace("NUMBER", str(always)))
    code = RUN.replace("SESSIONS", sessions.replace("FILE", repr(str(folder / "test_all.py"))))
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], env=_bare(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    seen = (folder / "seen").read_text().splitlines()
    return done.returncode, done.stdout.splitlines()[-4:], [line for line in seen if line.endswith("alone")]


BESIDE_OTHERS = '[Session(["-p", "xdist", "-n", "1", "--dist", "loadscope", FILE])]'


def test_what_fails_twice_has_failed(tmp_path: Path) -> None:
    status, said, alone = disturbed(tmp_path, BESIDE_OTHERS, always=1)
    assert said == [
        "failed beside others, passed alone: test_all.py::test_once",
        "failed beside others, passed alone: test_all.py::test_unclean",
        "failed twice: test_all.py::test_always[0]",
        "3 passed, 1 failed",
    ]
    assert (status, alone) == (1, ["once alone", "always0 alone", "unclean alone"])


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
    assert {group(f"harness/tests/containers/{name}::test_a") for name in IMAGES} == {"images"}
    implementation = "harness/tests/containers/test_implementations.py::test_a[node]"
    assert group(implementation) == implementation, "each is built by whoever is free"
    alone = "contract/tests/test_contract_files.py::test_what_is_declared_exists[node]"
    assert group(alone) == alone


@pytest.mark.parametrize(("dist", "together"), [("loadscope", True), ("load", False)])
def test_a_group_stays_in_one_process(dist: str, together: bool, tmp_path: Path) -> None:
    """Without the plugin it does not: xdist's own marks had silently lost their effect."""
    (tmp_path / "test_contract.py").write_text(GROUPED)
    seen = tmp_path / "seen"
    flags = ["-q", "-p", "no:cacheprovider", "-p", "xdist", "--rootdir", str(tmp_path)]
    flags += ["-n", "2", "--dist", dist, "--no-loadscope-reorder"]
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, *flags, str(tmp_path)], env={"SEEN": str(seen), **_bare()}, check=False
    )
    assert done.returncode == 0
    lines = seen.read_text().split("\n")[:-1]
    assert len(lines) == 12
    assert (len(set(lines)) == 3) == together


def _bare() -> dict[str, str]:
    """Without the plugins that take seconds to import."""
    return {"PYTHONPATH": str(Path(run.__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


CONTRACT = str(ROOT / "contract/tests/test_contract.py")
CORE = "harness/tests/unbuildable"
"""An implementation of the tier core, whose image is not built here."""


@cache
def collected(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A collection of the contract's tests. It takes seconds, so the same one is made once."""
    flags = ["-q", "--collect-only", "-c", str(ROOT / "harness/pyproject.toml"), "--rootdir", str(ROOT)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *flags, CONTRACT, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def chosen(*arguments: str, of: str = "") -> set[str]:
    """The checks that would be asked; of this implementation alone, if it is given."""
    lines = collected(*arguments).stdout.splitlines()
    asked = [line for line in lines if f"::test_contract[{of}" in line]
    return {line.rsplit("-", 1)[-1].rstrip("]") for line in asked}


def named(*names: str) -> list[str]:
    return [argument for name in names for argument in ("--implementation", name)]


def test_a_core_implementation_is_asked_the_core_checks() -> None:
    core = chosen(*named(CORE, "rust-async"), of=CORE)
    every = chosen(*named(CORE, "rust-async"), of="rust-async")
    with_hardened = chosen(*named(CORE), "--hardened")
    assert {"golden_bodies", "statements_by_id", "stop_finishes", "proxied_heads"} <= core
    assert with_hardened == every > core
    assert {"slow_clients", "head_too_large", "database_away"} <= every - core
    said = collected(*named(CORE, "rust-async")).stdout
    assert f"{CORE} is of the tier core: {len(every - core)} checks" in said


def test_checks_are_chosen_by_name_and_by_scenario() -> None:
    # What is asked for by its name is asked, whatever was promised.
    only = [*named("node", CORE), "--only", "bad_ids", "--only", "index"]
    assert chosen(*only, of="node") == chosen(*only, of=CORE) == {"bad_ids", "index"}
    assert chosen(*only, "--scenario", "index") == {"index"}
    assert chosen(*named("node"), "--scenario", "users") == {"users", "user_paths", "users_at_once"}


def test_an_unknown_name_gets_the_nearest() -> None:
    done = collected("--only", "bad_id")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no check 'bad_id'. Did you mean 'bad_ids'?" in done.stdout + done.stderr

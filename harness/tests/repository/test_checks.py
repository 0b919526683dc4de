"""checks: every test is in one session, what measures is alone, groups stay together."""

import json
import re
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


def test_weekly_tests_are_asked_for_and_all_but_the_unit_tests_may_be_disturbed(root: Path) -> None:
    for weekly in (False, True):
        found = run.sessions(root, weekly)
        left_out = ["not weekly" in arguments for arguments in (" ".join(one.arguments) for one in found)]
        assert left_out == [False, not weekly, not weekly, not weekly], "a unit test is never weekly"
        alone = found[2].arguments
        assert alone[alone.index("-m") + 1].startswith("docker")
        assert [session.again for session in found] == [False, True, True, True]


def test_who_is_not_proved_is_left_out_by_name(root: Path) -> None:
    _, builds, _, together = (session.arguments for session in run.sessions(root, False, proved=["node"]))
    assert f"{run.OWN_TESTS}[cpp-sync]" in builds
    assert f"{run.OWN_TESTS}[node]" not in builds
    assert together[-2:] == ["--implementation", "node"]
    file = root / run.OWN_TESTS.partition("::")[0]
    assert f"def {run.OWN_TESTS.partition('::')[2]}(name" in file.read_text(), (
        "the name that is left out is the test's"
    )


def test_a_chosen_check_fails_at_once_and_several_implementations_run_side_by_side(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[run.Session] = []

    def run_all(_: Path, session: run.Session) -> int:
        asked.append(session)
        return 0

    monkeypatch.setattr(run, "run_all", run_all)
    for only, scenarios in (([], []), (["index"], []), ([], ["index"])):
        assert run.contract(root, ["node"], only, scenarios, verbose=False) == 0
    assert [session.again for session in asked] == [True, False, False]
    built: list[list[str]] = []
    monkeypatch.setattr(run, "build_images", lambda _, names: built.append(names))
    run.contract(root, ["node", "cpp-sync"], [], [], verbose=False)
    assert built == [["node", "cpp-sync"]], "one alone is built as its stack starts"
    assert ["-n" in session.arguments for session in asked] == [False, False, False, True]


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
def test_always():
    assert tries("always") < 0
@pytest.fixture
def unclean():
    yield
    assert tries("unclean") > 1
def test_unclean(unclean):
    pass
def test_unjudged():
    assert tries("unjudged") > 1
    pytest.skip("a host that disturbs")
"""
RUN = "import sys; from pathlib import Path; from checks.run import Session, run_all; sys.exit(run_all(Path(sys.argv[1]), Session(sys.argv[2:])))"


def test_what_fails_beside_others_is_run_once_more_alone(tmp_path: Path) -> None:
    """By pytest itself."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness/pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_all.py").write_text(DISTURBED)
    beside = ["-n", "1", "--dist", "loadscope", str(tmp_path / "test_all.py")]
    command = [sys.executable, "-c", RUN, str(tmp_path), *beside]
    done = subprocess.run(command, env=_bare(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.splitlines()[-5:] == [
        "failed beside others, passed alone: test_all.py::test_once",
        "failed beside others, passed alone: test_all.py::test_unclean",
        "failed, and then could not be judged on this host: test_all.py::test_unjudged",
        "failed twice: test_all.py::test_always",
        "3 passed, 1 failed, 1 skipped",
    ]
    assert done.returncode == 1
    tried = [line.split() for line in (tmp_path / "seen").read_text().splitlines()]
    assert [name for name, place in tried if place == "alone"] == ["once", "always", "unclean", "unjudged"]


MANY = [f"t{number}" for number in range(run.MOST_AGAIN + 1)]
NOT_AGAIN = f"{len(MANY)} tests failed, more than {run.MOST_AGAIN}: none was run again"


@pytest.mark.parametrize(
    ("may", "failed", "said"),
    [
        (True, MANY, [NOT_AGAIN, f"1 passed, {len(MANY)} failed, 1 skipped"]),
        (False, ["a"], ["1 passed, 1 failed, 1 skipped"]),
    ],
)
def test_what_is_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    may: bool,
    failed: list[str],
    said: list[str],
) -> None:
    """Too many at once; and a unit test, which may not be disturbed."""

    def start(_: run._Run, root: Path, outcomes: run.Outcomes) -> int:
        outcomes.failed, outcomes.passed, outcomes.skipped = {*failed}, {"good"}, {"away"}
        return 1

    monkeypatch.setattr(run._Run, "start", start)
    assert run.run_all(ROOT, run.Session([], may)) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if line] == said


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
    assert {group(f"harness/tests/containers/{name}::test_a") for name in IMAGES} == {"images"}
    implementation = "harness/tests/containers/test_implementations.py::test_a[node]"
    assert group(implementation) == implementation, "each is built by whoever is free"
    alone = "contract/tests/test_contract_files.py::test_what_is_declared_exists[node]"
    assert group(alone) == alone


def test_a_group_stays_in_one_process(tmp_path: Path) -> None:
    """Without the plugin it does not: xdist's own marks had silently lost their effect."""
    (tmp_path / "test_contract.py").write_text(GROUPED)
    seen = tmp_path / "seen"
    flags = ["-q", "-p", "no:cacheprovider", "-p", "xdist", "--rootdir", str(tmp_path), "-n", "2"]
    flags += ["--no-loadscope-reorder", str(tmp_path)]
    places = []
    for dist in ("loadscope", "load"):
        seen.write_text("")
        command = [sys.executable, "-c", PYTEST, *flags, "--dist", dist]
        subprocess.run(command, env={"SEEN": str(seen), **_bare()}, check=True)
        lines = seen.read_text().splitlines()
        assert len(lines) == 12
        places.append(len({*lines}))
    assert places[0] == 3 < places[1]


def _bare() -> dict[str, str]:
    """Without the plugins that take seconds to import."""
    return {"PYTHONPATH": str(Path(run.__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


CONTRACT = str(ROOT / "contract/tests/test_contract.py")
CORE = "harness/tests/unbuildable"
"""An implementation of the tier core, whose image is not built here."""


COLLECT = """
import json, sys, pytest
sys.stderr = sys.stdout
for arguments in json.loads(sys.argv[1]):
    print(f"==== {int(pytest.main(arguments))}")
"""


@cache
def collected() -> dict[tuple[str, ...], tuple[int, str]]:
    """All that the tests below ask for, collected by one process: what it imports takes seconds. Arguments -> status, output."""
    flags = [*run.PLUGINS, "-q", "--collect-only", "-p", "no:cacheprovider"]
    flags += ["-c", str(ROOT / "harness/pyproject.toml"), "--rootdir", str(ROOT)]
    every = [[*flags, CONTRACT, *arguments] for arguments in ASKED]
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, json.dumps(every)],
        env=_bare(),
        capture_output=True,
        text=True,
        check=True,
    )
    *texts, rest = re.split(r"^==== (\d+)\n", done.stdout, flags=re.MULTILINE)
    assert rest == ""
    said = zip(texts[1::2], texts[::2], strict=True)
    return {arguments: (int(status), text) for arguments, (status, text) in zip(ASKED, said, strict=True)}


def chosen(*arguments: str, of: str = "") -> set[str]:
    """The checks that would be asked; of this implementation alone, if it is given."""
    _, said = collected()[arguments]
    asked = [line for line in said.splitlines() if f"::test_contract[{of}" in line]
    return {line.rsplit("-", 1)[-1].rstrip("]") for line in asked}


def named(*names: str) -> list[str]:
    return [argument for name in names for argument in ("--implementation", name)]


BRIDGES = {name: own.bridge for name, own in Catalog(ROOT).implementations.items() if own.bridge}
WHOLE = "rust-hyper"
"""An implementation of the tier hardened."""
BESIDE_CORE = named(CORE, WHOLE)
ALL_BRIDGES = named(*BRIDGES, "python-async")
BY_NAME = [*named("node", CORE), "--only", "head_requests", "--only", "index"]
USERS = [*named("node"), "--scenario", "users"]
UNKNOWN = ["--only", "id"]
ASKED = [
    tuple(arguments)
    for arguments in (
        [], BESIDE_CORE, ALL_BRIDGES, BY_NAME, [*BY_NAME, "--scenario", "index"], USERS, UNKNOWN
    )
]  # fmt: skip


def test_a_core_implementation_is_asked_the_core_checks() -> None:
    core, every = (chosen(*BESIDE_CORE, of=name) for name in (CORE, WHOLE))
    assert {"golden_bodies", "statements_by_id", "stop_finishes", "database_away", "bugs"} <= core
    assert every > core
    assert {"slow_clients", "head_too_large", "pipelined"} <= every - core


def test_a_bridge_is_asked_what_it_does_in_a_way_of_its_own(real: Catalog) -> None:
    """Where all are asked, and all of it where it is named."""
    assert BRIDGES
    for name, bridge in BRIDGES.items():
        whole, part = chosen(*ALL_BRIDGES, of=name), chosen(of=name)
        assert bridge is not None
        assert real.implementations[bridge.of].bridge is None, "what it does not do itself is asked there"
        assert {"golden_bodies", "note_stored", "database_killed"} <= part < whole
        assert {"fragments", "unknown_paths"} <= whole - part
    assert chosen(of="python-async") == chosen(*ALL_BRIDGES, of="python-async")


def test_checks_are_chosen_by_name_and_by_scenario() -> None:
    # What is asked for by its name is asked, whatever was promised.
    assert chosen(*BY_NAME, of="node") == chosen(*BY_NAME, of=CORE) == {"head_requests", "index"}
    assert chosen(*BY_NAME, "--scenario", "index") == {"index"}
    assert chosen(*USERS) == {"users", "users_at_once"}


def test_an_unknown_name_gets_the_nearest() -> None:
    status, said = collected()[tuple(UNKNOWN)]
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "there is no check 'id'. Did you mean 'ids'?" in said

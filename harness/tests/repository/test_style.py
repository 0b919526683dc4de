"""The house style: linters, types, imports, names."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.lab.readiness import SEEDING_LIMITS
from tandem.lab.sites import INSIDE

TOOLS = Path(sys.executable).parent
GIT = ["git", "-c", "safe.directory=*"]
STACK = yaml.safe_load((ROOT / "compose/stack.yaml").read_text())
NOT_OURS = {".git", ".venv", "target", "node_modules", "results", "__pycache__", ".mypy_cache", ".ruff_cache"}
OURS = {
    *("cpp-async", "cpp-sync", "django-async", "django-orm", "django-orm-async", "falcon-async"),
    *("falcon-asyncpg", "falcon-sync", "fastapi", "fastapi-threads", "go", "java-threads", "java-virtual"),
    *("node", "python-async", "python-sync", "rust-async", "rust-hyper", "rust-sync"),
    *("starlette-psycopg", "starlette-threads"),
}
"""The implementations that this project keeps. Whoever adds another keeps the layout and the linters of their language: of
those only the shape is looked at (checks.shape)."""


def guests(root: Path) -> set[str]:
    """The folders of implementations that are not ours."""
    return {file.parent.name for file in root.glob("*/bench.toml")} - OURS


def files(root: Path) -> list[Path]:
    """Everything in the repository but what is built, fetched or measured."""
    out = []
    left = NOT_OURS | guests(root)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in left)
        out += [Path(folder, name) for name in sorted(names)]
    return out


def scripts(root: Path) -> list[Path]:
    """Files with the first line of a shell script."""
    found = []
    for file in files(root):
        if file.suffix == "" and file.is_file() and not file.is_symlink():
            with file.open("rb") as stream:
                first = stream.readline(80)
            if first.startswith(b"#!") and first.rstrip().endswith(b"sh"):
                found.append(file)
    return found


def run(*command: str | Path, folder: Path = ROOT) -> tuple[bool, str]:
    """Whether a command ended well, and what it said."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def python_folders() -> list[str]:
    """The harness, the contract, every implementation of ours in Python, and what those share."""
    found = [*ROOT.glob("*/pyproject.toml"), *ROOT.glob("common/*/pyproject.toml")]
    own = {file.parent.relative_to(ROOT).as_posix() for file in found} - guests(ROOT)
    return sorted({"harness", "contract", *own})


# ---- Python ----


BAD = "import os\ndef f( x ):\n  return x\n"


@pytest.mark.parametrize("command", [["check"], ["format", "--check", "--diff"]], ids=lambda one: one[0])
def test_ruff_finds_nothing_but_what_is_bad(tmp_path: Path, command: list[str]) -> None:
    folders = [ROOT / folder for folder in python_folders()]
    ok, said = run(TOOLS / "ruff", *command, "--no-cache", "--quiet", *folders)
    assert ok, said
    (tmp_path / "bad.py").write_text(BAD)
    config = ROOT / "harness/pyproject.toml"
    ok, said = run(TOOLS / "ruff", *command, "--no-cache", "--config", config, tmp_path)
    assert not ok
    assert "bad.py" in said


def test_mypy_finds_nothing_but_what_is_bad(tmp_path: Path) -> None:
    """In one run: another would read all types of the standard library again."""
    (tmp_path / "bad.py").write_text(BAD)
    packages = ["tandem", "checks", "documents", "tests"]
    ok, said = run(TOOLS / "mypy", "--strict", *packages, tmp_path / "bad.py", folder=ROOT / "harness")
    assert not ok
    *errors, _ = said.splitlines()
    assert [line.partition("bad.py")[2].partition("  [")[0] for line in errors] == [
        ":2: error: Function is missing a type annotation"
    ], said


# ---- imports ----


def import_linter(folder: Path) -> tuple[bool, str]:
    """The contracts of harness/pyproject.toml on the packages `tandem` and `documents` of a folder."""
    config = ROOT / "harness/pyproject.toml"
    return run(TOOLS / "lint-imports", "--no-logo", "--no-cache", "--config", config, folder=folder)


def test_the_contracts_on_imports_are_kept() -> None:
    ok, said = import_linter(ROOT / "harness")
    assert ok, said


FORBIDDEN = [
    [
        ("judge/steady.py", "from tandem.lab.stack import Stack", "tandem.judge is not allowed to import tandem.lab"),
        ("load/wrk.py", "from tandem import engine", "tandem.load is not allowed to import tandem.engine"),
        ("errors.py", "import tandem.record.part", "tandem.errors is not allowed to import tandem.record"),
        ("analysis/ratios.py", "import subprocess", "tandem.analysis is not allowed to import subprocess"),
        ("catalog/ranges.py", "import python_on_whales", "tandem.catalog is not allowed to import python_on_whales"),
        ("record/part.py", "import docker", "tandem.record is not allowed to import docker"),
        ("lab/stack.py", "from pytest import fixture", "tandem is not allowed to import pytest"),
        ("studies/compare/report.py", "import tandem.studies.sweep.usl", "tandem.studies.compare.report -> tandem.studies.sweep.usl"),
        ("page/show.py", "import tandem.studies.sweep.usl", "tandem.page.show -> tandem.studies.sweep.usl"),
        ("../documents/reports.py", "import tandem.studies.sweep.usl", "documents.reports -> tandem.studies.sweep.usl"),
    ],
    [
        ("newer/one.py", "", "tandem.newer"),
        ("judge/judge.py", "import tandem.load.idle", "tandem.judge is not allowed to import subprocess"),
    ],
]  # fmt: skip
"""File, a line for it, what has to be said. Those of a list are found in one run: each takes seconds. The second has what would
hide, or be hidden by, one of the first."""


@pytest.mark.parametrize("lines", FORBIDDEN, ids=["direct", "by the way"])
def test_the_contracts_on_imports_can_fail(tmp_path: Path, lines: list[tuple[str, str, str]]) -> None:
    package = tmp_path / "tandem"
    for name in ("tandem", "documents"):
        shutil.copytree(
            ROOT / "harness" / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file, text, _ in lines:
        changed = package / file
        changed.parent.mkdir(exist_ok=True)
        with changed.open("a") as stream:
            stream.write(f"\n{text}\n")
        changed.with_name("__init__.py").touch()
    ok, said = import_linter(tmp_path)
    assert not ok
    assert [told for _, _, told in lines if told not in " ".join(said.split())] == []


# ---- names ----


def twice(package: Path) -> dict[str, list[str]]:
    """Names of module-level classes and types that stand in more than one place, with these places."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.TypeAlias):
                name = node.name if isinstance(node, ast.ClassDef) else node.name.id
                found[name].append(f"{file.relative_to(package)}:{node.lineno}")
    return {name: places for name, places in found.items() if len(places) > 1}


def test_one_word_has_one_meaning(tmp_path: Path) -> None:
    """No two classes or types of the package have the same name."""
    assert twice(ROOT / "harness/tandem") == {}
    (tmp_path / "one.py").write_text("class Window: ...\n")
    (tmp_path / "other.py").write_text("type Window = int\n")
    assert twice(tmp_path) == {"Window": ["one.py:1", "other.py:1"]}


# ---- shell, just, Compose ----


def test_shellcheck_finds_nothing() -> None:
    found = scripts(ROOT)
    assert ROOT / "harness/run" in found
    ok, said = run(TOOLS / "shellcheck", *found)
    assert ok, said


def test_just_would_format_nothing() -> None:
    ok, said = run("just", "--fmt", "--check", "--unstable")
    assert ok, said


@pytest.mark.parametrize("topology", sorted(file.stem for file in ROOT.glob("compose/topologies/*.env")))
@pytest.mark.parametrize("placement", ["two-cores", "shared"])
def test_compose_understands_the_stack(topology: str, placement: str) -> None:
    given = [f"compose/topologies/{topology}.env", f"compose/placements/{placement}.env"]
    flags = [flag for file in given for flag in ("--env-file", file)]
    ok, said = run(
        "docker", "compose", *flags, "--profile", "load", "--profile", "faults", "config", "--quiet"
    )
    assert ok, said


def test_an_image_of_an_application_needs_no_program_for_its_health() -> None:
    """HAProxy's container asks, through HAProxy: a guest's image may have no shell."""
    assert "healthcheck" not in STACK["services"]["app"]
    assert STACK["services"]["proxy"]["healthcheck"]["test"][-1] == "http://proxy-edge:8080/healthz"


def test_a_database_that_makes_its_data_has_as_long_for_docker_as_for_the_harness() -> None:
    """Otherwise `docker compose up` gives up on a slow machine."""
    services = STACK["services"].items()
    retries = {name: service.get("healthcheck", {}).get("retries") for name, service in services}
    assert retries["db"] == SEEDING_LIMITS * retries["proxy"]


def test_every_setting_reaches_the_application() -> None:
    """A setting that Compose does not hand on would change nothing, in silence."""
    catalog = Catalog(ROOT)
    own = {name for one in catalog.implementations.values() for name in one.settings}
    assert own
    assert {*catalog.settings, *own} <= STACK["services"]["app"]["environment"].keys()


def test_a_lab_opens_every_network_that_is_closed_on_one_machine() -> None:
    networks = STACK["networks"]
    assert {name for name, told in networks.items() if told.get("internal")} == set(INSIDE)


# ---- repository ----


def test_nothing_ignored_is_tracked() -> None:
    if not run(*GIT, "rev-parse", "--git-dir")[0]:
        pytest.skip("not a clone: there is no history to look at")
    assert run(*GIT, "ls-files", "--cached", "--ignored", "--exclude-standard") == (True, "")


@pytest.mark.parametrize(
    "dockerfile",
    [file for file in sorted(ROOT.glob("*/Dockerfile")) if file.parent.name not in guests(ROOT)],
    ids=lambda file: file.parent.name,
)
def test_every_image_has_an_ignore_file_and_the_common_base(dockerfile: Path) -> None:
    """The context is the whole repository; without an ignore file all of it is sent to the engine."""
    assert dockerfile.with_name("Dockerfile.dockerignore").read_text().startswith("*\n")
    stages: set[str] = set()
    for line in dockerfile.read_text().splitlines():
        words = line.split()
        if words[:1] == ["FROM"]:
            assert words[1] in stages | {"debian:trixie-slim"}
            stages.update(words[3:4])


def copied(implementation: Path) -> list[Path]:
    """What its image is made of: its own sources, and those that its Dockerfile copies from `common` and from others."""
    lines = (implementation / "Dockerfile").read_text().splitlines()
    words = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    found = [ROOT / word for word in words if re.match(r"common/|[^-/][^/]*/src(/|$)", word)]
    own = implementation / "src"
    return [own if own.is_dir() else implementation, *found]


def roles_missing(folder: Path) -> set[str]:
    """What ours have each in a file of that name, in whichever language; Django's and Java's have names of their own."""
    django = {"wsgi": "main", "asgi": "main", "refusal": "errors"}
    found = {file.stem.lower() for source in copied(folder) for file in (source, *source.rglob("*.*"))}
    roles = {django.get(role, role) for role in found}
    described = tomllib.loads((folder / "bench.toml").read_text())
    without_database = "recipe" in described.get("unsupported", {}).get("scenarios", {})
    stored = set() if without_database else {"models"}
    return ({"main", "errors"} | stored) - roles


@pytest.mark.parametrize("name", sorted(OURS))
def test_ours_are_laid_out_alike(name: str) -> None:
    assert roles_missing(ROOT / name) == set()


def test_what_is_common_belongs_to_a_language_of_several_implementations() -> None:
    languages = [tomllib.loads(bench.read_text())["language"] for bench in ROOT.glob("*/bench.toml")]
    for folder in ROOT.glob("common/*"):
        assert languages.count(folder.name) > 1, folder

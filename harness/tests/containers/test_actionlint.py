"""The workflows of .github, by actionlint: what they say is right for GitHub, and their scripts are by shellcheck."""

import subprocess
import sys
from pathlib import Path

import pytest
from harness_places import ROOT

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]
DOCKERFILE = ROOT / "harness/tests/actionlint/Dockerfile"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from its Go module; only the first build takes more than a second or two."""
    folder = tmp_path_factory.mktemp("actionlint")
    command: list[str | Path] = [
        *("docker", "buildx", "build", "--quiet", "--file"),
        DOCKERFILE,
        "--output",
        f"type=local,dest={folder}",
        ROOT,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "actionlint"


def lint(program: Path, *files: Path) -> tuple[int, str]:
    done = subprocess.run(
        [program, "-no-color", "-shellcheck", SHELLCHECK, *files], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_actionlint_finds_nothing(program: Path) -> None:
    status, said = lint(program, *sorted((ROOT / ".github/workflows").glob("*.yml")))
    assert status == 0, said


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("run: echo ${{ steps.nobody.outputs.x }}", 'property "nobody" is not defined'),
        ("run: rm -rf $1/*", "shellcheck reported issue"),
        ("uses: actions/checkout@v4\n        with: {depth: 0}", 'input "depth" is not defined'),
    ],
)
def test_actionlint_can_find_something(program: Path, tmp_path: Path, step: str, told: str) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(f"on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - {step}\n")
    status, said = lint(program, bad)
    assert status == 1
    assert told in said

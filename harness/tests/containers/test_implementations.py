"""The own tests and linters of every implementation and of file-io: the stage `test` of its Dockerfile builds."""

import subprocess

import pytest
from harness_places import ROOT

COLD_S = 1800
"""A stage without caches, beside two others, on two cores."""

pytestmark = [pytest.mark.docker, pytest.mark.timeout(COLD_S + 60)]

NAMES = [*(file.parent.name for file in sorted(ROOT.glob("*/bench.toml"))), "file-io"]


def build(folder: str, target: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", "buildx", "build", "--progress", "plain", "--target", target]
    command += ["--file", f"{folder}/Dockerfile", "."]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=COLD_S)


@pytest.mark.parametrize("name", NAMES)
def test_the_implementations_own_tests_pass(name: str) -> None:
    done = build(name, "test")
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["cpp-async", "cpp-sync"])
def test_what_takes_minutes_passes(name: str) -> None:
    done = build(name, "weekly")
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_stage_that_fails_is_noticed() -> None:
    done = build("harness/tests/unbuildable", "test")
    assert done.returncode != 0
    assert "this line explains the failure" in done.stderr

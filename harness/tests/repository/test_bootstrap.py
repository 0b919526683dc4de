"""bootstrap: how it waits for an image registry, and what it says on other systems, with stand-ins for their programs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness_places import ROOT


@pytest.mark.parametrize(
    ("docker", "taken"),
    [
        ("echo 'trixie-slim: Pulling from library/debian'; exec sleep 3", True),
        ("exec sleep 30", False),
        ("echo 'Error response from daemon: no such host' >&2; exit 1", False),
        ("echo 'trixie-slim: Pulling from library/debian'; sleep 1; exit 1", False),
    ],
    ids=["answers and is slow", "silent", "refuses", "breaks off"],
)
def test_a_registry_that_answers_gets_the_time_it_needs(tmp_path: Path, docker: str, taken: bool) -> None:
    """The time limit, here 1 s, is on the answer alone."""
    stand_in = tmp_path / "docker"
    stand_in.write_text(f"#!/bin/sh\n{docker}\n")
    stand_in.chmod(0o755)
    functions, found, _ = (ROOT / "bootstrap").read_text().partition("# ---- the road")
    assert found
    script = functions.replace("REGISTRY_S=60", "REGISTRY_S=1") + "if pull_base_image; then echo taken; fi\n"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=15,
    )
    assert (done.stdout == "taken\n") is taken


@pytest.mark.parametrize(
    ("program", "says", "told"),
    [
        ("uname", "echo Darwin", "brew install just"),
        ("dnf", "", "sudo dnf install moby-engine"),
        ("pacman", "", "sudo pacman -S docker"),
        ("zypper", "", "sudo zypper install docker"),
        ("apk", "", "sudo apk add docker"),
        ("nothing", "", ""),
    ],
)
def test_another_system_is_told_what_to_install_and_left_alone(
    tmp_path: Path, program: str, says: str, told: str
) -> None:
    for name in ("dirname", "cat", "uname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (tmp_path / program).unlink(missing_ok=True)
    (tmp_path / program).write_text(f"#!/bin/sh\n{says}\n")
    (tmp_path / program).chmod(0o755)
    command = [str(shutil.which("sh")), str(ROOT / "bootstrap"), "doctor"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "it has no apt-get" in done.stderr
    assert ("Here that is probably: " + told in done.stderr) is bool(told)

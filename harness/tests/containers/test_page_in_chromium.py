"""The site in Debian's Chromium: builds the image with the browser and runs tests/page/in_chromium.py in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

IMAGE = "tandem/harness/browser"


def test_the_site_works_in_chromium(root: Path) -> None:
    """Its screenshots stay in results/page-screenshots."""
    build = [
        "docker",
        "buildx",
        "build",
        "--progress",
        "plain",
        "--label",
        "dev.tandem.built=harness",
        "--load",
    ]
    build += ["--target", "browser", "--tag", IMAGE, "--file", str(root / "harness/Dockerfile"), str(root)]
    subprocess.run(build, check=True, stdout=sys.stderr)
    harness = root / "harness"
    run = ["docker", "run", "--rm", "--network", "none", "--label", "dev.tandem=harness"]
    run += ["--volume", f"{root}:{root}", "--workdir", str(harness)]
    run += [
        "--env",
        f"PYTHONPATH={harness}",
        "--env",
        f"TANDEM_ROOT={root}",
        "--entrypoint",
        "python3",
        IMAGE,
    ]
    run += [
        "-m",
        "pytest",
        "-c",
        "pyproject.toml",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/page/in_chromium.py",
    ]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    owner, kept = root.stat(), root / "results/page-screenshots"
    for path in (kept, *kept.glob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout

"""`docker compose up` in a clean clone, as the README has it."""

import os
import subprocess
from hashlib import md5
from pathlib import Path

import httpx
import pytest
from harness_places import ROOT

# It measures nothing, so it may run beside other tests (checks.groups).
pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def test_a_clean_clone_answers_the_first_request(tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Port 0: the engine chooses.
    environment = {**kept, "COMPOSE_PROJECT_NAME": "tandem-clean-clone", "HTTP_PORT": "0", "STATS_PORT": "0"}

    def run(*command: str) -> str:
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout.strip()

    run("git", "-c", "safe.directory=*", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", ".")
    try:
        run("docker", "compose", "up", "--build", "--detach", "--wait")
        url = f"http://{run('docker', 'compose', 'port', 'proxy', '8080')}/api/v1/recipes/1"
        cookie = {"Cookie": f"sessionid={md5(b'session 1').hexdigest()}"}
        answer, refusal = (httpx.get(url, headers=headers, trust_env=False) for headers in (cookie, {}))
    finally:
        run("docker", "compose", "down", "--volumes", "--timeout", "1")
    assert (answer.status_code, refusal.status_code) == (200, 401)
    assert answer.content == (ROOT / "contract/golden/recipe-1.json").read_bytes()

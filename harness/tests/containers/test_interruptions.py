"""Refusals, interruptions and `just up` as a user meets them, with real containers. Nothing here measures."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path

import httpx
import pytest
from harness_commands import (
    LAUNCHER,
    PATIENCE_S,
    TANDEM,
    TWO_TRIALS,
    bench_containers,
    composed,
    containers,
    interrupt,
    run,
    started,
    trials,
    wait_for,
    wait_until_gone,
    words,
)
from harness_places import ROOT

from tandem.lab.stack import remove_leftovers

# It measures nothing, so it may run beside other tests; but one such command at a time (checks.groups).
pytestmark = pytest.mark.docker

BENCH = [LAUNCHER, "bench"]


def _campaigns() -> set[Path]:
    return set((ROOT / "results").glob("*-bench-rust-async-two-trials"))


def _wait_for_campaign(before: set[Path], pattern: str) -> Path:
    """The campaign that is new, once it has a file of that pattern."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        for campaign in _campaigns() - before:
            if list(campaign.glob(pattern)):
                return campaign
        assert time.monotonic() < deadline, f"{pattern} did not appear"
        time.sleep(0.5)


@contextmanager
def _campaigns_forgotten() -> Iterator[set[Path]]:
    """The campaigns that there are; those that are made meanwhile are removed at the end."""
    before = _campaigns()
    try:
        yield before
    finally:
        for folder in _campaigns() - before:
            run("rm", "-rf", str(folder))


def test_interrupted_killed_and_resumed() -> None:
    """Ctrl-C cleans up; so does the loss of the client; a killed harness is cleaned up after by the next start;
    what was finished is kept."""
    command = [*BENCH, "rust-async", "--plan", TWO_TRIALS, "--seed", "7"]
    with _campaigns_forgotten() as before:
        with started(*command) as first:
            campaign = _wait_for_campaign(before, "raw/2-rust-async")
            kept = (campaign / "trials/1-rust-async.json").read_text()
            assert "--resume" in interrupt(first)

        with started(*command, "--resume") as second:
            wait_for("raw/2-rust-async/closed.json", campaign, second)
            [harness] = containers("label=dev.tandem.command=bench")
            run("docker", "kill", harness)
            second.communicate(timeout=PATIENCE_S)
        assert bench_containers(), "a killed harness cannot clean up, so there must be something to clean"

        programs = campaign / "programs.json"
        same = programs.read_text()
        programs.write_text(same.replace('"rust-async": "', '"rust-async": "other '))
        refused = run(*command, "--resume")
        assert refused.returncode == 1
        assert "started with other programs: rust-async changed" in words(refused.stderr)
        assert "removed the containers and data of a command that was killed" in words(refused.stderr)
        programs.write_text(same)

        third = run(*command, "--resume")
        assert third.returncode in (0, 1), third.stderr
        assert (campaign / "trials/1-rust-async.json").read_text() == kept
        record = json.loads((campaign / "result.json").read_text())
        assert record["request"]["seed"] == 7
        assert {trial["spec"]["block"] for trial in trials(campaign)} == {1, 2}
        assert not bench_containers()


def test_data_without_containers_is_not_used_again(tmp_path: Path) -> None:
    """Whoever removes a killed command's containers by hand leaves its database, with the rows of that study."""
    project, label = "tandem-left", "com.docker.compose.project=tandem-left"
    create = ("docker", "volume", "create", "--label", label, "--label", "com.docker.compose.volume=db-data")
    assert run(*create, f"{project}_db-data").returncode == 0
    assert remove_leftovers(ROOT, tmp_path / "left.env", project=project)
    assert run("docker", "volume", "ls", "-q", "--filter", f"label={label}").stdout == ""
    assert not remove_leftovers(ROOT, tmp_path / "left.env", project=project)


def test_a_client_killed_without_warning_leaves_nothing() -> None:
    command = [*BENCH, "rust-async", "--plan", TWO_TRIALS]
    with _campaigns_forgotten() as before, started(*command) as client:
        _wait_for_campaign(before, "raw/1-rust-async")
        other = run(*command)
        assert other.returncode == 1
        assert "another command is measuring" in words(other.stderr)
        client.kill()
        client.communicate()
        wait_until_gone()


def test_an_image_that_does_not_build(results: Path) -> None:
    done = run(
        *(*TANDEM, "bench", "harness/tests/unbuildable", "--plan", "smoke"), TANDEM_RESULTS=str(results)
    )
    assert done.returncode == 1
    assert "the image of app (harness/tests/unbuildable) does not build" in words(done.stderr)
    assert "this line explains the failure" in words(done.stderr)
    assert not bench_containers()


def test_a_full_disk() -> None:
    done = run(
        "docker", "run", "--rm", "--network", "host", "--pid", "host", "--tmpfs", "/small:size=8m",
        "-v", "/var/run/docker.sock:/var/run/docker.sock", "-v", f"{ROOT}:{ROOT}", "-w", str(ROOT),
        "-e", f"PYTHONPATH={ROOT}/harness", "-e", f"TANDEM_ROOT={ROOT}", "-e", "TANDEM_RESULTS=/small",
        "tandem/harness", "bench", "rust-async", "--plan", "smoke",
    )  # fmt: skip
    assert done.returncode == 1
    assert "free some space first" in words(done.stderr)


def test_up_serves_and_a_busy_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        busy = run(*TANDEM, "up", "rust-async", HTTP_PORT=port, STATS_PORT="18499")
        assert busy.returncode == 1
        assert "HTTP_PORT" in words(busy.stderr)
        assert not composed("tandem")
    try:
        up = run(*TANDEM, "up", "rust-async", HTTP_PORT=port, STATS_PORT="18499")
        assert up.returncode == 0, up.stderr
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").json() == {"status": "ok"}
        assert "HAProxy" in httpx.get("http://127.0.0.1:18499/").text
    finally:
        assert run(*TANDEM, "down").returncode == 0
    assert not composed("tandem")


def test_compose_up_in_a_clean_clone_answers_the_first_request(tmp_path: Path) -> None:
    git = run("git", "-c", "safe.directory=*", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(tmp_path))
    assert git.returncode == 0, git.stderr
    compose = (
        "docker",
        "compose",
        "--project-directory",
        str(tmp_path),
        "--project-name",
        "tandem-clean-clone",
    )
    try:
        up = run(*compose, "up", "--build", "--detach", "--wait", HTTP_PORT="0", STATS_PORT="0")
        assert up.returncode == 0, up.stderr[-4000:]
        url = f"http://{run(*compose, 'port', 'proxy', '8080').stdout.strip()}/api/v1/recipes/1"
        cookie = {"Cookie": f"sessionid={md5(b'session 1').hexdigest()}"}
        answer, refusal = httpx.get(url, headers=cookie), httpx.get(url)
    finally:
        run(*compose, "down", "--volumes", "--timeout", "1")
    assert (answer.status_code, refusal.status_code) == (200, 401)
    assert answer.content == (ROOT / "contract/golden/recipe-1.json").read_bytes()


def test_without_docker_the_launcher_says_so(tmp_path: Path) -> None:
    no_engine = run(*BENCH, "rust-async", DOCKER_HOST="unix:///nonexistent.sock")
    assert no_engine.returncode == 1
    assert "Docker does not answer" in words(no_engine.stderr)
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    no_client = run("/bin/sh", *BENCH, "rust-async", PATH=str(tmp_path))
    assert no_client.returncode == 1
    assert "Docker is not installed" in words(no_client.stderr)

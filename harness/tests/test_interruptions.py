"""Refusals, interruptions and `just up` as a user meets them, with real containers. Nothing here measures."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from harness_commands import LAUNCHER, ROOT, TWO_TRIALS, bench_containers, containers, run

# It measures nothing, so it may run beside other tests; but one such command at a time (tandem.side_by_side).
pytestmark = pytest.mark.docker

BENCH = [LAUNCHER, "bench"]
PATIENCE_S = 400
"""A start and its windows, beside other tests; trials that those disturb are made once more."""


def _campaigns() -> set[Path]:
    return set((ROOT / "results").glob("*rust-async-two-trials"))


def _wait_for_campaign(before: set[Path], pattern: str) -> Path:
    """The campaign that is new, once it has a file of that pattern."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        for campaign in _campaigns() - before:
            if list(campaign.glob(pattern)):
                return campaign
        assert time.monotonic() < deadline, f"{pattern} did not appear"
        time.sleep(0.5)


def _wait_for(file_pattern: str, folder: Path, timeout_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not list(folder.glob(file_pattern)):
        assert time.monotonic() < deadline, f"{file_pattern} did not appear"
        time.sleep(0.5)


def _wait_until_gone(timeout_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while bench_containers():
        assert time.monotonic() < deadline, "containers are left"
        time.sleep(0.5)


@contextmanager
def _started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """The command, running. One that a failed assertion left behind is ended, so that the next test meets no other."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
            _wait_until_gone()


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
        with _started(*command) as first:
            campaign = _wait_for_campaign(before, "*/trial-2")
            kept = (campaign / "rust-async.recipes.full/trial-1/trial.json").read_text()
            first.send_signal(signal.SIGINT)
            _, said = first.communicate(timeout=PATIENCE_S)
        assert first.returncode == 130, said
        assert "--resume" in said
        assert not bench_containers()

        with _started(*command, "--resume") as second:
            _wait_for("rust-async.recipes.full/trial-2/closed.json", campaign)
            [harness] = containers("label=dev.tandem.command=bench")
            run("docker", "kill", harness)
            second.communicate(timeout=PATIENCE_S)
        assert bench_containers(), "a killed harness cannot clean up, so there must be something to clean"

        third = run(*command, "--resume")
        assert third.returncode in (0, 1), third.stderr
        assert "removed the containers of a campaign that was killed" in third.stderr
        assert (campaign / "rust-async.recipes.full/trial-1/trial.json").read_text() == kept
        record = json.loads((campaign / "rust-async.recipes.full/run.json").read_text())
        assert record["seed"] == 7
        assert {trial["index"] for trial in record["trials"]} >= {1, 2}
        assert not bench_containers()


def test_a_client_killed_without_warning_leaves_nothing() -> None:
    command = [*BENCH, "rust-async", "--plan", TWO_TRIALS]
    with _campaigns_forgotten() as before, _started(*command) as client:
        _wait_for_campaign(before, "*/trial-1")
        other = run(*command)
        assert other.returncode == 1
        assert "another campaign is measuring" in other.stderr
        client.kill()
        client.communicate()
        _wait_until_gone()


def test_an_image_that_does_not_build(results: Path) -> None:
    done = run(
        *("python3", "-m", "tandem", "bench", "harness/tests/unbuildable", "--plan", "smoke"),
        TANDEM_RESULTS=str(results),
    )
    assert done.returncode == 1
    assert "the image of app (harness/tests/unbuildable) does not build" in done.stderr
    assert "this line explains the failure" in done.stderr
    assert not bench_containers()


def test_a_full_disk() -> None:
    done = run(
        "docker", "run", "--rm", "--network", "host", "--pid", "host", "--tmpfs", "/small:size=8m",
        "-v", "/var/run/docker.sock:/var/run/docker.sock", "-v", f"{ROOT}:{ROOT}", "-w", str(ROOT),
        "-e", f"PYTHONPATH={ROOT}/harness", "-e", f"TANDEM_ROOT={ROOT}", "-e", "TANDEM_RESULTS=/small",
        "tandem/harness", "bench", "rust-async", "--plan", "smoke",
    )  # fmt: skip
    assert done.returncode == 1
    assert "make room first" in done.stderr


def test_up_serves_and_a_busy_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        busy = run("python3", "-m", "tandem", "up", "rust-async", HTTP_PORT=port, STATS_PORT="18499")
        assert busy.returncode == 1
        assert "HTTP_PORT" in busy.stderr
        assert not containers("label=com.docker.compose.project=tandem")
    try:
        up = run("python3", "-m", "tandem", "up", "rust-async", HTTP_PORT=port, STATS_PORT="18499")
        assert up.returncode == 0, up.stderr
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").json() == {"status": "ok"}
        assert "HAProxy" in httpx.get("http://127.0.0.1:18499/").text
    finally:
        assert run("python3", "-m", "tandem", "down").returncode == 0
    assert not containers("label=com.docker.compose.project=tandem")


def test_without_docker_the_launcher_says_so(tmp_path: Path) -> None:
    no_engine = run(*BENCH, "rust-async", DOCKER_HOST="unix:///nonexistent.sock")
    assert no_engine.returncode == 1
    assert "Docker does not answer" in no_engine.stderr
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    no_client = run("/bin/sh", *BENCH, "rust-async", PATH=str(tmp_path))
    assert no_client.returncode == 1
    assert "Docker is not installed" in no_client.stderr

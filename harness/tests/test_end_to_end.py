"""The commands as a user runs them, with real containers: results, interruptions, liars, bad input."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tandem.histogram import merge

pytestmark = pytest.mark.docker

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLANS = ROOT / "harness/tests/plans"
BENCH = [str(ROOT / "harness/run"), "bench"]
LIARS = {
    "cached": "sql-mismatch",
    "missing-statement": "sql-mismatch",
    "extra-statement": "sql-extra",
    "wrong-body": "wrong-body",
    "spaces-in-json": "wrong-answers",
}
"""Fault of contract/broken -> what the run itself must notice."""


def run(*command: str, timeout_s: float = 600, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def bench(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run("python3", "-m", "tandem", "bench", *arguments, timeout_s=600, **variables)


def containers(*filters: str) -> list[str]:
    flags = [flag for one in filters for flag in ("--filter", one)]
    return run("docker", "ps", "-aq", *flags).stdout.split()


def bench_containers() -> list[str]:
    return containers("label=com.docker.compose.project=tandem-bench")


def findings(record: dict[str, Any]) -> set[str]:
    trials = record["trials"]
    windows = [trial[load] for trial in trials for load in ("closed", "open") if trial[load]]
    return {finding["code"] for part in (*trials, *windows) for finding in part["findings"]}


@pytest.fixture
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for results that the engine's host sees too, because it is inside the repository."""
    folder = ROOT / "results" / f".test-{os.getpid()}-{time.time_ns()}"
    folder.mkdir(parents=True)
    yield folder
    run("rm", "-rf", str(folder))


def test_a_campaign_ends_with_a_record(results: Path) -> None:
    done = bench("rust-async", "--plan", str(PLANS / "one-trial.toml"), "--json", TANDEM_RESULTS=str(results))
    record = json.loads(done.stdout)
    assert record["verdict"] in ("ok", "void"), done.stderr
    assert done.returncode == (0 if record["verdict"] == "ok" else 1)
    [file] = results.glob("*/rust-async.recipes.full/run.json")
    assert json.loads(file.read_text()) == record
    trial = record["trials"][0]
    closed, opened = trial["closed"], trial["open"]
    assert closed["goodput_rps"] > 0
    assert closed["statements"]["reactions"]["calls"] == pytest.approx(
        closed["good"] + closed["probes"], rel=0.005
    )
    assert closed["proxy"]["responses_2xx"] == pytest.approx(closed["good"] + closed["probes"], rel=0.005)
    assert closed["app_cpu_us_per_request"] > 0
    assert closed["app_memory_peak_bytes"] > 2**20
    assert opened["offered_rps"] == int(closed["goodput_rps"] * 0.5)
    assert opened["response_time_ms"]["p50"] >= opened["service_time_ms"]["p50"] * 0.9
    for window in (closed, opened):
        assert window["rows_2xx"] == window["reported_2xx"] == window["requests"]
        assert window["utilisation_bound_rps"] * 1.06 > window["goodput_rps"]
        table = window["per_second"]
        assert table["second"] == [1, 2]  # whole seconds between 0.5 and 3.5
        assert sum(table["good"]) == pytest.approx(window["goodput_rps"] * 2, rel=0.3)
        host = window["host"]
        assert abs(host["clock_drift_ms"]) < 1000
        assert host["clock_changed"] is False
        assert host["hiccup"]["samples"] > 100
        assert host["hiccup"]["cpu_cores"] < 0.05
        merged = merge([window["service_time_hdr"]])
        assert merged.samples == window["service_time_ms"]["samples"]
        assert merged.p50 == pytest.approx(window["service_time_ms"]["p50"], rel=0.002)
    environment = record["environment"]
    assert environment["images"].keys() >= {"app", "db", "pgbouncer", "proxy", "loadgen"}
    configuration = environment["configuration"]
    assert "pool_mode" in configuration["pgbouncer"]
    assert "shared_buffers" in configuration["postgresql"]
    assert "backend app" in configuration["haproxy.cfg"]
    assert "DB_POOL_MAX=20" in configuration["app environment"].splitlines()
    assert json.loads(configuration["plan"])["closed_s"] == 4
    if record["verdict"] == "ok":
        assert record["summary"]["goodput_rps"] == pytest.approx(closed["goodput_rps"], rel=1e-4)
        assert record["summary"]["response_time_ms"]["p50"] > 0
        assert record["bottleneck"]
    log = (file.parent / "trial-1/psrecord.log").read_text().splitlines()
    assert log[0].split() == ["#", "Elapsed", "time", "CPU", "(%)", "Real", "(MB)", "Virtual", "(MB)"]
    assert len(log) > 10
    assert not bench_containers()


@pytest.mark.parametrize("topology", ["direct", "pooled", "proxied"])
def test_every_topology(topology: str, results: Path) -> None:
    plan = str(PLANS / "one-trial.toml")
    arguments = ("rust-async", "--plan", plan, "--topology", topology, "--scenario", "recipe", "--json")
    record = json.loads(bench(*arguments, TANDEM_RESULTS=str(results)).stdout)
    assert record["verdict"] in ("ok", "void"), record["reasons"]
    closed = record["trials"][0]["closed"]
    assert (closed["proxy"] is not None) == (topology == "proxied")
    assert (closed["pooler"] is not None) == (topology == "pooled")


@pytest.mark.parametrize(("fault", "code"), LIARS.items())
def test_a_liar_is_invalid(fault: str, code: str, results: Path) -> None:
    plan = str(PLANS / "one-trial.toml")
    done = bench("contract/broken", "--plan", plan, "--json", TANDEM_RESULTS=str(results), FAULT=fault)
    record = json.loads(done.stdout)
    assert done.returncode == 1
    assert record["verdict"] == "invalid", record["reasons"]
    assert code in findings(record)
    assert record["summary"]["goodput_rps"] is None


def test_the_same_backend_without_a_fault_is_no_liar(results: Path) -> None:
    done = bench(
        "contract/broken", "--plan", str(PLANS / "one-trial.toml"), "--json", TANDEM_RESULTS=str(results)
    )
    record = json.loads(done.stdout)
    assert record["verdict"] in ("ok", "void"), record["reasons"]
    assert not findings(record) & set(LIARS.values())


def _campaigns() -> set[Path]:
    return set((ROOT / "results").glob("*rust-async-two-trials"))


def _wait_for_campaign(before: set[Path], pattern: str) -> Path:
    """The campaign that is new, once it has a file of that pattern."""
    deadline = time.monotonic() + 120
    while True:
        for campaign in _campaigns() - before:
            if list(campaign.glob(pattern)):
                return campaign
        assert time.monotonic() < deadline, f"{pattern} did not appear"
        time.sleep(0.5)


def _wait_for(file_pattern: str, folder: Path, timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while not list(folder.glob(file_pattern)):
        assert time.monotonic() < deadline, f"{file_pattern} did not appear"
        time.sleep(0.5)


def _wait_until_gone(timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while bench_containers():
        assert time.monotonic() < deadline, "containers are left"
        time.sleep(0.5)


def test_interrupted_killed_and_resumed() -> None:
    """Ctrl-C cleans up; so does the loss of the client; a killed harness is cleaned up after by the next start;
    what was finished is kept."""
    plan = str(PLANS / "two-trials.toml")
    command = [*BENCH, "rust-async", "--plan", plan, "--seed", "7"]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    before = _campaigns()
    try:
        first: subprocess.Popen[str] = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
        campaign = _wait_for_campaign(before, "*/trial-2")
        kept = (campaign / "rust-async.recipes.full/trial-1/trial.json").read_text()
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=60)
        assert first.returncode == 130, said
        assert "--resume" in said
        assert not bench_containers()

        second: subprocess.Popen[str] = subprocess.Popen([*command, "--resume"], **quiet)  # type: ignore[call-overload]
        _wait_for("rust-async.recipes.full/trial-2/closed.json", campaign)
        [harness] = containers("label=dev.tandem.command=bench")
        run("docker", "kill", harness)
        second.communicate(timeout=60)
        assert bench_containers(), "a killed harness cannot clean up, so there must be something to clean"

        third = run(*command, "--resume")
        assert third.returncode in (0, 1), third.stderr
        assert "removed the containers of a campaign that was killed" in third.stderr
        assert (campaign / "rust-async.recipes.full/trial-1/trial.json").read_text() == kept
        record = json.loads((campaign / "rust-async.recipes.full/run.json").read_text())
        assert record["seed"] == 7
        assert {trial["index"] for trial in record["trials"]} >= {1, 2}
        assert not bench_containers()
    finally:
        for folder in _campaigns() - before:
            run("rm", "-rf", str(folder))


def test_a_client_killed_without_warning_leaves_nothing() -> None:
    plan = str(PLANS / "two-trials.toml")
    before = _campaigns()
    client = subprocess.Popen(
        [*BENCH, "rust-async", "--plan", plan], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_campaign(before, "*/trial-1")
        other = run(*BENCH, "rust-async", "--plan", plan)
        assert other.returncode == 1
        assert "another campaign is measuring" in other.stderr
        client.kill()
        client.wait()
        _wait_until_gone()
    finally:
        for folder in _campaigns() - before:
            run("rm", "-rf", str(folder))


def test_an_image_that_does_not_build(results: Path) -> None:
    done = bench("harness/tests/unbuildable", "--plan", "smoke", TANDEM_RESULTS=str(results))
    assert done.returncode == 1
    assert "the image of app (harness/tests/unbuildable) does not build" in done.stderr
    assert "this line explains the failure" in done.stderr
    assert not bench_containers()


def test_a_container_that_dies(results: Path) -> None:
    plan = str(PLANS / "one-trial.toml")
    done = bench("harness/tests/dying", "--plan", plan, "--json", TANDEM_RESULTS=str(results))
    assert done.returncode == 1
    record = json.loads(done.stdout)
    assert record["verdict"] == "failed"
    assert "the last words of a server" in record["reasons"][0]
    assert record["bottleneck"] is None


def test_a_full_disk(results: Path) -> None:
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

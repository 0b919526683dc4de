"""Commands as a user runs them, for the tests with real containers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLANS = ROOT / "harness/tests/plans"
ONE_TRIAL, TWO_TRIALS = str(PLANS / "one-trial.toml"), str(PLANS / "two-trials.toml")
LAUNCHER = str(ROOT / "harness/run")
"""What `just` calls: the harness in a container of its own."""


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def tandem(*arguments: str, results: Path | None = None, **variables: str) -> tuple[int, Any, str]:
    """Exit status, the JSON of stdout, stderr. results: where the command keeps what it finds."""
    if results is not None:
        variables["TANDEM_RESULTS"] = str(results)
    done = run("python3", "-m", "tandem", *arguments, "--json", **variables)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def containers(*filters: str) -> list[str]:
    flags = [flag for one in filters for flag in ("--filter", one)]
    return run("docker", "ps", "-aq", *flags).stdout.split()


def bench_containers() -> list[str]:
    return containers("label=com.docker.compose.project=tandem-bench")


def codes(record: dict[str, Any]) -> set[str]:
    """The findings of a run, its trials and their windows."""
    trials = record["trials"]
    windows = [trial[load] for trial in trials for load in ("closed", "open") if trial[load]]
    return {finding["code"] for part in (*trials, *windows) for finding in part["findings"]}

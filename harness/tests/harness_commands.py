"""Commands as a user runs them, for the tests with real containers."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness_places import PLANS, ROOT

ONE_TRIAL, TWO_TRIALS = str(PLANS / "one-trial.toml"), str(PLANS / "two-trials.toml")
LAUNCHER = str(ROOT / "harness/run")
"""What `just` calls: the harness in a container of its own."""
TANDEM = ("python3", "-m", "tandem")
"""The harness in the container that the tests are in."""
PATIENCE_S = 400
"""A start and its windows, beside other tests; trials that those disturb are made once more."""


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
    done = run(*TANDEM, *arguments, "--json", **variables)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def words(text: str) -> str:
    """A text without its line breaks: where a message is wrapped depends on the paths in it."""
    return " ".join(text.split())


def printed(record: Path, *options: str) -> str:
    """The words that `tandem report` prints of a result, by its file. A table wraps its cells: with `--markdown` none is."""
    done = run(*TANDEM, "report", str(record.parent), *options)
    assert done.returncode == 0, done.stderr
    return words(done.stdout)


def containers(*filters: str) -> list[str]:
    flags = [flag for one in filters for flag in ("--filter", one)]
    return run("docker", "ps", "-aq", *flags).stdout.split()


def composed(project: str) -> list[str]:
    """The containers that Compose made for a project. Images have the project's label as well, that of who built them
    last, and hand it on to the containers of others: the second label is a container's alone."""
    return containers(f"label=com.docker.compose.project={project}", "label=com.docker.compose.config-hash")


def bench_containers() -> list[str]:
    return composed("tandem-bench")


def wait_until_gone() -> None:
    """Until no measuring command has a container."""
    deadline = time.monotonic() + PATIENCE_S
    while bench_containers():
        assert time.monotonic() < deadline, "containers are left"
        time.sleep(0.5)


def wait_for(pattern: str, folder: Path, process: subprocess.Popen[str], holding: str = "") -> None:
    """Until the folder has a file of that pattern, which the process makes. holding: a text in it."""
    deadline = time.monotonic() + PATIENCE_S
    while not any(not holding or holding in file.read_text() for file in folder.glob(pattern)):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"{pattern} did not appear"
        time.sleep(0.2)


@contextmanager
def started(*command: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """The command, running. One that a failed assertion left behind is ended, so that the next test meets no other."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()  # kill would leave its containers to the next command
            process.communicate(timeout=PATIENCE_S)


def interrupt(process: subprocess.Popen[str]) -> str:
    """Ctrl-C: the process cleans up and ends. Returns its stderr."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    assert not bench_containers()
    return said


def tandem_interrupted(*arguments: str, results: Path, once: str, holding: str = "") -> None:
    """As `tandem`, but interrupted once `results` has a file of that pattern, with that text in it."""
    with started(*TANDEM, *arguments, "--json", TANDEM_RESULTS=str(results)) as process:
        wait_for(once, results, process, holding)
        said = interrupt(process)
    assert "--resume" in said


def trials(folder: Path) -> list[dict[str, Any]]:
    """The trials of a study's folder, in order of time."""
    found = [json.loads(file.read_text()) for file in (folder / "trials").glob("*.json")]
    return sorted(found, key=lambda trial: str(trial["started_at"]))


def window(trial: dict[str, Any], name: str) -> dict[str, Any]:
    """A window of a trial with one variant."""
    [record] = [record for record in trial["windows"] if record["spec"]["name"] == name]
    [found] = record["windows"].values()
    return found  # type: ignore[no-any-return]


def codes(trials: list[dict[str, Any]]) -> set[str]:
    """The findings of trials, their starts and their windows."""
    parts = [*trials, *(start for trial in trials for start in trial["starts"].values())]
    parts += [w for trial in trials for record in trial["windows"] for w in record["windows"].values()]
    return {finding["code"] for part in parts for finding in part["findings"]}

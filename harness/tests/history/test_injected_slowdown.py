"""harness/benchmarks/injected_slowdown: its changes fit today's sources, in their order, once, whatever kills it. The nightly
itself is a stand-in here that notes what it was asked."""

import json
import math
import subprocess
from pathlib import Path

import pytest
from harness_nights import night, point
from harness_places import ROOT

SCRIPT = "harness/benchmarks/injected_slowdown"
EDITED = ("rust-async/src/main.rs", "common/rust/src/handlers.rs")
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
NIGHTLY = """#!/bin/sh
log=$(git log -1 --format=%s)
echo "$log: $*" >>"$LOG"
if [ "$(wc -l <"$LOG")" = "$DIES_AT" ]; then
    [ -z "$BEGAN" ] || mkdir results/2-nightly-killed
    exit 137
fi
mkdir -p results/history/injected/nights results/2-nightly-"$(wc -l <"$LOG")"
echo "$NIGHT" >results/history/injected/nights/"$(wc -l <"$LOG")".json
exit "${STATUS:-0}"
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    found = tmp_path / "repository"
    for name in (SCRIPT, *EDITED):
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).write_text((ROOT / name).read_text())
    (found / SCRIPT).chmod(0o755)
    (found / "harness/run").write_text(NIGHTLY)
    (found / "harness/run").chmod(0o755)
    (found / ".gitignore").write_text("/results/\n")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "base")):
        subprocess.run([*GIT, *command], cwd=found, check=True)
    return found


NIGHT = night(
    0,
    {},
    machine="injected",
    points=[
        point("weather", math.log(617 / 20), implementation="rust-async"),
        point("today", 0.3, implementation="rust-async"),
    ],
).model_dump_json()
"""A file of the history: 2 % of what a request costs the frozen image are 617 ns."""


def call(repository: Path, *arguments: str, **variables: str) -> tuple[int, list[str]]:
    log = repository.parent / "log"
    given = {"PATH": "/usr/bin:/bin", "LOG": str(log), "DIES_AT": "", "BEGAN": "", "NIGHT": NIGHT}
    command: list[str | Path] = [repository / SCRIPT, repository.parent / "clone", *arguments]
    done = subprocess.run(command, env=given | variables, capture_output=True, text=True, check=False)
    return done.returncode, log.read_text().splitlines() if log.exists() else [done.stderr]


def commits(log: list[str]) -> list[str]:
    return [line.partition(":")[0] for line in log]


def test_the_last_forty_nights_are_slow(repository: Path) -> None:
    status, log = call(repository)
    assert status == 0
    found = commits(log)
    first = found.count("base")
    assert 40 <= first <= 60
    assert found == ["base"] * first + ["harmless"] * 10 + ["slow"] * 20 + ["slow-harmless"] * 20
    assert all("--blocks 1 --plan nightly --machine injected" in line for line in log)
    clone = repository.parent / "clone"
    handlers = (clone / EDITED[1]).read_text()
    assert handlers.count("from_nanos(617)") == 1
    assert '"ended: ended: {error}"' in (clone / EDITED[0]).read_text()
    truth = json.loads((clone / "results/history/injected/truth.json").read_text())
    assert (truth["spin_ns"], len({*truth["slow"]})) == (617, 2)
    assert call(repository)[1] == log, "it is done once"


def test_short(repository: Path) -> None:
    status, log = call(repository, "--short")
    assert status == 0
    assert commits(log) == ["base", "harmless", "slow", "slow-harmless"]
    assert all("--blocks 1 --plan smoke" in line for line in log)


@pytest.mark.parametrize(("began", "resumes"), [("", False), ("yes", True)])
def test_it_goes_on_where_it_was_killed(repository: Path, began: str, resumes: bool) -> None:
    """Only a session that was begun can be resumed: else the one before would be taken for it."""
    status, log = call(repository, "--short", DIES_AT="3", BEGAN=began)
    assert (status, commits(log)) == (137, ["base", "harmless", "slow"])
    status, log = call(repository, "--short")
    assert status == 0
    assert commits(log[3:]) == ["slow", "slow-harmless"]
    assert log[3].endswith("--resume") is resumes
    assert not log[4].endswith("--resume")


@pytest.mark.parametrize(("said", "status", "made"), [("3", 0, 4), ("4", 0, 4), ("1", 1, 1), ("130", 130, 1)])
def test_what_a_nightly_ends_with(repository: Path, said: str, status: int, made: int) -> None:
    """A confirmed change and a machine that moved are answers; the rest ends it."""
    found, log = call(repository, "--short", STATUS=said)
    assert (found, len(log)) == (status, made)

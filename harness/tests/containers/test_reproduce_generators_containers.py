"""A tiny run of the kinds `tools` and `connections`, with real containers and real generators."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_commands import bench_containers
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.lab.live import Lines
from tandem.lab.stack import BENCH_PROJECT, Stack
from tandem.record.window import Verdict
from tandem.reproduce.connections import ConnectionsSession
from tandem.reproduce.experiment import Experiment, check
from tandem.reproduce.journal import read_reproduction
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked, Reproduction
from tandem.reproduce.toolrun import installed
from tandem.reproduce.tools import ToolsSession

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
PLAN = {"starts": 1, "warm_up_s": 1, "window_s": 4}


@pytest.fixture
def bench(real: Catalog) -> Iterator[Bench]:
    """Results inside the repository: the engine's host has to see them too."""
    folder = real.root / "results" / ".test-generators"
    folder.mkdir(parents=True, exist_ok=True)
    yield Bench(real, folder, Lines(Console(stderr=True)))
    subprocess.run(["rm", "-rf", folder], check=True)


def experiment(kind: str, rows: dict[str, dict[str, Any]]) -> Experiment:
    table = {
        "name": "tiny",
        "title": "Tiny",
        "origin": "none",
        "published_host": "none",
        "kind": kind,
        "figures": ["goodput_rps"],
        "rows": [{"label": label, "run": run, "smoke": True} for label, run in rows.items()],
        "plans": {"smoke": PLAN, "full": PLAN},
    }
    found = Experiment.model_validate(table)
    check(found)
    return found


def asked(of: Experiment) -> Asked:
    return Asked(experiment=of.name, plan="smoke", digest=of.digest("smoke"), seed=3)


def accounted(found: Reproduction, bench: Bench) -> dict[str, dict[str, float]]:
    """The rows' figures, once it is sure that only a disturbed host may keep one from having any."""
    for row in found.rows:
        [start] = row.starts
        assert start.verdict in (Verdict.OK, Verdict.VOID), f"{row.label}: {start.reason}"
    [folder] = bench.results.glob("*-reproduce-tiny-smoke")
    assert read_reproduction(folder).model_dump_json() == found.model_dump_json()
    assert bench_containers() == []
    return {row.label: {n: m.mean for n, m in row.figures.items()} for row in found.rows if row.figures}


def test_wrk_drill_and_oha_before_two_builds(bench: Bench) -> None:
    hyper = {"implementation": "rust-hyper"}
    tiny = experiment(
        "tools",
        {
            "wrk": {**hyper, "tool": "wrk", "connections": 300, "threads": 2},
            "wrk again": {**hyper, "tool": "wrk", "connections": 300, "threads": 2},
            "oha": {**hyper, "tool": "oha", "connections": 300},
            "drill": {**hyper, "tool": "drill", "connections": 2, "requests": 3_000, "scenario": "users"},
            "debug": {**hyper, "tool": "wrk", "connections": 50, "build": "debug"},
        },
    )
    session = ToolsSession(bench)
    session.check(tiny, "smoke")
    found = session.run(tiny, asked(tiny), resume=False)
    figures = accounted(found, bench)
    for label in figures.keys() & {"wrk", "oha"}:
        assert figures[label]["established"] >= 300
        assert figures[label]["connect_errors"] == 0
        assert figures[label]["mean_ms"] > 0
    if "wrk" in figures:
        assert figures["wrk again"] == figures["wrk"], "one load, two rows"
    if "drill" in figures:
        assert figures["drill"]["requests"] == 3_000
        assert figures["drill"]["errors"] == 0
    images = {name: environment.images["app"] for name, environment in found.environment.items()}
    assert len(set(images.values())) == 2, "the debug build is another image"
    versions = found.environment["rust-hyper"].versions
    assert (versions["drill"], versions["wrk"][:7]) == ("0.9.1", "debian/")
    assert all(row.bottleneck for row in found.rows if row.figures)
    with pytest.raises(UsageError, match="no unfinished"):
        session.run(tiny, asked(tiny), resume=True)


def test_a_ladder_of_connections_and_idle_ones(bench: Bench) -> None:
    sync = {"implementation": "cpp-sync", "thread_each": True}
    tiny = experiment(
        "connections",
        {
            "300": {**sync, "connections": 300},
            "1": {**sync, "connections": 1},
            "idle": {**sync, "connections": 200, "idle": True},
        },
    )
    session = ConnectionsSession(bench)
    session.check(tiny, "smoke")
    found = session.run(tiny, asked(tiny), resume=False)
    figures = accounted(found, bench)
    if "idle" in figures:
        assert figures["idle"]["established"] >= 200
        assert 1 < figures["idle"]["memory_per_idle_kib"] < 1_000, (
            "a thread's touched stack, not its reserved one"
        )
    assert found.rows[0].settings["THREADS"] == "364"
    if "300" in figures:
        assert figures["300"]["established"] >= 300
        [folder] = bench.results.glob("*-reproduce-tiny-smoke")
        assert (folder / "goodput_rps-log.svg").read_text().startswith("<svg")
    if {"1", "300"} <= figures.keys():
        assert figures["300"]["anonymous_memory_mib"] > figures["1"]["anonymous_memory_mib"], (
            "300 threads have stacks"
        )


def test_a_missing_generator_is_told_with_the_remedy(bench: Bench, root: Path) -> None:
    stack = Stack(root, BENCH_PROJECT, {"RAW_FOLDER": str(bench.results)}, bench.results / "compose.env")
    try:
        stack.start(["loadgen"])
        installed(stack, ["wrk", "drill", "oha", "vegeta"])
        with pytest.raises(TandemError, match=r"no wrkk and no drillt: .*build loadgen"):
            installed(stack, ["wrkk", "oha", "drillt"])
    finally:
        stack.down()

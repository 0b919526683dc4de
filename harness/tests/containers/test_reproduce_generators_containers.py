"""A tiny run of other generators and of a ladder of connections, with real containers and real generators."""

from pathlib import Path
from typing import Any

import pytest
from harness_commands import bench_containers, tandem
from harness_places import EXPERIMENTS

from tandem.errors import TandemError
from tandem.lab.generator_runs import installed
from tandem.lab.stack import BENCH_PROJECT, Stack
from tandem.record.result import per_variant

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(600)]


def accounted(name: str, results: Path) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """The result and the rows' figures, once it is sure that only a disturbed host may keep one from having any."""
    _, found, said = tandem("reproduce", str(EXPERIMENTS / f"{name}.toml"), "--seed", "3", results=results)
    assert found["verdict"] in ("ok", "void"), f"{found['reasons']}\n{said}"
    assert bench_containers() == []
    figures: dict[str, dict[str, float]] = {}
    for one in found["conclusions"]["estimates"]:
        if one["mean"] is not None:
            figures.setdefault(one["variant"], {})[one["metric"]] = one["mean"]
    return found, figures


def test_wrk_drill_and_oha_before_two_builds(results: Path) -> None:
    found, figures = accounted("tiny-tools", results)
    for label in figures.keys() & {"wrk", "oha"}:
        assert figures[label]["established"] >= 300
        assert figures[label]["connect_errors"] == 0
        assert figures[label]["mean_ms"] > 0
    if "wrk" in figures:
        assert figures["wrk again"] == figures["wrk"], "one load, two rows"
    if "drill" in figures:
        assert figures["drill"]["requests"] == 3_000
        assert figures["drill"]["errors"] == 0
    environments = per_variant(found["environments"])
    debug, release = (environments[f"rust-hyper {build} index"] for build in ("debug", "release"))
    assert debug["images"]["app"] != release["images"]["app"], "the debug build is another image"
    assert (release["versions"]["drill"], release["versions"]["wrk"][:7]) == ("0.9.1", "debian/")
    assert all(one["limit"] for one in found["conclusions"]["estimates"] if one["mean"] is not None)


def test_a_ladder_of_connections_and_idle_ones(results: Path) -> None:
    found, figures = accounted("tiny-connections", results)
    if "idle" in figures:
        assert figures["idle"]["established"] >= 200
        assert 1 < figures["idle"]["memory_per_idle_kib"] < 1_000, (
            "a thread's touched stack, not its reserved one"
        )
    assert found["conclusions"]["rows"][0]["settings"]["THREADS"] == "364"
    if "300" in figures:
        assert figures["300"]["established"] >= 300
        [folder] = results.glob("*-reproduce-tiny-connections-smoke")
        assert (folder / "goodput_rps-log.svg").read_text().startswith("<svg")
    if {"1", "300"} <= figures.keys():
        assert figures["300"]["anonymous_memory_mib"] > figures["1"]["anonymous_memory_mib"], (
            "300 threads have stacks"
        )


def test_a_missing_generator_is_told_with_the_remedy(results: Path, root: Path) -> None:
    stack = Stack(
        root, BENCH_PROJECT, {"RAW_FOLDER": str(results), "LOADGEN": "all"}, results / "compose.env"
    )
    try:
        stack.start(["loadgen"])
        for there in ("wrk", "drill", "oha", "vegeta"):
            installed(stack, there)
        with pytest.raises(TandemError, match=r"no wrkk: .*LOADGEN=all .*build loadgen"):
            installed(stack, "wrkk")
    finally:
        stack.down()

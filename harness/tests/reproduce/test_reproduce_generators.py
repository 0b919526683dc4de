"""The kinds `tools` and `connections`: their experiments, their checks, their verdicts. No container."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.hosts import HERE, Here
from tandem.lab.live import Lines
from tandem.reproduce import tool_spec
from tandem.reproduce.connections import ConnectionsSession, ConnectionsSpec
from tandem.reproduce.experiment import Experiment, parse_run, published_ratio, read
from tandem.reproduce.kinds import Bench
from tandem.reproduce.limits import PORTS, RESERVED_FILES, Limits, read_limits, refuse_too_many
from tandem.reproduce.tool_spec import ToolSpec
from tandem.reproduce.tools import ToolsSession

ENOUGH = Limits(open_files=20_000, threads=30_000)
LOW = Limits(open_files=5_000, threads=30_000)


@pytest.fixture
def hyper(root: Path) -> Experiment:
    return read(root / "loadgen/experiments/hyper-microservice.toml")


@pytest.fixture
def cpp(root: Path) -> Experiment:
    return read(root / "loadgen/experiments/cpp-connections.toml")


@pytest.fixture
def bench(real: Catalog, tmp_path: Path) -> Bench:
    return Bench(real, tmp_path, Lines(Console(quiet=True)))


# ---- the experiments ----


def test_what_was_published_of_the_microservice(hyper: Experiment) -> None:
    published = {row.label: row.published for row in hyper.rows if row.published}
    assert len(published) == 10, "six runs of wrk and four of drill"
    assert published["wrk -t10, release, v0.2"]["goodput_rps"] == 310_531.78
    assert published["wrk -t1, debug, v0.1"]["connect_errors"] == 8_984
    assert published["drill, 2 at a time, debug"]["goodput_rps"] == 1_322.51
    for values in published.values():
        assert values["requests"] / values["total_s"] == pytest.approx(values["goodput_rps"], rel=0.01)


def test_every_row_of_the_experiments_can_be_run(hyper: Experiment, cpp: Experiment, bench: Bench) -> None:
    for plan in ("smoke", "full"):
        ToolsSession(bench, ENOUGH).check(hyper, plan)
        ConnectionsSession(bench, ENOUGH).check(cpp, plan)


def test_both_smokes_together_take_less_than_five_minutes(
    hyper: Experiment, cpp: Experiment, bench: Bench
) -> None:
    told = ToolsSession(bench, ENOUGH).estimate_s(hyper, "smoke")
    told += ConnectionsSession(bench, ENOUGH).estimate_s(cpp, "smoke")
    assert 60 < told < 300
    assert ToolsSession(bench, ENOUGH).estimate_s(hyper, "full") > 10 * 60


def test_the_levels_and_claims_of_the_connections(cpp: Experiment) -> None:
    specs = [parse_run(cpp, row, ConnectionsSpec) for row in cpp.rows]
    for name in ("cpp-sync", "cpp-async", "node"):
        own = [spec.connections for spec in specs if spec.implementation == name and not spec.idle]
        assert own == [1, 10, 100, 1_000, 2_500, 5_000, 7_000, 10_000]
        assert sum(spec.idle for spec in specs if spec.implementation == name) == 2
    assert {spec.thread_each for spec in specs if spec.implementation == "cpp-sync"} == {True}
    assert not any(spec.thread_each for spec in specs if spec.implementation != "cpp-sync")
    ratios = [published_ratio(cpp, claim) for claim in cpp.claims]
    assert ratios[:2] == [1.18, 0.81], "the text tells two ratios and no figure"
    assert [claim.says for claim in cpp.claims[2:]] == ["more", "more", "same", "more", "more"]


# ---- checks before the start ----


def test_a_low_descriptor_limit_is_told_with_what_fits(
    hyper: Experiment, cpp: Experiment, bench: Bench
) -> None:
    for session, experiment in ((ToolsSession(bench, LOW), hyper), (ConnectionsSession(bench, LOW), cpp)):
        with pytest.raises(UsageError, match=r"10,000 connections do not fit.*5,000 files.*enough for 4,900"):
            session.check(experiment, "full")
    ConnectionsSession(bench, Limits(7_100, 30_000)).check(cpp, "smoke")
    with pytest.raises(UsageError, match="7,000 connections"):
        ConnectionsSession(bench, Limits(7_099, 30_000)).check(cpp, "smoke")


def test_too_few_threads_for_a_thread_per_connection(cpp: Experiment, bench: Bench) -> None:
    with pytest.raises(UsageError, match=r"10,064 connections does not fit.*9,000"):
        ConnectionsSession(bench, Limits(20_000, 9_000)).check(cpp, "full")


def test_what_fits() -> None:
    assert Limits(20_000, 0).connections == 20_000 - RESERVED_FILES
    assert Limits(10**6, 0).connections == PORTS, "one address has so many source ports"
    assert Limits(10, 0).connections == 0
    refuse_too_many(19_900, Limits(20_000, 0))
    with pytest.raises(UsageError):
        refuse_too_many(19_901, Limits(20_000, 0))


def test_the_hosts_own_limits(tmp_path: Path) -> None:
    for name, value in (
        ("kernel/threads-max", 50_000),
        ("kernel/pid_max", 32_768),
        ("vm/max_map_count", 65_530),
    ):
        (tmp_path / "sys" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "sys" / name).write_text(f"{value}\n")
    host = Here(proc=tmp_path)
    assert read_limits(host).threads == 30_768
    (tmp_path / "sys/vm/max_map_count").write_text("8000\n")
    assert read_limits(host).threads == 4_000
    assert read_limits(HERE).open_files > 0


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"tool": "ab", "connections": 1}, "run -> tool"),
        ({"tool": "wrk", "connections": 0}, "run -> connections"),
        ({"tool": "drill", "connections": 2}, "needs `requests`"),
        ({"tool": "drill", "connections": 20, "requests": 10}, "20 iterations at least"),
        ({"tool": "wrk", "connections": 2, "threads": 4}, "each of its 4 threads"),
        ({"tool": "wrk", "connections": 2, "implementation": "rust-hypr"}, "Did you mean 'rust-hyper'"),
        (
            {"tool": "wrk", "connections": 2, "implementation": "node", "scenario": "users"},
            "does not support users",
        ),
    ],
)
def test_rows_that_cannot_be_run(hyper: Experiment, bench: Bench, run: dict[str, Any], told: str) -> None:
    row = hyper.rows[0].model_copy(update={"run": run})
    wrong = hyper.model_copy(update={"rows": [row]})
    with pytest.raises(UsageError, match=told):
        ToolsSession(bench, ENOUGH).check(wrong, "full")


def test_smoke_makes_fewer_requests_by_drill(hyper: Experiment) -> None:
    spec = ToolSpec(tool="drill", implementation="rust-hyper", connections=10, requests=1_000_000)
    assert tool_spec.asked_requests(spec, hyper.plans.full) == 1_000_000
    assert tool_spec.asked_requests(spec, hyper.plans.smoke) == 24_000
    assert spec.settings(hyper.plans.smoke)["requests"] == "24000"
    ramped = spec.model_copy(update={"rampup_s": 10, "connections": 2})
    assert tool_spec.asked_requests(ramped, hyper.plans.smoke) == 3_600


def test_rows_of_both_versions_are_one_load(hyper: Experiment) -> None:
    specs = {row.label: parse_run(hyper, row, ToolSpec) for row in hyper.rows}
    assert specs["wrk -t1, release, v0.2"] == specs["wrk -t1, release, v0.1"]
    assert specs["wrk -t1, release, v0.2"] != specs["wrk -t1, debug, v0.1"]
    assert {spec.group for spec in specs.values()} == {("rust-hyper", "release"), ("rust-hyper", "debug")}

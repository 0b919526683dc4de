"""The kinds `tools` and `connections`: their experiments, their checks, their trials. No container."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.hosts import HERE, Here, Host
from tandem.lab.limits import (
    PORTS,
    RESERVED_FILES,
    RESERVED_THREADS,
    Limits,
    read_limits,
    refuse_on_any,
    refuse_too_many,
)
from tandem.lab.sites import ALONE, EngineSite, Local, Sites, as_role
from tandem.studies.reproduce import tools
from tandem.studies.reproduce.command import estimate_s
from tandem.studies.reproduce.connections import ConnectionsRows, ConnectionsSpec
from tandem.studies.reproduce.experiment import Experiment, PlanName, parse_run, published_ratio, read
from tandem.studies.reproduce.kinds import trims_s
from tandem.studies.reproduce.study import Reproduce, request_for, rows_of
from tandem.studies.reproduce.tools import ToolSpec, ToolsRows

PLANS: tuple[PlanName, ...] = ("smoke", "core", "wide", "full")
ENOUGH = Limits(open_files=20_000, threads=30_000)
LOW = Limits(open_files=5_000, threads=30_000)


@pytest.fixture
def hyper(root: Path) -> Experiment:
    return read(root / "loadgen/experiments/hyper-microservice.toml")


@pytest.fixture
def cpp(root: Path) -> Experiment:
    return read(root / "loadgen/experiments/cpp-connections.toml")


def check_limits(catalog: Catalog, experiment: Experiment, plan: PlanName, limits: Limits) -> None:
    """As the laboratory does, with the limits of one host."""
    request = request_for(catalog, experiment.name, experiment, plan, 2, 1)
    for connections, threads in Reproduce(catalog, request).holds:
        refuse_too_many(connections, limits, threads)


# ---- the experiments ----


def test_what_was_published_of_the_microservice(hyper: Experiment) -> None:
    published = {row.label: row.published for row in hyper.rows if row.published}
    assert len(published) == 10, "six runs of wrk and four of drill"
    assert published["wrk -t10, release, v0.2"]["goodput_rps"] == 310_531.78
    assert published["wrk -t1, debug, v0.1"]["connect_errors"] == 8_984
    assert published["drill, 2 at a time, debug"]["goodput_rps"] == 1_322.51
    for values in published.values():
        assert values["requests"] / values["total_s"] == pytest.approx(values["goodput_rps"], rel=0.01)


def test_every_row_of_the_experiments_can_be_run(hyper: Experiment, cpp: Experiment, real: Catalog) -> None:
    for plan in PLANS:
        for own in (hyper, cpp):
            rows = rows_of(real, own, plan, 2)
            assert [row.label for row in rows.rows] == [row.label for row in own.measured(plan)]
            made = {label for group in rows.groups for label in rows.labels(group)}
            assert made == {row.label for row in rows.rows}, "each row is measured"
            check_limits(real, own, plan, ENOUGH)


def test_both_smokes_together_take_less_than_five_minutes(
    hyper: Experiment, cpp: Experiment, real: Catalog
) -> None:
    told = estimate_s(real, hyper, "smoke") + estimate_s(real, cpp, "smoke")
    assert 60 < told < 300
    assert estimate_s(real, hyper, "full") > 10 * 60


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
    hyper: Experiment, cpp: Experiment, real: Catalog
) -> None:
    for experiment in (hyper, cpp):
        with pytest.raises(UsageError, match=r"10,000 connections do not fit.*5,000 files.*enough for 4,900"):
            check_limits(real, experiment, "full", LOW)
    check_limits(real, cpp, "smoke", Limits(7_100, 30_000))
    with pytest.raises(UsageError, match="7,000 connections"):
        check_limits(real, cpp, "smoke", Limits(7_099, 30_000))


def test_too_few_threads_for_a_thread_per_connection(cpp: Experiment, real: Catalog) -> None:
    with pytest.raises(UsageError, match=r"10,064 connections does not fit.*9,000"):
        check_limits(real, cpp, "full", Limits(20_000, 9_000))


class TwoHosts(Sites):
    """A generator's host and the application's."""

    def __init__(self, generator: Here, application: Here) -> None:
        self.places = {"loadgen": generator, "app": application}

    def of(self, service: str) -> EngineSite:
        role = as_role(service)
        return AHost(role, "192.0.2.1", of=self.places[role])


@dataclass(frozen=True)
class AHost(Local):
    """A place on a lab's network."""

    of: Host = HERE

    @property
    def host(self) -> Host:
        return self.of


def host_with(threads: int, folder: Path) -> Here:
    """One whose kernel gives so many; open files are this machine's."""
    for name in ("kernel/threads-max", "kernel/pid_max", "vm/max_map_count"):
        (folder / "sys" / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / "sys" / name).write_text(f"{2 * threads + RESERVED_THREADS}\n")
    return Here(proc=folder)


def test_in_a_lab_each_host_has_limits_of_its_own(tmp_path: Path) -> None:
    few, many = host_with(1_000, tmp_path / "few"), host_with(20_000, tmp_path / "many")
    refuse_on_any(500, 5_000, 1, TwoHosts(few, many))
    with pytest.raises(UsageError, match=r"host app: a thread for each of 5,000 connections"):
        refuse_on_any(500, 5_000, 1, TwoHosts(many, few))
    fits = read_limits(HERE).connections
    with pytest.raises(UsageError, match=rf"host loadgen: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"host app: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 2, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"^{fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, ALONE)


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
        ({"tool": "drill", "connections": 20, "requests": 10}, "at least 20 iterations"),
        ({"tool": "wrk", "connections": 2, "threads": 4}, "each of its 4 threads"),
        ({"tool": "wrk", "connections": 2, "implementation": "rust-hypr"}, "Did you mean 'rust-hyper'"),
        (
            {"tool": "wrk", "connections": 2, "implementation": "node", "scenario": "users"},
            "does not support users",
        ),
    ],
)
def test_rows_that_cannot_be_run(hyper: Experiment, real: Catalog, run: dict[str, Any], told: str) -> None:
    row = hyper.rows[0].model_copy(update={"run": run})
    wrong = hyper.model_copy(update={"rows": [row]})
    with pytest.raises(UsageError, match=told):
        ToolsRows(real, wrong, "full", 2)


def test_smoke_makes_fewer_requests_by_drill(hyper: Experiment) -> None:
    spec = ToolSpec(tool="drill", implementation="rust-hyper", connections=10, requests=1_000_000)
    assert tools.asked_requests(spec, hyper.plans.full) == 1_000_000
    assert tools.asked_requests(spec, hyper.plans.smoke) == 24_000
    assert spec.settings(hyper.plans.smoke)["requests"] == "24000"
    ramped = spec.model_copy(update={"rampup_s": 10, "connections": 2})
    assert tools.asked_requests(ramped, hyper.plans.smoke) == 3_600


def test_rows_of_both_versions_are_one_load(hyper: Experiment) -> None:
    specs = {row.label: parse_run(hyper, row, ToolSpec) for row in hyper.rows}
    assert specs["wrk -t1, release, v0.2"] == specs["wrk -t1, release, v0.1"]
    assert specs["wrk -t1, release, v0.2"] != specs["wrk -t1, debug, v0.1"]
    assert {spec.group for spec in specs.values()} == {
        "rust-hyper release index",
        "rust-hyper debug index",
        "rust-hyper release users",
    }


def test_one_load_is_made_once_in_a_start(hyper: Experiment, real: Catalog) -> None:
    rows = ToolsRows(real, hyper, "full", 2)
    assert "wrk -t1, release, v0.1" not in rows.groups["rust-hyper release index"]
    assert "wrk -t1, release, v0.1" in rows.labels("rust-hyper release index")
    assert {one.label: one.build for one in rows.variants} == {
        "rust-hyper release index": None,
        "rust-hyper debug index": "debug",
        "rust-hyper release users": None,
    }


def test_what_a_tool_is_told_stands_in_its_window(hyper: Experiment, real: Catalog) -> None:
    rows = ToolsRows(real, hyper, "smoke", 2)
    windows = {
        w.name: w for block in rows.outline(7, [list(rows.groups)]) for spec in block for w in spec.windows
    }
    wrk = (
        windows["wrk-t10-release-v0.2"]
        if "wrk-t10-release-v0.2" in windows
        else windows["wrk--t10-release-v0.2"]
    )
    assert (wrk.generator, wrk.generator_options, wrk.seconds) == ("wrk", {"threads": 10}, 5)
    assert wrk.scenario_changes == {"connections": 10_000}
    drill = windows["drill-2-at-a-time-release"]
    assert drill.generator_options == {"requests": 3_600, "rampup_s": 10, "quiet": True}
    assert drill.seconds == 3, "about how long its requests take"
    oha = windows["oha-release"]
    assert (oha.generator, oha.seconds, oha.trim_start_s) == ("oha", 9, 5.5), "connections are opened first"


def test_a_ladder_ascends_and_silent_connections_have_a_start_of_their_own(
    cpp: Experiment, real: Catalog
) -> None:
    rows = ConnectionsRows(real, cpp, "full", 2)
    assert {one.label: one.settings for one in rows.variants} == {
        "cpp-sync": {"THREADS": "10064"},
        "cpp-async": {},
        "node": {},
    }
    for spec in rows.outline(7, [list(rows.groups)])[0]:
        idle = spec.name.endswith("-idle")
        name = "idle_connections" if idle else "connections"
        levels = [window.scenario_changes[name] for window in spec.windows]
        assert levels == sorted(levels)
        assert {window.generator for window in spec.windows} == {"silent" if idle else "oha"}


def test_a_window_of_which_no_figure_is_left_is_refused() -> None:
    assert trims_s(3, (1.5, 0.5), (2.0, 1.0)) == (1.5, 0.5)
    with pytest.raises(UsageError, match="window_s = 2 is too short"):
        trims_s(2, (1.5, 0.5), (2.0, 1.0))

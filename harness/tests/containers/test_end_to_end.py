"""A bench as a user runs it, with real containers: an honest application, a liar and one that dies, in turn."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, bench_containers, codes, run, trials, window

from tandem.analysis.histogram import curve, recorded
from tandem.load.generator import OHA
from tandem.load.vegeta import VEGETA
from tandem.record.result import per_variant

pytestmark = pytest.mark.docker

HONEST, LIAR, DYING = "rust-async", "contract/broken", "harness/tests/dying"
SENT_BY = {"closed": OHA, "open": VEGETA}
"""Arrivals of an open loop are at random."""
TODAY = {"postgresql": (17, 99), "pgbouncer": (1, 24), "haproxy": (3, 0)}
"""The generation of the services of Debian 13."""
FAR_MS = 8 * 15
"""What eight statements wait for a database that is 15 ms away (test_far_away.py)."""


@dataclass(frozen=True)
class Benched:
    done: subprocess.CompletedProcess[str]
    result: dict[str, Any]
    folder: Path

    def estimates(self, variant: str) -> dict[str, dict[str, Any]]:
        """By metric."""
        every = self.result["conclusions"]["estimates"]
        return {one["metric"]: one for one in every if one["variant"] == variant}

    def trials(self, label: str) -> list[dict[str, Any]]:
        return [trial for trial in trials(self.folder) if trial["spec"]["variants"] == [label]]


@pytest.fixture(scope="module")
def benched(kept: Path) -> Benched:
    done = run(
        *("python3", "-m", "tandem", "bench", HONEST, LIAR, DYING, "--plan", ONE_TRIAL, "--json"),
        TANDEM_RESULTS=str(kept),
        FAULT="cached",
    )
    assert done.stdout, done.stderr
    [file] = kept.glob("*/result.json")
    return Benched(done, json.loads(done.stdout), file.parent)


def test_a_bench_ends_with_a_record(benched: Benched) -> None:
    found_of = benched.estimates(HONEST)
    rate = found_of["goodput_rps"]
    assert rate["verdict"] in ("ok", "void"), benched.done.stderr
    assert json.loads((benched.folder / "result.json").read_text()) == benched.result
    assert benched.result["id"] == benched.folder.name
    trial = benched.trials(HONEST)[-1]
    raw = benched.folder / "raw" / (trial["spec"]["name"] + ("" if trial["spec"]["attempt"] == 1 else ".2"))
    closed, opened = window(trial, "closed"), window(trial, "open")
    assert closed["goodput_rps"] > 0
    assert closed["statements"]["reactions"]["calls"] == pytest.approx(
        closed["good"] + closed["probes"], rel=0.005
    )
    assert closed["proxy"]["responses_2xx"] == pytest.approx(closed["good"] + closed["probes"], rel=0.005)
    assert 0 < closed["app_system_cpu_us_per_request"] < closed["app_cpu_us_per_request"]
    assert closed["app_context_switches_per_request"] > 0
    assert closed["app_memory_peak_bytes"] > 2**20
    assert opened["offered_rps"] == int(closed["goodput_rps"] * 0.5)
    assert opened["response_time_ms"]["p50"] >= opened["service_time_ms"]["p50"] * 0.9
    assert trial["starts"][HONEST]["warm_up_requests"] > 0
    assert [phase["name"] for phase in trial["phases"]][-3:] == ["drain", "collect", "stop"]
    for name, found in (("closed", closed), ("open", opened)):
        assert found["rows_2xx"] == found["reported_2xx"] == found["requests"]
        assert found["utilisation_bound_rps"] * 1.06 > found["goodput_rps"]
        table = found["per_second"]
        assert table["second"] == [1, 2]  # whole seconds between 0.5 and 3.5
        ends_s = SENT_BY[name].read(raw, name)[0].end_s
        assert table["good"] == [int(((ends_s >= n) & (ends_s < n + 1)).sum()) for n in (1, 2)], (
            "all are right"
        )
        host = found["host"]
        assert abs(host["clock_drift_ms"]) < 1000
        assert host["clock_changed"] is False
        assert host["hiccup"]["samples"] > 100
        assert host["hiccup"]["cpu_cores"] < 0.05
        _, counts = recorded(found["service_time_hdr"])
        assert counts.sum() == found["service_time_ms"]["samples"]
        [(_, p50)] = curve([found["service_time_hdr"]], [0.5])
        assert p50 == pytest.approx(found["service_time_ms"]["p50"], rel=0.002)
    environment = per_variant(benched.result["environments"])[HONEST]
    assert environment["images"].keys() >= {"app", "db", "pgbouncer", "proxy", "loadgen"}
    configuration = environment["configuration"]
    assert "pool_mode" in configuration["pgbouncer"]
    assert "shared_buffers" in configuration["postgresql"]
    assert "backend app" in configuration["haproxy.cfg"]
    assert "DB_POOL_MAX=20" in configuration["app environment"].splitlines()
    assert json.loads(configuration["plan"])["closed_s"] == 4
    assert json.loads(configuration["scenario"])["name"] == "recipes"
    assert configuration["tier"] == "core"
    assert configuration["haproxy maxconn"] == "40"
    assert benched.result["baselines"]["selftest"].startswith("self-test: ")
    if rate["verdict"] == "ok":
        assert rate["mean"] == pytest.approx(closed["goodput_rps"], rel=1e-4)
        assert found_of["response_time_p50_ms"]["mean"] > 0
        assert rate["limit"]
    log = (raw / "psrecord.log").read_text().splitlines()
    assert log[0].split() == ["#", "Elapsed", "time", "CPU", "(%)", "Real", "(MB)", "Virtual", "(MB)"]
    assert len(log) > 10
    assert (raw / "app.log").is_file()
    assert "IMPL=rust-async" in (benched.folder / "variants/rust-async/compose.env").read_text()
    assert not bench_containers()


def test_without_a_latency_proxy_there_is_none(benched: Benched) -> None:
    """The control of test_far_away.py: what was not asked for is not there."""
    closed = window(benched.trials(HONEST)[0], "closed")
    assert closed["db_rtt_ms"] is None
    assert closed["answer_ms_min"] < FAR_MS, "the quickest: the mean is that of a busy host"
    assert "faults" not in closed["roles"]
    environment = per_variant(benched.result["environments"])[HONEST]
    assert "faults" not in environment["images"]
    assert environment["variables"]["DATABASE_ADDRESS"] == "pgbouncer:6432"


def test_a_liar_is_invalid_and_has_no_figures(benched: Benched) -> None:
    [rate] = benched.estimates(LIAR).values()
    assert benched.done.returncode == 1
    assert benched.result["verdict"] == "failed", "the worst of all"
    assert rate["verdict"] == "invalid", rate["reasons"]
    assert "sql-mismatch" in codes(benched.trials(LIAR))
    assert rate["mean"] is None
    # The same lie from a server that does not know it is none.
    assert not codes(benched.trials(HONEST)) & {"sql-mismatch", "sql-extra", "wrong-body"}


def test_a_container_that_dies(benched: Benched) -> None:
    [rate] = benched.estimates(DYING).values()
    assert rate["verdict"] == "failed"
    assert "the last words of a server" in rate["reasons"][0]
    assert "limit" not in rate


def test_clients_that_close_their_connections_and_give_up(tmp_path: Path) -> None:
    """One in ten of them opens a connection to the application, and nobody holds that against it."""
    command = ("python3", "-m", "tandem", "bench", HONEST, "--topology", "direct", "--plan", ONE_TRIAL)
    clients = "timeout=1s,retries=1,requests-per-connection=10"
    done = run(*command, "--clients", clients, "--json", TANDEM_RESULTS=str(tmp_path))
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] in ("ok", "void"), found["reasons"]
    [file] = tmp_path.glob("*/result.json")
    for trial in trials(file.parent):
        for name in ("closed", "open"):
            made = window(trial, name)
            assert made["retried"] is not None
            assert made["connections_opened"] > made["good"] / 20
    assert (
        "one in 10 closes its connection" in run("python3", "-m", "tandem", "report", str(file.parent)).stdout
    )


@pytest.mark.weekly
def test_a_bench_on_services_of_the_next_release(tmp_path: Path) -> None:
    """They are built beside today's, and their work is counted as theirs."""
    command = (
        "python3",
        "-m",
        "tandem",
        "bench",
        HONEST,
        "--plan",
        ONE_TRIAL,
        "--services",
        "forky",
        "--json",
    )
    done = run(*command, TANDEM_RESULTS=str(tmp_path))
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] in ("ok", "void"), done.stderr
    environment = per_variant(found["environments"])[HONEST]
    told = environment["versions"]
    generation = {name: tuple(map(int, re.findall(r"\d+", told[name])[:2])) for name in TODAY}
    assert all(generation[name] > today for name, today in TODAY.items()), generation
    [file] = tmp_path.glob("*/result.json")
    for trial in trials(file.parent):
        counted = window(trial, "closed")["statements"]
        assert counted["reactions"]["calls"] > 0
        assert window(trial, "closed")["wal_syncs"] is not None
    assert not bench_containers()

"""A campaign as a user runs it, with real containers: an honest application, a liar and one that dies, in turn."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, bench_containers, codes, run

from tandem.analysis.histogram import merge
from tandem.load.rows import read_rows

pytestmark = pytest.mark.docker

HONEST, LIAR, DYING = "rust-async", "contract/broken", "harness/tests/dying"
FAR_MS = 8 * 15
"""What eight statements wait for a database that is 15 ms away (test_far_away.py)."""


@dataclass(frozen=True)
class Campaign:
    done: subprocess.CompletedProcess[str]
    records: dict[str, dict[str, Any]]
    """By implementation."""
    folder: Path


@pytest.fixture(scope="module")
def campaign(kept: Path) -> Campaign:
    done = run(
        *("python3", "-m", "tandem", "bench", HONEST, LIAR, DYING, "--plan", ONE_TRIAL, "--json"),
        TANDEM_RESULTS=str(kept),
        FAULT="cached",
    )
    assert done.stdout, done.stderr
    return Campaign(done, {record["implementation"]: record for record in json.loads(done.stdout)}, kept)


def test_a_campaign_ends_with_a_record(campaign: Campaign) -> None:
    record = campaign.records[HONEST]
    assert record["verdict"] in ("ok", "void"), campaign.done.stderr
    [file] = campaign.folder.glob("*/rust-async.recipes.full/run.json")
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
        ends_s = read_rows(file.parent / f"trial-1/{window['load']}.sqlite").end_s
        assert table["good"] == [int(((ends_s >= n) & (ends_s < n + 1)).sum()) for n in (1, 2)], (
            "all are right"
        )
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


def test_without_a_latency_proxy_there_is_none(campaign: Campaign) -> None:
    """The control of test_far_away.py: what was not asked for is not there."""
    record = campaign.records[HONEST]
    closed = record["trials"][0]["closed"]
    assert closed["db_rtt_ms"] is None
    assert closed["service_time_ms"]["mean"] < FAR_MS
    assert "faults" not in closed["roles"]
    assert "faults" not in record["environment"]["images"]
    assert record["environment"]["variables"]["DATABASE_ADDRESS"] == "pgbouncer:6432"


def test_a_liar_is_invalid_and_has_no_figures(campaign: Campaign) -> None:
    record = campaign.records[LIAR]
    assert campaign.done.returncode == 1
    assert record["verdict"] == "invalid", record["reasons"]
    assert "sql-mismatch" in codes(record)
    assert record["summary"]["goodput_rps"] is None
    # The same lie from a server that does not know it is none.
    assert not codes(campaign.records[HONEST]) & {"sql-mismatch", "sql-extra", "wrong-body"}


def test_a_container_that_dies(campaign: Campaign) -> None:
    record = campaign.records[DYING]
    assert record["verdict"] == "failed"
    assert "the last words of a server" in record["reasons"][0]
    assert record["bottleneck"] is None

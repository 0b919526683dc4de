"""A bench over three hosts, each a container with a Docker engine and an SSH server of its own.

They are one machine in truth: each counts what the others use as foreign, so no verdict is ok here.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, TANDEM, run, trials, window
from harness_nested import AHEAD_S, NestedLab, nested

from tandem.record.result import per_variant

pytestmark = pytest.mark.docker

ROLES = {"data": ["db", "pgbouncer", "loadgen"], "work": ["app", "proxy"], "load": ["loadgen"]}
"""Two hosts have a generator: a load is dealt out to both."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedLab]:
    with nested(tmp_path_factory.mktemp("lab"), *ROLES) as found:
        yield found


@pytest.fixture(scope="module")
def file(hosts: NestedLab) -> str:
    return str(hosts.write("three", ROLES))


def ours(hosts: NestedLab, what: str) -> dict[str, str]:
    """What of ours each host has."""
    return {
        name: host.sh(f"docker {what} --filter label=dev.tandem -q") for name, host in hosts.hosts.items()
    }


NOTHING = dict.fromkeys(ROLES, "")


def test_a_bench_over_three_hosts_is_a_record_like_any_other(
    hosts: NestedLab, file: str, tmp_path: Path
) -> None:
    done = run(
        *(*TANDEM, "bench", "rust-async", "--lab", file, "--plan", ONE_TRIAL, "--json"),
        TANDEM_RESULTS=str(tmp_path),
    )
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)
    [folder] = [found.parent for found in tmp_path.glob("*/result.json")]
    trial = trials(folder)[-1]
    closed, opened = window(trial, "closed"), window(trial, "open")
    assert closed["goodput_rps"] > 0
    assert closed["statements"]["reactions"]["calls"] == pytest.approx(
        closed["good"] + closed["probes"], rel=0.005
    )
    assert closed["proxy"]["responses_2xx"] == pytest.approx(closed["good"] + closed["probes"], rel=0.005)
    assert closed["tap"]["compared"] > 0
    assert closed["tap"]["wrong"] == 0
    assert closed["app_cpu_us_per_request"] > 0
    for made in (closed, opened):
        assert [one["role"] for one in made["generators"]] == ["loadgen", "loadgen-2"]
        assert all(one["requests"] > 0 and one["problem"] is None for one in made["generators"])
    assert opened["lateness_ms"]["p50"] < 1000
    cpus = os.cpu_count() or 1
    cores = {role: closed["roles"][role]["cores_available"] for role in ("db", "app", "loadgen")}
    assert cores == {"db": cpus, "app": cpus, "loadgen": 2 * cpus}
    sets = {closed["roles"][role]["cpuset"] for role in ("db", "app")}
    assert len(sets) == 2, "the CPUs of another host are other CPUs"
    assert list((folder / "raw").rglob("psrecord.log")), "it came home"
    told = per_variant(result["environments"])["rust-async"]["hosts"]
    assert {name: host["roles"] for name, host in told.items()} == {
        name: ", ".join(roles) for name, roles in ROLES.items()
    }
    assert all(abs(host["clock_ahead_ms"]) < 5 for host in told.values())
    assert 0 < told["load"]["handshake_loadgen_to_proxy_ms"] < 100
    assert all(host["kernel"] for host in told.values())
    assert "ssh" not in json.dumps(result["environments"]), (
        "where the engines are reached is nobody's business"
    )
    assert ours(hosts, "ps -a") == NOTHING
    assert ours(hosts, "network ls") == NOTHING
    assert ours(hosts, "volume ls") == NOTHING


@pytest.mark.weekly
@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "rust-async", "--over", "connections=4,16", "--rounds", "2", "--plan", "smoke"),
        ("ceiling", "rust-async", "--plan", "smoke"),
        ("crosscheck", "rust-async", "--pairs", "3", "--window", "4"),
        ("capacity", "rust-async", "--scenario", "index", "--plan", "smoke", "--longest", "5"),
        ("explain", "rust-async:DB_PREPARE=0", "rust-async", "--blocks", "2"),
        ("bench", "rust-async", "--questions", "--plan", ONE_TRIAL),
        ("crossover", "rust-sync", "rust-async", "--wait", "0,5ms", "--connections", "8", "--rounds", "2"),
        ("reproduce", "sync-to-async-python"),
        ("nightly", "rust-async", "--scenario", "index", "--blocks", "1", "--plan", "smoke"),
    ],
    ids=lambda command: command[0],
)
def test_what_the_other_commands_measure_is_measured_there(
    hosts: NestedLab, file: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    if command[0] in ("explain", "crossover", "reproduce"):  # they have to know the application's CPUs before
        file = str(hosts.write("told", ROLES, {"work": {"app": "1", "proxy": "0"}}))
    done = run(*TANDEM, *command, "--lab", file, "--json", TANDEM_RESULTS=str(tmp_path))
    assert done.stdout, done.stderr
    [folder] = [found.parent for found in tmp_path.glob("*/result.json")]
    loaded = [record for trial in trials(folder) for record in trial["windows"]]
    assert loaded, done.stderr
    made = [one for record in loaded for one in record["windows"].values()]
    assert all(one["goodput_rps"] > 0 for one in made)
    for far in filter(None, (one.get("db_rtt_ms") for one in made)):
        assert far["setting"] <= far["before_p50"] < far["setting"] + 5, "what is asked over SSH is not in it"
    told = json.loads(done.stdout)
    told = per_variant(told.get("result", told)["environments"]).values()
    assert all(set(one["hosts"]) == set(ROLES) for one in told)
    assert ours(hosts, "ps -a") == NOTHING


@pytest.mark.weekly
def test_several_applications_are_up_side_by_side_there_and_take_turns(
    hosts: NestedLab, file: str, tmp_path: Path
) -> None:
    done = run(
        *(*TANDEM, "compare", "rust-async", "node", "--lab", file, "--plan", "smoke", "--json"),
        TANDEM_RESULTS=str(tmp_path),
    )
    assert done.stdout, done.stderr
    [folder] = [found.parent for found in tmp_path.glob("*/result.json")]
    loaded = [record for trial in trials(folder) for record in trial["windows"]]
    sliced = [record for record in loaded if record["spec"]["slices"]]
    assert sliced, done.stderr
    both = {"rust-async", "rust-async~2", "node"}
    for record in loaded:
        assert set(record["windows"]) == set(record["spec"]["variants"])
        for made in record["windows"].values():
            assert made["goodput_rps"] > 0
            assert made["tap"]["wrong"] == 0
            assert made["app_cpu_us_per_request"] > 0
            assert made["verdict"] != "invalid", made["findings"]
    for record in sliced:
        assert set(record["windows"]) == both
    assert ours(hosts, "ps -a") == NOTHING


@pytest.mark.weekly
def test_nothing_is_heard_beyond_the_labs_address(hosts: NestedLab, file: str) -> None:
    """Seen while it runs; then the command is killed, and `down` leaves nothing."""
    process = subprocess.Popen(
        [*TANDEM, "bench", "rust-async", "--lab", file, "--plan", ONE_TRIAL],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    work = hosts.hosts["work"]
    deadline = time.monotonic() + 300
    while f"{work.address}:8080" not in (published := work.sh("docker ps --format '{{.Ports}}'")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(1)
    heard = [one.strip() for line in published.splitlines() for one in line.split(",") if "->" in one]
    assert {one.rpartition(":")[0] for one in heard} <= {work.address, "127.0.0.1"}
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = run(*TANDEM, "down", "--lab", file)
    assert done.returncode == 0, done.stderr
    for what in ("ps -a", "network ls", "volume ls"):
        assert ours(hosts, what) == NOTHING
    assert "it was clean" in run(*TANDEM, "down", "--lab", file).stdout


@pytest.mark.weekly
def test_a_host_whose_clock_is_ahead_is_measured_by_this_machines(tmp_path: Path) -> None:
    """One of two generators begins by a clock that is 300 ms ahead; `generators-apart` finds those that begin 100 ms apart."""
    with nested(tmp_path, *ROLES, ahead={"load"}) as hosts:
        done = run(
            *(*TANDEM, "bench", "rust-async", "--plan", ONE_TRIAL, "--json"),
            *("--lab", str(hosts.write("three", ROLES))),
            TANDEM_RESULTS=str(tmp_path / "results"),
        )
    assert done.stdout, done.stderr
    told = per_variant(json.loads(done.stdout)["environments"])["rust-async"]["hosts"]
    ahead_ms = {name: host["clock_ahead_ms"] for name, host in told.items()}
    assert ahead_ms == pytest.approx({"data": 0, "work": 0, "load": AHEAD_S * 1e3}, abs=5)
    [folder] = [found.parent for found in (tmp_path / "results").glob("*/result.json")]
    for trial in trials(folder):
        for made in (window(trial, "closed"), window(trial, "open")):
            assert len(made["generators"]) == 2
            assert "generators-apart" not in {finding["code"] for finding in made["findings"]}
            assert made["goodput_rps"] > 0

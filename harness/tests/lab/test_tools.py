"""tandem.lab.pgbench, examine_lab, file_io and generator_runs: what pgbench, sockperf and iperf3 print, what is removed when a run
is interrupted, and soft limits of open files."""

import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from python_on_whales.exceptions import NoSuchContainer

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.judge.fitness import Between
from tandem.lab import generator_runs
from tandem.lab.examine_lab import read_network
from tandem.lab.file_io import FileIoContainer
from tandem.lab.pgbench import PARAMETERS, Transactions, parse, script

SUMMARY = """\
pgbench (17.6 (Debian 17.6-0+deb13u1))
transaction type: /script.sql
scaling factor: 1
query mode: prepared
number of clients: 20
number of threads: 1
maximum number of tries: 1
duration: 8 s
number of transactions actually processed: 9701
number of failed transactions: 0 (0.000%)
latency average = 16.402 ms
initial connection time = 11.934 ms
tps = 1219.331874 (without initial connection time)
"""
QUERIES = "contract/sql/queries"


def test_the_rate_is_read_from_the_summary() -> None:
    assert parse(SUMMARY) == Transactions(1219.331874, 0)
    assert parse(SUMMARY.replace("transactions: 0 ", "transactions: 7 ")).failed == 7
    for line in ("tps = ", "number of failed transactions: "):
        rest = "\n".join(text for text in SUMMARY.splitlines() if not text.startswith(line))
        with pytest.raises(TandemError, match="did not report its rate"):
            parse(rest)


def test_every_query_has_its_parameters(root: Path) -> None:
    folder = root / QUERIES
    assert PARAMETERS.keys() == {file.stem for file in folder.glob("*.sql")}
    for name, variables in PARAMETERS.items():
        text = (folder / f"{name}.sql").read_text()
        assert all(f"${n}" in text for n in range(1, len(variables) + 1))
        assert f"${len(variables) + 1}" not in text


def test_a_scenario_becomes_its_statements_in_order(real: Catalog, root: Path) -> None:
    text = script(real.scenarios["recipe"], root / QUERIES)
    assert text.startswith("\\set asked random(1, 24)\nselect user_id from user_sessions_session")
    assert (text.count("\\gset"), text.count(";\n"), text.count("$")) == (2, 6, 0)
    lines = script(real.scenarios["note-write"], root / QUERIES).splitlines()
    assert lines.index("begin;") < lines.index("commit;") == len(lines) - 1, "a transaction keeps its limits"


@pytest.fixture
def printed(fixtures: Path) -> str:
    """What real sockperf 3.7 and iperf3 3.18 print, between two containers of one machine."""
    return (fixtures / "network.txt").read_text()


def test_round_trips_are_milliseconds_and_bandwidth_is_what_arrived(printed: str) -> None:
    found = read_network(printed)
    assert isinstance(found, Between)
    assert (found.round_trip_ms, found.round_trip_p99_ms) == pytest.approx((0.022843, 0.038116))
    assert (found.there_bps, found.back_bps) == pytest.approx((11_635_795_147.5, 11_317_407_157.6))


def test_what_a_tool_complained_of_is_told(printed: str) -> None:
    for broken, told in (
        (printed.replace("percentile 50.000", "percentile x"), "}"),
        (printed.replace('"end":	{', '"error": "unable to connect", "end":	{'), "unable to connect"),
        (printed[: printed.index("\n{\n", printed.index("{\n"))], "unpack"),  # one direction is missing
        ("", "no round trips"),
    ):
        assert broken != printed
        with pytest.raises(ValueError, match=told):
            read_network(broken)


# ---- file-io ----


class Engine:
    """Docker, as far as a run asks it. A volume that a container uses cannot be removed."""

    def __init__(self, interrupted: str) -> None:
        self.interrupted, self.containers, self.volumes = interrupted, list[str](), list[str]()
        self.container = SimpleNamespace(create=self._create, wait=self._step("wait"), remove=self._remove)
        self.volume = SimpleNamespace(create=self._create_volume, remove=self._remove_volume)

    def _step(self, name: str) -> Any:
        def step(*_: object, **__: object) -> None:
            if name == self.interrupted:
                raise KeyboardInterrupt

        return step

    def _create_volume(self, name: str, labels: dict[str, str]) -> None:
        self.volumes.append(name)
        self._step("volume")()

    def _remove_volume(self, name: str) -> None:
        assert not self.containers, "volume is in use"
        self.volumes.remove(name)

    def _create(self, *_: object, name: str, **__: object) -> Any:
        self.containers.append(name)
        self._step("create")()
        return SimpleNamespace(start=self._step("start"))

    def _remove(self, name: str, *, force: bool, volumes: bool) -> None:
        if name not in self.containers:
            raise NoSuchContainer(["docker"], 1)
        self.containers.remove(name)


@pytest.mark.parametrize("moment", ["volume", "create", "start", "wait"])
def test_an_interrupted_run_leaves_neither_container_nor_volume(tmp_path: Path, moment: str) -> None:
    """Also where the engine has made one of them, and its name is not returned any more."""
    asked, engine = FileIoContainer(tmp_path), Engine(moment)
    asked.docker = engine  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        asked.run(["1"])
    assert (engine.containers, engine.volumes) == ([], [])


# ---- open files: engines of containerd 2 begin with 1,024, and what holds thousands of connections raises its own ----

SOFT = 1024
RAISING = 'ulimit -n "$(ulimit -Hn)"'
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def limited(*command: str) -> str:
    """What a command prints that begins with the soft limit of such an engine."""
    return subprocess.run(
        ["sh", "-c", f'ulimit -Sn {SOFT}; exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("raises", [True, False])
def test_pgbouncer_has_all_the_files_that_it_may_have(root: Path, tmp_path: Path, raises: bool) -> None:
    """Without that line, which is the negative control, it would refuse clients from about the thousandth on."""
    text = (root / "compose/pgbouncer/start").read_text()
    assert RAISING in text
    text = text.replace("/etc/tandem", str(root / "compose/pgbouncer")).replace("/run/tandem", str(tmp_path))
    (tmp_path / "start").write_text(text if raises else text.replace(RAISING, ""))
    (tmp_path / "pgbouncer").write_text("#!/bin/sh\nulimit -n\n")
    (tmp_path / "pgbouncer").chmod(0o755)
    given = ("APP_PASSWORD=a", "ADMIN_PASSWORD=b", f"PATH={tmp_path}:/usr/bin:/bin")
    assert limited("env", *given, "sh", str(tmp_path / "start")).split() == [str(HARD if raises else SOFT)]
    assert "max_client_conn = 2000" in (tmp_path / "pgbouncer.ini").read_text()


@pytest.mark.parametrize("raises", [True, False])
def test_a_generator_has_all_the_files_that_it_may_have(raises: bool) -> None:
    script = generator_runs._SCRIPT if raises else generator_runs._SCRIPT.replace(RAISING, ":")
    printed = limited("sh", "-c", script, "sh", "sh", "-c", "ulimit -n")
    assert generator_runs.split(printed).text == f"{HARD if raises else SOFT}\n"


def test_doctor_and_record_tell_the_hard_limit() -> None:
    read = (
        "from tandem.hosts import HERE; print(HERE.describe()['open_files_limit'], HERE.limits().open_files)"
    )
    assert limited(sys.executable, "-c", read).split() == [str(HARD), str(HARD)]
    assert limited("sh", "-c", "ulimit -n").split() == [str(SOFT)], "the negative control"

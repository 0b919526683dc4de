"""just doctor --lab, on hosts that are containers with an engine and an SSH server of their own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_commands import TANDEM, run
from harness_nested import NestedLab, nested

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

FULL, HANGING, STRANGE = "full", "hanging", "strange"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedLab]:
    with nested(
        tmp_path_factory.mktemp("lab"), "data", "work", FULL, HANGING, STRANGE, small=[FULL]
    ) as found:
        yield found


def examined(file: Path, *more: str, status: int) -> str:
    done = run(*TANDEM, "doctor", "--lab", str(file), *more)
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_lab_that_is_fit_is_told_on_one_page(hosts: NestedLab) -> None:
    roles = {"data": ["db", "pgbouncer"], "work": ["app", "proxy", "loadgen"]}
    cpus = {"data": {"db": "1", "pgbouncer": "0"}}
    text = examined(hosts.write("good", roles, cpus), status=0)
    lines = text.splitlines()
    assert len(lines) < 25
    assert max(map(len, lines)) <= 100
    assert "limited: work: cpus" in text, "its roles have no CPU sets"
    assert lines[-2].startswith("fit for smoke and quick; on work roles share CPUs")
    assert "round trips between hosts" in lines[-1]
    for host in (hosts.hosts["data"], hosts.hosts["work"]):
        assert host.sh("docker ps --all --quiet") == "", "what measured there is gone"


def test_every_host_says_what_is_wrong_with_it(hosts: NestedLab) -> None:
    hosts.hosts[HANGING].freeze()
    known = hosts.folder / "known_hosts"
    keys = dict(line.split(" ", 1) for line in known.read_text().splitlines())
    keys[hosts.hosts[STRANGE].address] = keys[hosts.hosts["data"].address]
    known.write_text("".join(f"{host} {key}\n" for host, key in keys.items()))
    roles = {"data": ["db", "pgbouncer"], "work": ["app", "proxy"]}
    roles |= {name: ["loadgen"] for name in (FULL, HANGING, STRANGE)}
    told = json.loads(examined(hosts.write("bad", roles), "--json", status=1))
    bad = {(one["about"], one["name"]): one["means"] for one in told["checks"] if one["state"] == "bad"}
    assert bad.keys() == {(FULL, "disk"), (HANGING, "host"), (STRANGE, "host")}
    assert "make room there" in bad[FULL, "disk"]
    assert "timed out" in bad[HANGING, "host"]
    assert "compare its key" in bad[STRANGE, "host"]
    for name in ("data", "work", FULL):
        measured = told["hosts"][name]["told"]
        assert abs(measured["offset_ms"]) <= measured["bound_ms"] + 1, "one machine has one clock"
        assert 0 < measured["bound_ms"] <= 5
    links = {tuple(link["hosts"]): link["network"] for link in told["links"]}
    assert links["work", "data"]["round_trip_ms"] > 0
    assert min(links[FULL, "work"][way] for way in ("there_bps", "back_bps")) > 1e8
    assert links[HANGING, "work"] is None
    [sentence] = told["fit"]
    assert sentence == "not fit for measuring: full (disk), hanging (host), strange (host)"

"""tandem.catalog.labs: the example, and every file that is refused."""

import re
import tomllib
from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog
from tandem.catalog.labs import ROLES, Lab
from tandem.errors import UsageError

LAB = """
[hosts.a]
engine = "ssh://me@a.example"
address = "192.0.2.1"
roles = ["db", "pgbouncer"]
cpus = {db = "0-2", pgbouncer = "3"}

[hosts.b]
engine = "context:b"
address = "192.0.2.2"
roles = ["app", "proxy", "loadgen"]

[hosts.c]
engine = "here"
address = "192.0.2.3"
roles = ["loadgen"]
"""


def read(root: Path, text: str) -> Lab:
    (root / "loadgen/labs").mkdir(parents=True, exist_ok=True)
    (root / "loadgen/labs/mine.toml").write_text(text)
    return Catalog(root).lab("mine")


def changed(old: str, new: str) -> str:
    assert old in LAB
    return LAB.replace(old, new)


def test_the_example_is_a_lab_of_three_hosts_with_addresses_of_documents(real: Catalog) -> None:
    lab = real.lab("three-hosts")
    assert [host.name for host in lab.hosts.values()] == ["database", "application", "generator"]
    assert all(host.address.startswith("192.0.2.") for host in lab.hosts.values())
    hosts = ["database", "database", "application", "application", "generator"]
    assert [lab.host_of(role).name for role in ROLES] == hosts


def test_only_hosts_that_talk_have_a_link_and_loadgen_may_be_on_several(tmp_path: Path) -> None:
    lab = read(tmp_path, LAB)
    assert [host.name for host in lab.hosts_of("loadgen")] == ["b", "c"]
    assert lab.hosts["a"].cpus == {"db": "0-2", "pgbouncer": "3"}
    assert lab.links() == {
        ("c", "b"): [("loadgen", "proxy"), ("loadgen", "app")],
        ("b", "a"): [("app", "pgbouncer"), ("app", "db")],
    }


def test_a_link_that_is_used_both_ways_is_one(tmp_path: Path) -> None:
    text = changed('["db", "pgbouncer"]', '["db", "proxy"]').replace('pgbouncer = "3"', 'proxy = "3"')
    links = read(tmp_path, text.replace('"app", "proxy"', '"app", "pgbouncer"')).links()
    assert [*links] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert links["b", "a"] == [("loadgen", "proxy"), ("proxy", "app"), ("app", "db"), ("pgbouncer", "db")]


def test_a_lab_is_found_by_its_path_too_and_an_unknown_one_is_told_what_there_is(
    real: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.toml").write_text(LAB)
    assert real.lab(str(tmp_path / "elsewhere.toml")).name == "elsewhere"
    with pytest.raises(UsageError, match=r"there is no lab 'three'.* There are: .*three-hosts"):
        real.lab("three")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('engine = "here"', 'engine = "here"\ncolour = 1', "hosts -> c -> colour: Extra inputs are not permitted"),
        ('engine = "here"', 'engine = "here"\nname = "d"', "hosts -> c -> name: comes from the table"),
        ("[hosts.a]", 'colour = "red"\n[hosts.a]', "colour: Extra inputs are not permitted"),
        ('"proxy", ', '"haproxy", ', "hosts -> b -> roles -> 1: Input should be 'db', 'pgbouncer', 'app', 'proxy'"),
        ('"proxy", ', "", "no host has the role proxy"),
        ('["loadgen"]', '["loadgen", "app"]', "app is on b and c: only loadgen may be on more than one host"),
        ('["loadgen"]', "[]", "hosts -> c -> roles: Tuple should have at least 1 item"),
        ('["loadgen"]', '["loadgen", "loadgen"]', "hosts -> c: Value error, a role is named twice"),
        ('pgbouncer = "3"', 'pgbouncer = "2-3"', "hosts -> a: Value error, db and pgbouncer both have CPU 2"),
        (', pgbouncer = "3"', "", "pgbouncer has no CPU set and would use CPUs of db"),
        ('pgbouncer = "3"', 'app = "3"', "cpus names app, which is not among its roles"),
        ('pgbouncer = "3"', 'pgbouncer = "3-1"', "pgbouncer has the CPU set '3-1'; write it as in"),
        ('pgbouncer = "3"', 'pgbouncer = ""', "pgbouncer has the CPU set ''; write it as in"),
        ('"here"', '"tcp://c.example:2375"', "an engine is 'here', 'ssh://user@host[:port]' or 'context:NAME', not 'tcp"),
        ('"here"', '"ssh://me@c.example/run/docker.sock"', "an engine is 'here', 'ssh://user@host[:port]'"),
        ('"here"', '"ssh://me@c.example:99999"', "an engine is 'here', 'ssh://user@host[:port]'"),
        ('"here"', '"ssh://you@A.example:22"', "a and c have the same engine"),
        ('"here"', '"context:b"', "b and c have the same engine"),
        ('"192.0.2.3"', '"192.0.2.1"', "a and c have the same address, 192.0.2.1"),
        ('"192.0.2.3"', '"2001:db8::1"', "an address is an IPv4 address or a host name, not '2001:db8::1'"),
        ('"192.0.2.3"', '"127.0.0.7"', "lab mine: c: no other host can reach 127.0.0.7:"),
        ('"192.0.2.3"', '"localhost"', "lab mine: c: no other host can reach localhost (127.0.0.1)"),
        ('"192.0.2.3"', '"0.0.0.0"', "lab mine: c: no other host can reach 0.0.0.0:"),
        ("[hosts.a]", "[hosts.a", "not valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_in_a_sentence(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)) as refusal:
        read(tmp_path, changed(old, new))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({}, "lab mine: a: a.lan is neither an IPv4 address nor a name that has one"),
        ({"a.lan": ["192.0.2.9"], "b.lan": ["192.0.2.9"]}, "lab mine: a and b have the same address, 192.0.2.9"),
        ({"a.lan": ["192.0.2.9"], "b.lan": ["127.0.1.1"]}, r"no other host can reach b\.lan \(127\.0\.1\.1\)"),
    ],
)  # fmt: skip
def test_names_that_lead_nowhere_are_refused(names: dict[str, list[str]], told: str) -> None:
    text = changed('"192.0.2.1"', '"a.lan"').replace('"192.0.2.2"', '"b.lan"')
    lab = Lab.model_validate({"name": "mine", **tomllib.loads(text)})

    def ask(name: str) -> list[str]:
        return [name] if name[0].isdigit() else names.get(name, [])

    with pytest.raises(UsageError, match=told):
        lab.resolved(ask)


def test_names_become_numbers() -> None:
    lab = Lab.model_validate({"name": "mine", **tomllib.loads(changed('"192.0.2.1"', '"a.lan"'))})
    known = {"a.lan": ["192.0.2.9"], "192.0.2.2": ["192.0.2.2"], "192.0.2.3": ["192.0.2.3"]}
    found = lab.resolved(lambda name: known[name])
    assert [host.address for host in found.hosts.values()] == ["192.0.2.9", "192.0.2.2", "192.0.2.3"]
    assert lab.hosts["a"].address == "a.lan"

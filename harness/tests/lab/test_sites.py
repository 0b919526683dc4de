"""tandem.lab.sites, lab_hosts and stack: what each host of a lab is told, what of it is seen elsewhere, and how containers are driven."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from harness_engine import environment_of

from tandem.catalog.labs import Lab
from tandem.engine.replay import differences
from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE
from tandem.hosts.host import Cgroup, Usage
from tandem.hosts.remote import Caller, RemoteObject
from tandem.hosts.several import SeveralCgroups, SeveralHosts
from tandem.lab import lab_hosts, sites
from tandem.lab.application import Application
from tandem.lab.lab_hosts import LabSites, destination
from tandem.lab.sites import ALONE, home, overlay, ports_asked
from tandem.lab.stack import BENCH_PROJECT, Service, Stack, side_by_side, to_its_end
from tandem.load.shares import roles
from tandem.record.result import Environment
from tandem.report.parts import machine

FULL = {"LOAD_ADDRESS": "proxy:8080", "DATABASE_ADDRESS": "pgbouncer:6432"}
DIRECT = {"LOAD_ADDRESS": "app:8080", "DATABASE_ADDRESS": "db:5432"}
ADDRESSES = {"a": "192.0.2.1", "b": "192.0.2.2", "c": "192.0.2.3"}


def lab_of(**roles: str) -> Lab:
    """Host -> its roles, of a, b and c."""
    hosts = {
        name: {"engine": f"ssh://{name}", "address": ADDRESSES[name], "roles": its.split()}
        for name, its in roles.items()
    }
    return Lab.model_validate({"name": "mine", "hosts": hosts})


THREE = lab_of(a="db pgbouncer", b="app proxy", c="loadgen")
EACH = lab_of(a="db", b="pgbouncer app", c="proxy loadgen")


FAR = DIRECT | {"DATABASE_ADDRESS": "faults:6433"}
SLOTS = FULL | {"SLOTS": "2"}
DEALT = lab_of(a="db pgbouncer loadgen", b="app proxy", c="loadgen")


def services(lab: Lab, host: str, variables: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = overlay(lab, host, variables)["services"]
    return found


def test_only_what_is_asked_from_elsewhere_is_published_and_on_the_labs_address_alone() -> None:
    ports = {
        (host, service): its["ports"]
        for host in THREE.hosts
        for service, its in services(THREE, host, FULL).items()
        if "ports" in its
    }
    assert ports == {
        ("a", "pgbouncer"): ["192.0.2.1:6432:6432"],
        ("b", "proxy"): ["192.0.2.2:8080:8080", "192.0.2.2:8081:8081"],
    }
    assert not any("faults" in services(THREE, host, FULL) for host in THREE.hosts)


@pytest.mark.parametrize(
    ("lab", "variables", "host", "service", "key", "told"),
    [
        # Services elsewhere have their usual names.
        (THREE, FULL, "b", "app", "extra_hosts", ["pgbouncer:192.0.2.1"]),
        (THREE, FULL, "c", "loadgen", "extra_hosts", ["proxy:192.0.2.2"]),
        (THREE, FULL, "a", "pgbouncer", "extra_hosts", None),
        (EACH, FULL, "b", "pgbouncer", "extra_hosts", ["db:192.0.2.1"]),
        (DEALT, FULL, "a", "loadgen", "extra_hosts", ["proxy:192.0.2.2"]),
        (DEALT, FULL, "c", "loadgen", "extra_hosts", ["proxy:192.0.2.2"]),
        # HAProxy is told where an application on another host is.
        (EACH, FULL, "c", "proxy", "environment", {"APP_AT": "192.0.2.2:8200", "EDGE": "0.0.0.0"}),
        (THREE, FULL, "b", "proxy", "environment", {"EDGE": "0.0.0.0"}),
        # No folder of this machine is mounted there.
        (THREE, FULL, "c", "loadgen", "volumes", ["/raw"]),
        # A direct topology publishes the application and the database.
        (THREE, DIRECT, "a", "db", "ports", ["192.0.2.1:5432:5432"]),
        (THREE, DIRECT, "b", "app", "ports", ["192.0.2.2:8200:8080"]),
        (THREE, DIRECT, "b", "proxy", "ports", ["192.0.2.2:8081:8081"]),
        # HAProxy has a port for each application that is up; each application's own is its container's.
        (THREE, SLOTS, "b", "proxy", "ports", [f"192.0.2.2:{n}:{n}" for n in (8080, 8081, 8101, 8102)]),
        (THREE, SLOTS, "b", "app", "ports", None),
        # The latency proxy stands beside the pooler, and then nobody elsewhere asks the database.
        (THREE, FAR, "a", "faults", "ports", ["192.0.2.1:6433:6433"]),
        (THREE, FAR, "b", "app", "extra_hosts", ["faults:192.0.2.1"]),
        (THREE, FAR, "a", "db", "ports", None),
        (EACH, FAR, "b", "faults", "extra_hosts", ["db:192.0.2.1"]),
        (EACH, FAR, "b", "faults", "ports", None),
        (EACH, FAR, "a", "db", "ports", ["192.0.2.1:5432:5432"]),
    ],
)
def test_what_a_service_of_a_host_is_given(
    lab: Lab, variables: dict[str, str], host: str, service: str, key: str, told: object
) -> None:
    assert services(lab, host, variables)[service].get(key) == told


def test_the_ports_at_which_the_harness_asks() -> None:
    assert set(ports_asked("proxy", SLOTS)) >= {8404, 8101, 8102}
    assert not set(ports_asked("proxy", {})) & {8101, 8102}
    assert ports_asked("loadgen", SLOTS) == ()


def test_generators_are_dealt_out_to_the_hosts_that_have_some() -> None:
    assert [home(DEALT, role).name for role in roles(3)] == ["a", "c", "a"]
    assert [home(DEALT, service).name for service in ("db", "faults", "proxy")] == ["a", "a", "b"]
    assert [home(THREE, role).name for role in roles(2)] == ["c", "c"]


def test_each_host_has_its_own_cpus_for_generators() -> None:
    lab = DEALT.model_dump(mode="json")
    for host in lab["hosts"].values():
        del host["name"]
    lab["hosts"]["a"]["cpus"] = {"db": "0", "pgbouncer": "1", "loadgen": "3"}
    lab["hosts"]["c"]["cpus"] = {"loadgen": "0-1"}
    made = Lab.model_validate(lab)
    assert [services(made, host, FULL)["loadgen"]["cpuset"] for host in ("a", "c")] == ["3", "0-1"]


@pytest.mark.parametrize("own", [FULL, DIRECT])
def test_a_study_of_several_topologies_has_the_ports_of_all(own: dict[str, str]) -> None:
    routes = sites.written(
        (one["LOAD_ADDRESS"], one["DATABASE_ADDRESS"]) for one in (FULL, DIRECT, FAR, FULL)
    )
    assert routes == "app:8080>db:5432 app:8080>faults:6433 proxy:8080>pgbouncer:6432"
    told = {host: services(THREE, host, own | {"ROUTES": routes}) for host in THREE.hosts}
    ports = {name: one["ports"] for host in told.values() for name, one in host.items() if "ports" in one}
    assert ports == {
        "db": ["192.0.2.1:5432:5432"],
        "pgbouncer": ["192.0.2.1:6432:6432"],
        "faults": ["192.0.2.1:6433:6433"],
        "app": ["192.0.2.2:8200:8080"],
        "proxy": ["192.0.2.2:8080:8080", "192.0.2.2:8081:8081"],
    }
    assert sorted(told["b"]["app"]["extra_hosts"]) == [
        f"{service}:192.0.2.1" for service in ("db", "faults", "pgbouncer")
    ]


# ---- several hosts as one ----


def sites_of(lab: Lab, *cpus: int) -> LabSites:
    """The engines of a lab. cpus: of each host; default: one."""
    engines: dict[str, Any] = {
        name: SimpleNamespace(name=name, address=ADDRESSES[name], host=SimpleNamespace(cpus=number))
        for name, number in zip(lab.hosts, cpus or [1] * len(lab.hosts), strict=True)
    }
    return LabSites(lab, engines)


def test_cpus_are_numbered_through() -> None:
    """Otherwise the first CPU of each host would be one to the judge, and its users would share it."""
    found = sites_of(THREE, 4, 2, 8)
    assert found.machines.cpus == 14
    given = {"db": "1-3", "app": "0", "proxy": "", "loadgen": "0,7"}
    assert [found.cpuset(*one) for one in given.items()] == ["1,2,3", "4", "4,5", "6,13"]
    assert ALONE.cpuset("app", "0") == "0"


@pytest.mark.parametrize(
    ("of", "by", "seen"),
    [
        (sites_of(THREE), "proxy", "172.18.0.5"),
        (sites_of(THREE), "db", "192.0.2.2"),
        (ALONE, "db", "172.18.0.5"),
    ],
)
def test_a_service_has_its_hosts_address_elsewhere_and_its_own_at_home(of: Any, by: str, seen: str) -> None:
    assert of.seen_from("app", "172.18.0.5", by) == seen


@pytest.mark.parametrize(
    ("lab", "seen"),
    [
        (THREE, {"192.0.2.2"}),
        (EACH, set()),
        (lab_of(a="db pgbouncer app", b="proxy", c="loadgen"), {"10.0.0.5"}),
    ],
)
def test_connections_are_the_applications_only_where_its_address_is_its_own(lab: Lab, seen: set[str]) -> None:
    """Where it shares a host with the pooler, the database sees both come from that host."""
    assert application(lab).seen_by_the_database == seen
    if seen == {"192.0.2.2"}:
        assert application(lab, "slot-2").seen_by_the_database == set(), "all on that host have its address"


NETWORKS = {
    "db": ["database"],
    "pgbouncer": ["pool", "database"],
    "proxy": ["edge", "app"],
    "loadgen": ["edge", "direct"],
    "app": ["app", "direct", "pool"],
}


def stack_of(lab: Lab, slot: str | None) -> Stack:
    """A stack that no engine has."""
    found = object.__new__(Stack)
    found.sites, found.slot, found.project, found.variables = sites_of(lab), slot, BENCH_PROJECT, {}
    found._described = {name: {"networks": dict.fromkeys(own)} for name, own in NETWORKS.items()}
    return found


def application(lab: Lab, slot: str | None = None, load_address: str = "proxy:8080") -> Application:
    def service(inside: str) -> Service:
        return Service("id", "image", 1, "127.84.0.1", "", "", {"edge": inside}, HERE)

    addresses = {"app": "10.0.0.5", "pgbouncer": "10.0.0.6", "proxy": "10.0.0.7"}
    app: Any = object.__new__(Application)
    app.services = {name: service(inside) for name, inside in addresses.items()}
    app.prepared = SimpleNamespace(stack=stack_of(lab, slot))
    app.case = SimpleNamespace(load_address=load_address)
    return cast(Application, app)


APART = lab_of(a="db pgbouncer", b="app", c="proxy loadgen")
TOGETHER = lab_of(a="db pgbouncer", b="app proxy loadgen")


@pytest.mark.parametrize(
    ("lab", "by_proxy", "proxied", "direct"),
    [
        (THREE, ("10.0.0.5", 8080), ("proxy:8102", "192.0.2.2:8102"), ("192.0.2.2:8202", "192.0.2.2:8202")),
        (APART, ("192.0.2.2", 8202), ("proxy:8102", "10.0.0.7:8102"), ("192.0.2.2:8202", "192.0.2.2:8202")),
        (
            TOGETHER,
            ("10.0.0.5", 8080),
            ("proxy:8102", "10.0.0.7:8102"),
            ("tandem-bench-slot-2:8080", "10.0.0.5:8080"),
        ),
    ],
)
def test_each_of_several_applications_is_asked_at_its_own_place(
    lab: Lab, by_proxy: tuple[str, int], proxied: tuple[str, str], direct: tuple[str, str]
) -> None:
    """proxied, direct: what the generator is told, and what is on the wire."""
    for address, (told, on_wire) in (("proxy:8080", proxied), ("app:8080", direct)):
        app = application(lab, "slot-2", address)
        assert app.stack.app_seen_by("proxy", app.app) == by_proxy
        assert (app._target(), app.asked_at) == (told, on_wire)
        port = told.rpartition(":")[2] if address == "proxy:8080" else "8080"
        assert app._reach(address) == f"127.84.0.1:{port}", "this machine reaches the container itself"
    alone = application(lab, None, "app:8080")
    assert alone.asked_at == ("10.0.0.5:8080" if lab is TOGETHER else "192.0.2.2:8200")
    assert alone._target() == ("app:8080" if lab is TOGETHER else "192.0.2.2:8200")
    published = stack_of(lab, "slot-2")._published
    assert published == (None if lab is TOGETHER else ("192.0.2.2:8202", 8080))


@pytest.mark.parametrize(("load_address", "slot_port"), [("proxy:8443", 8202), ("proxy:8444", 8302)])
def test_with_tls_the_answers_are_read_behind_haproxy(load_address: str, slot_port: int) -> None:
    """The harness itself asks in plain text, on the way that all take."""
    for slot, told, plain in ((None, load_address, 8080), ("slot-2", f"proxy:{slot_port}", 8102)):
        app = application(TOGETHER, slot, load_address)
        assert (app._target(), app._reach(load_address)) == (told, f"127.84.0.1:{plain}")
        assert (app.encrypted, app.asked_at) == (True, "10.0.0.5:8080")
        assert (app.front and app.front.http2) == (load_address == "proxy:8444")
    assert not application(THREE).encrypted


def group(cpu_s: float, system_s: float | None = 1.0) -> Any:
    used = Usage(cpu_s, 0.0, 100, system_s)
    return SimpleNamespace(usage=lambda: used, resident_bytes=lambda: 7)


def test_the_harness_is_the_sum_of_its_parts() -> None:
    both = SeveralCgroups([group(1.0), group(2.0)])
    assert (both.usage(), both.resident_bytes()) == (Usage(3.0, 0.0, 200, 2.0), 14)
    assert SeveralCgroups([group(1.0), group(6.0, system_s=None)]).usage().system_s is None
    with pytest.raises(ValueError, match="numbers of one host"):
        both.thread_cpu_s()
    far = RemoteObject(Caller("far", lambda: pytest.fail("it is asked")), Cgroup, 1)
    with pytest.raises(ValueError, match="of none of these hosts"):
        SeveralHosts([HERE]).usages({"app": far})


# ---- how an engine is reached ----


def host_at(engine: str) -> Any:
    return THREE.hosts["a"].model_copy(update={"engine": engine})


@pytest.mark.parametrize(
    ("engine", "leads", "found"),
    [
        ("ssh://me@a.example:2222", "", ("me@a.example", 2222)),
        ("ssh://a.example", "", ("a.example", None)),
        ("context:mine", "ssh://me@b.example", ("me@b.example", None)),
        ("context:mine", "tcp://b.example:2375", "its engine is at tcp://b.example:2375: .* over SSH"),
        ("context:mine", "", "there is no Docker context mine"),
    ],
)
def test_an_engine_is_reached_over_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, leads: str, found: Any
) -> None:
    """leads: where Docker says that a context leads to."""
    (tmp_path / "docker").write_text(f"#!/bin/sh\n[ -n '{leads}' ] || exit 1\necho '{leads}'\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with nullcontext() if isinstance(found, tuple) else pytest.raises(UsageError, match=found):
        assert destination(host_at(engine)) == found


def test_the_others_are_let_go_of_where_one_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = list[str]()

    class Reached:
        def __init__(self, name: str, *_: object) -> None:
            if name == "b":
                raise TandemError("b@h is not reached: Permission denied")
            self.close: Callable[[], None] = lambda: closed.append(name)

    monkeypatch.setattr(lab_hosts, "Engine", Reached)
    with pytest.raises(TandemError, match="b@h is not reached"):
        lab_hosts.connect(THREE)
    assert sorted(closed) == ["a", "c"]


# ---- what a record tells ----


def test_a_report_names_each_host_and_a_replay_what_changed_of_it() -> None:
    def environment(kernel: str, clock_ms: float) -> Environment:
        host = {"cpus": 4, "cpu_model": "X", "kernel": kernel, "memory_bytes": 2**32, "roles": "app, proxy"}
        return environment_of(host=host, hosts={"work": {**host, "clock_ahead_ms": clock_ms}})

    old, new = environment("6.1", 0.1), environment("6.2", 0.2)
    assert differences({"a": old}, {"a": new}) == [
        "host kernel changed: 6.1 -> 6.2",
        "work's kernel changed: 6.1 -> 6.2",
    ]
    result: Any = SimpleNamespace(environments={"a": old})
    assert machine(result) == "app, proxy: 4 × X, 4 GiB, Linux 6.1"


@pytest.fixture
def interruption() -> Iterator[None]:
    """After a tenth of a second, as Ctrl-C does it: to the main thread, wherever it is."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    yield
    timer.join()
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(("through", "whole"), [(to_its_end, True), (lambda call: call(), False)])
@pytest.mark.usefixtures("interruption")
def test_an_interruption_waits_for_what_has_begun(
    through: Callable[[Callable[[], None]], None], whole: bool
) -> None:
    """The second is the control: called as it is, it ends in its midst."""
    created = []

    def start() -> None:
        for number in range(4):
            time.sleep(0.1)
            created.append(number)

    with pytest.raises(KeyboardInterrupt):
        through(start)
    assert (len(created) == 4) is whole


def test_the_log_has_the_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An application says on SIGTERM why it ends badly: the log is read after that, and before it is removed."""
    container = Mock(
        **{"state.running": True, "state.exit_code": 3, "logs.return_value": "began\nended badly"}
    )
    monkeypatch.setattr(Stack, "_find", lambda *_: container)
    stack = Stack(tmp_path, "project", {}, tmp_path / "env")
    assert stack.stop("app", grace_s=1, log=tmp_path / "app.log") == 3
    assert [name for name, *_ in container.method_calls] == ["stop", "reload", "logs", "remove"]
    assert (tmp_path / "app.log").read_text() == "began\nended badly\n"


def test_what_is_returned_and_raised_passes_through() -> None:
    assert to_its_end(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        to_its_end(lambda: 1 // 0)
    assert side_by_side(lambda number: 12 // number, [1, 2]) == [12, 6]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 12 // number, [1, 0])

"""tandem.hosts.engine and remote against hosts with a Docker engine and an SSH server of their own (harness_nested)."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from harness_nested import AHEAD_S, NestedHost, NestedLab, nested, run
from python_on_whales import DockerException

from tandem.errors import TandemError
from tandem.hosts import docker
from tandem.hosts.engine import Engine, remove_agents
from tandem.lab.lab_hosts import AGENT_IMAGE, remove_images

pytestmark = pytest.mark.docker

SERVER = ["python3", "-m", "http.server", "8080"]
SLEEPER = ["sleep", "300"]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[NestedLab]:
    command = [
        "docker",
        "buildx",
        "build",
        "--quiet",
        "--label",
        "dev.tandem.built=agent",
        "--target",
        "agent",
    ]
    run(*command, "--tag", AGENT_IMAGE, "--file", root / "harness/Dockerfile", root)
    with nested(tmp_path_factory.mktemp("hosts"), "one", "two", ahead={"two"}) as found:
        yield found


def reached(host: NestedHost) -> Engine:
    return Engine(host.name, f"tandem@{host.address}")


@pytest.fixture
def one(hosts: NestedLab) -> Iterator[Engine]:
    engine = reached(hosts.hosts["one"])
    engine.send(AGENT_IMAGE)
    yield engine
    engine.close()
    hosts.hosts["one"].sh("docker ps -aq | xargs -r docker rm -fv || true")


def test_an_image_is_copied_once(hosts: NestedLab) -> None:
    engine = reached(hosts.hosts["two"])
    try:
        assert engine.send(AGENT_IMAGE)
        assert not engine.send(AGENT_IMAGE)
        with pytest.raises(TandemError, match="there is no image tandem/no-such"):
            engine.send("tandem/no-such")
        assert remove_images(engine) == 1
        assert engine.send(AGENT_IMAGE), "it was gone"
    finally:
        engine.close()


def test_the_agent_sees_its_hosts_containers(one: Engine, tmp_path: Path) -> None:
    host = one.start_agent(AGENT_IMAGE)
    assert abs(host.clock.ahead_s) < 0.05, "it is this machine's clock"
    assert host.clock.error_s < 0.005
    assert host.cpus == os.cpu_count()
    container = one.docker.run(AGENT_IMAGE, SLEEPER, detach=True)
    pid = container.state.pid
    assert pid is not None
    group = host.cgroup(pid)
    assert group.processes() == [pid]
    assert group.usage().cpu_s > 0
    assert host.harness_cgroup().usage().cpu_s > 0
    watching = host.psrecord(pid, tmp_path / "psrecord.log")
    time.sleep(1.5)
    watching.stop()
    assert "Elapsed time" in (tmp_path / "psrecord.log").read_text()
    container.remove(force=True)
    with pytest.raises(OSError, match=r"."):
        group.usage()
    with pytest.raises(FileNotFoundError):
        host.cgroup(pid)


def test_a_service_is_reached_from_here_and_from_the_other_host(
    hosts: NestedLab, one: Engine, tmp_path: Path
) -> None:
    """Published on the host's address, it is asked there by its usual name; what is asked is seen on the wire."""
    address = hosts.hosts["one"].address
    server = one.docker.run(AGENT_IMAGE, SERVER, detach=True, publish=[(f"{address}:8080", 8080)])
    inside = server.network_settings.ip_address
    assert inside
    time.sleep(2)
    assert httpx.get(f"http://{one.reach(inside, (8080,))}:8080/").status_code == 200
    assert one.reach(inside, (8080,)).startswith("127.84."), "an address of its own, which keeps the port"
    other = reached(hosts.hosts["two"])
    try:
        other.send(AGENT_IMAGE)
        host = other.start_agent(AGENT_IMAGE)
        assert host.clock.ahead_s == pytest.approx(AHEAD_S, abs=0.005)
        assert host.clocks().wall_s == pytest.approx(time.time(), abs=0.05), "told by this machine's clock"
        client = other.docker.run(AGENT_IMAGE, SLEEPER, detach=True, add_hosts=[("app", address)])
        interface = int(str(other.docker.container.execute(client, ["cat", "/sys/class/net/eth0/iflink"])))
        capture = host.capture(interface, "tcp port 8080", 1000, 1000, tmp_path / "captured")
        time.sleep(0.5)
        ask = "import urllib.request as u; print(u.urlopen('http://app:8080/').status)"
        assert str(other.docker.container.execute(client, ["python3", "-c", ask])) == "200"
        time.sleep(0.2)
        captured = capture.stop()
        assert captured.problem is None
        assert captured.packets > 5
        assert address not in ("", inside)
        assert (tmp_path / "captured").stat().st_size > 500
        client.remove(force=True)
    finally:
        other.close()


def test_an_engine_that_hangs_behind_a_living_connection_is_told(
    hosts: NestedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker, "ANSWERS_S", 2)
    host = hosts.hosts["one"]
    engine = reached(host)
    try:
        host.sh("kill -STOP $(cat /var/run/docker.pid)")
        began_s = time.monotonic()
        with pytest.raises(DockerException) as found:
            engine.docker.container.list()
        assert "has stopped answering" in docker.complaint(found.value)
        assert time.monotonic() - began_s < 10
    finally:
        host.sh("kill -CONT $(cat /var/run/docker.pid)")
        engine.close()


def test_somebody_elses_agent_is_not_disturbed_and_can_be_removed(hosts: NestedLab, one: Engine) -> None:
    one.start_agent(AGENT_IMAGE)
    other = reached(hosts.hosts["one"])
    try:
        with pytest.raises(TandemError, match="host one: another measurement is running on it"):
            other.start_agent(AGENT_IMAGE)
        assert len(remove_agents(other)) == 1
        assert other.agents == []
    finally:
        other.close()


def test_an_agent_ends_with_its_connection(hosts: NestedLab) -> None:
    """As after kill -9 here: nobody is left who could remove it."""
    engine = reached(hosts.hosts["one"])
    engine.send(AGENT_IMAGE)
    engine.start_agent(AGENT_IMAGE)
    engine.connection.close()
    deadline = time.monotonic() + 20
    while hosts.hosts["one"].sh("docker ps -aq --filter label=dev.tandem=agent"):
        assert time.monotonic() < deadline, "the agent stays"
        time.sleep(0.2)
    engine.close()


def test_a_host_that_hangs_is_an_error_in_time(hosts: NestedLab, one: Engine) -> None:
    host = one.start_agent(AGENT_IMAGE)
    hosts.hosts["one"].freeze()
    try:
        began = time.monotonic()
        with pytest.raises(OSError, match="host one did not answer within 5 s"):
            host.read_cpu()
        with pytest.raises(DockerException):
            one.docker.container.list()
        assert time.monotonic() - began < 30
    finally:
        hosts.hosts["one"].thaw()


def test_a_key_that_nobody_knows_is_refused(hosts: NestedLab) -> None:
    known = hosts.folder / "known_hosts"
    kept = known.read_text()
    known.write_text("")
    try:
        with pytest.raises(TandemError, match=r"Host key verification failed.*connect to it once by hand"):
            reached(hosts.hosts["one"])
    finally:
        known.write_text(kept)


@pytest.mark.parametrize("lost", [NestedHost.freeze, NestedHost.kill], ids=["hangs", "dies"])
def test_a_host_that_is_lost_in_the_midst_of_a_copy_is_told(
    hosts: NestedLab, lost: Callable[[NestedHost], None]
) -> None:
    """The last test of this host: in the end it is dead."""
    host = hosts.hosts["two"]
    engine = reached(host)
    try:
        remove_images(engine)
        with ThreadPoolExecutor(1) as thread:
            copying = thread.submit(engine.send, AGENT_IMAGE)
            time.sleep(0.3)
            assert not copying.done(), "there was no midst"
            lost(host)
            began_s = time.monotonic()
            with pytest.raises(TandemError, match=f"host two: {AGENT_IMAGE} cannot be copied to it"):
                copying.result()
            assert time.monotonic() - began_s < 30
    finally:
        if lost is NestedHost.freeze:
            host.thaw()
        engine.close()

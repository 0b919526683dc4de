"""tandem.hosts.remote over an agent on this machine, which then has to tell what `Here` tells."""

import os
import signal
import socket
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import execnet
import pytest
from harness_machines import until
from harness_samples import there as value_of

from tandem.errors import TandemError
from tandem.hosts import HERE, remote
from tandem.hosts.agent import Agent
from tandem.hosts.host import Captured, Cgroup, Clocks, HostCpu, KernelLimits, Oversleep, Usage
from tandem.hosts.remote import SERVE, Caller, Remote, RemoteObject
from tandem.hosts.wire import ERROR, HOST, VALUE, error_of, packed, unpacked


@contextmanager
def agents(root: Path) -> Iterator[Any]:
    """A process on this machine in which agents can be started."""
    os.environ["PYTHONPATH"] = str(root / "harness")
    group = execnet.Group()
    yield group.makegateway(f"popen//execmodel=thread//python={sys.executable}")
    group.terminate(timeout=1)


@pytest.fixture(scope="module")
def gateway(root: Path) -> Iterator[Any]:
    with agents(root) as found:
        yield found


@pytest.fixture
def there(gateway: Any) -> Remote:
    return Remote(Caller("there", lambda: gateway.remote_exec(SERVE)))


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


# ---- values ----


@pytest.mark.parametrize(
    "value",
    [
        Usage(1.5, 0.0, 7),
        HostCpu(1.0, 2.0, 3.0, 4.0),
        Clocks(1.0, 2.0, None),
        Oversleep(True, 0.1, array("d", [1.0, 2.0]), array("d", [])),
        KernelLimits(1, 2, 3, 4),
        Captured(1, 2, 0.5, None),
        {7: 0.5, 8: 1.5},
        {"app": Usage(1.5, 0.0, 7, 0.5)},
        ["sleep", "60"],
        (1.5, 7),
        signal.SIGSTOP,
        Path("/some/file"),
        b"\0\1",
        None,
    ],
)
def test_a_value_arrives_as_it_left(value: object) -> None:
    assert unpacked(execnet.loads(execnet.dumps(packed(value)))) == value
    with pytest.raises(TypeError, match="a Here does not cross"):
        packed({"value": value, "host": [HERE]})


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("FileNotFoundError", FileNotFoundError),
        ("ProcessLookupError", ProcessLookupError),
        ("KeyError", KeyError),
        ("NoSuchProcess", OSError),
        ("SystemExit", OSError),
        ("UnicodeDecodeError", OSError),
        ("eval", OSError),
    ],
)
def test_an_error_from_there_is_one_of_ours(kind: str, found: type[Exception]) -> None:
    assert type(error_of(kind, "gone")) is found


def test_an_agent_answers_with_what_was_raised_and_hands_out_nothing_private() -> None:
    agent = Agent(HERE)
    assert agent.answer([0, "cpus", [], {}]) == [VALUE, HERE.cpus]
    for number, name in ((0, "_proc"), (0, "__class__"), (0, "no_such"), (9, "usage")):
        assert agent.answer([number, name, [], {}])[0] == ERROR
    assert agent.answer([0, "cgroup", [2**22 + 1], {}])[:2] == [ERROR, "FileNotFoundError"]


# ---- the same as here ----


def test_it_is_the_same_machine(there: Remote) -> None:
    assert there.cpus == HERE.cpus
    same = ("describe", "topology", "power", "limits", "mitigations", "can_capture")
    for name in (*same, "can_be_realtime"):
        assert getattr(there, name)() == getattr(HERE, name)(), name
    assert not there.is_harness("0" * 64)
    assert there.free_bytes() == pytest.approx(HERE.free_bytes(), rel=0.05)
    assert (there.swapped() is None) == (HERE.swapped() is None)
    before = HERE.read_cpu()
    assert 0 <= there.read_cpu().since(before).total_s < 10


def test_a_process_is_seen_signalled_and_missed(there: Remote, sleeper: subprocess.Popen[bytes]) -> None:
    assert there.alive(sleeper.pid)
    assert there.threads(sleeper.pid) == 1
    there.signal(sleeper.pid, signal.SIGSTOP)
    until(lambda: there.stopped(sleeper.pid) == ["sleep", "60"])
    sleeper.kill()
    sleeper.wait()
    assert not there.alive(sleeper.pid)
    assert there.established(sleeper.pid) == 0
    with pytest.raises(ProcessLookupError):
        there.threads(sleeper.pid)
    with pytest.raises(ProcessLookupError):
        there.signal(sleeper.pid, signal.SIGCONT)
    with pytest.raises(FileNotFoundError):
        there.cgroup(sleeper.pid)


def test_a_control_group_is_read_with_its_moment(there: Remote) -> None:
    try:
        HERE.cgroup(os.getpid()).usage()
    except OSError:
        pytest.skip("this container does not see its own control group: harness/run gives it the host's")
    group = there.cgroup(os.getpid())
    before_s = time.time()
    at_s, usages = there.usages({"app": group, "db": group})
    assert before_s - there.clock.error_s <= at_s <= time.time() + there.clock.error_s
    assert set(usages) == {"app", "db"}
    assert group.usage().cpu_s >= usages["app"].cpu_s > 0
    assert os.getpid() in group.processes()
    assert group.thread_cpu_s()
    assert group.thread_switches()
    assert group.resident_bytes() > 0
    assert there.harness_cgroup().usage().cpu_s > 0
    with pytest.raises(ValueError, match="another host"):
        there.usages({"app": HERE.cgroup(os.getpid())})


def test_psrecords_log_comes_home(there: Remote, sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    watching = there.psrecord(sleeper.pid, tmp_path / "psrecord.log")
    time.sleep(2.5)
    watching.freeze()
    watching.thaw()
    assert value_of(watching.stop())[1] > 0
    assert "Elapsed time" in (tmp_path / "psrecord.log").read_text()


def test_a_capture_comes_home_and_leaves_nothing_there(there: Remote, tmp_path: Path) -> None:
    if not there.can_capture():
        pytest.skip("this container may not read packets")
    file = tmp_path / "packets.pcap"
    capture = there.capture(socket.if_nametoindex("lo"), "udp port 9", 1, 100, file)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        until(lambda: bool(sender.sendto(b"x", ("127.0.0.1", 9)) and capture.ended))
    captured = capture.stop()
    assert (captured.packets, captured.problem) == (1, None)
    assert len(file.read_bytes()) > 24, "the header of a pcap file and a packet"
    assert there.line.call(HOST, "take", file) is None


def test_a_capture_that_cannot_begin_is_an_oserror(there: Remote, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"."):
        there.capture(999_999, "tcp", 1, 100, tmp_path / "none.pcap")


def test_a_member_that_no_interface_has_is_not_asked_for(there: Remote) -> None:
    group = RemoteObject(there.line, Cgroup, 9)
    for one, name in ((there, "no_such"), (there, "_proc"), (there, "usage"), (group, "cpus")):
        with pytest.raises(AttributeError):
            getattr(one, name)


def test_the_quickest_handshake_is_told(there: Remote) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        port = server.getsockname()[1]
        assert 0 < there.handshake_s("127.0.0.1", port) < 1
    with pytest.raises(ConnectionRefusedError):
        there.handshake_s("127.0.0.1", port)


# ---- clocks ----


@pytest.mark.parametrize(("ahead_s", "cpus"), [(0.0, [0]), (0.3, None), (-0.3, None)])
def test_a_clock_that_is_wrong_is_corrected(gateway: Any, ahead_s: float, cpus: list[int] | None) -> None:
    """A meter's moments are this machine's."""
    line = Caller("there", lambda: gateway.remote_exec(SERVE))
    there = Remote(line, now_s=lambda: time.time() - ahead_s)
    assert there.clock.ahead_s == pytest.approx(ahead_s, abs=0.005)
    assert there.clocks().wall_s == pytest.approx(time.time() - ahead_s, abs=0.05)
    meter = there.hiccup_meter(cpus)
    began_s = time.time() - ahead_s
    meter.start()
    time.sleep(0.3)
    found = value_of(meter.stop())
    assert len(found.at_s) == len(found.longer_s) > 5
    assert all(began_s <= moment <= time.time() - ahead_s + 0.1 for moment in found.at_s)
    assert found.at_s[-1] == pytest.approx(time.time() - ahead_s, abs=0.15)


def test_a_clock_that_cannot_be_known_is_refused(gateway: Any) -> None:
    class Slow(Caller):
        def call(self, *given: Any, **named: Any) -> Any:
            time.sleep(0.006)
            found = super().call(*given, **named)
            time.sleep(0.006)
            return found

    with pytest.raises(TandemError, match=r"host far: its clock can only be known to within \d+\.\d ms"):
        Remote(Slow("far", lambda: gateway.remote_exec(SERVE)))


# ---- an agent that is gone, or hangs ----


@pytest.fixture
def own(root: Path) -> Iterator[tuple[Remote, int]]:
    """An agent of this test alone, and its PID."""
    with agents(root) as gateway:
        there = Remote(Caller("own", lambda: gateway.remote_exec(SERVE)))
        pid = int(gateway.remote_exec("import os; channel.send(os.getpid())").receive(5))
        yield there, pid
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGKILL)


def test_an_agent_that_hangs_is_an_oserror_in_time(
    own: tuple[Remote, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, pid = own
    monkeypatch.setattr(remote, "CALL_S", 0.3)
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(OSError, match=r"host own did not answer within 0\.3 s"):
        there.read_cpu()
    assert time.monotonic() - began < 2
    os.kill(pid, signal.SIGCONT)
    assert there.cpus == HERE.cpus, "the late answer is not taken for that of the next question"


def test_an_agent_that_was_killed_is_an_oserror(own: tuple[Remote, int]) -> None:
    there, pid = own
    group = there.cgroup(os.getpid())
    os.kill(pid, signal.SIGKILL)
    for ask in (there.read_cpu, group.usage, there.clocks):
        with pytest.raises(OSError, match="host own can no longer be reached"):
            ask()


def test_threads_do_not_wait_for_each_other(there: Remote, sleeper: subprocess.Popen[bytes]) -> None:
    def often(ask: Callable[[], object]) -> set[str]:
        return {type(ask()).__name__ for _ in range(50)}

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(often, (there.read_cpu, lambda: there.alive(sleeper.pid), there.clocks)))
    assert found == [{"HostCpu"}, {"bool"}, {"Clocks"}]


def test_a_database_that_nobody_answers_for_is_an_error_here(there: Remote) -> None:
    with pytest.raises(OSError, match="OperationalError"):
        there.round_trips("127.0.0.1", 9, "nobody")

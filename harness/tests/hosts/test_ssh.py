"""tandem.hosts.ssh and docker: how another host is reached."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from python_on_whales import DockerException

from tandem.errors import TandemError
from tandem.hosts import docker, ssh
from tandem.hosts.ssh import Connection, explained

OPENS = """
case "$*" in *" -O "*) echo "$@" >> {log}; exit {status} ;; esac
while [ "$1" != -S ]; do shift; done
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2"
exec sleep 60
"""


type Instead = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "CONNECT_S", 0)
    monkeypatch.setattr(ssh, "ASK_S", 1)


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instead:
    """Puts a script in the place of a program."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def put(program: str, script: str) -> None:
        (tmp_path / program).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / program).chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Host key verification failed.", "Host key verification failed.: connect to it once by hand"),
        ("u@h: Permission denied (publickey).", "ssh-copy-id u@h"),
        ("ssh: Could not resolve hostname h: unknown", "the lab's file names an unknown host"),
        ("", "it said nothing"),
        ("something new", "something new"),
        ("@@@@\nWARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.", "by hand"),
    ],
)
def test_what_ssh_says_comes_with_what_helps(said: str, told: str) -> None:
    assert told in explained(said, "u@h")


def test_a_wrong_key_is_one_sentence(instead: Instead, monkeypatch: pytest.MonkeyPatch) -> None:
    instead("ssh", "echo 'u@h: Permission denied (publickey).' >&2; exit 255")
    monkeypatch.setattr(ssh, "CONNECT_S", 5)
    with pytest.raises(TandemError, match=r"^u@h cannot be reached: .*Permission denied.*ssh-copy-id u@h$"):
        Connection("u@h")


def test_a_server_that_hangs_is_given_up(instead: Instead) -> None:
    instead("ssh", "exec sleep 60")
    began = time.monotonic()
    with pytest.raises(TandemError, match="no answer within 0 s of its SSH server"):
        Connection("u@h")
    assert time.monotonic() - began < 5


def test_a_socket_is_forwarded_through_the_open_connection_and_a_refusal_is_told(
    instead: Instead, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh, "CONNECT_S", 10)
    log = tmp_path / "log"
    instead("ssh", OPENS.format(log=log, status=0))
    connection = Connection("u@h", 2222)
    folder = connection.folder
    assert folder.stat().st_mode & 0o077 == 0
    connection.forward("127.84.0.1:5432", "172.18.0.2:5432")
    assert "-O forward -L 127.84.0.1:5432:172.18.0.2:5432 u@h" in log.read_text()
    for option in ("StrictHostKeyChecking=yes", "BatchMode=yes", "ForwardAgent=no"):
        assert f"-o {option} " in log.read_text()
    assert connection._master.poll() is None
    assert os.getsid(connection._master.pid) != os.getsid(0), (
        "Ctrl-C does not end it before what is there is removed"
    )
    connection.close()
    connection.close()
    assert connection._master.poll() is not None
    assert not folder.exists()
    instead("ssh", OPENS.format(log=log, status=255))
    connection = Connection("u@h")
    with pytest.raises(TandemError, match="cannot be forwarded"):
        connection.forward("/run/a", "/run/b")
    connection.close()


@pytest.mark.parametrize("destination", ["-oProxyCommand=true", "u@h;id", "u@h extra", ""])
def test_a_destination_is_no_option(destination: str) -> None:
    with pytest.raises(TandemError, match="is not user@host"):
        Connection(destination)


def complaint(url: str | None = "unix:///none") -> str:
    """What is told of an engine that lists no containers."""
    with pytest.raises(DockerException) as found:
        docker.docker_client(url).container.list()
    return docker.complaint(found.value)


def test_one_that_hangs_is_an_error_and_one_that_answers_is_not_hurried(
    instead: Instead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker, "ANSWERS_S", 1)
    instead("docker", "exec sleep 30")
    assert "has stopped answering" in complaint()
    instead("docker", "sleep 1.5")
    assert docker.docker_client("unix:///none", lasts_s=5).container.list() == []
    instead("docker", "echo no such thing >&2; exit 1")
    assert complaint() == "no such thing", "its own words"


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Error response from daemon: Requested CPUs are not available - requested 7, available: 0-1", "--placement shared"),
        ("write /var/lib/docker/tmp/GetImageBlob1: no space left on device", "`just clean`"),
        ("Error response from daemon: no such thing", None),
    ],
)  # fmt: skip
def test_what_engines_say_has_its_remedy(instead: Instead, said: str, remedy: str | None) -> None:
    """The first is what Docker 20.10 says."""
    instead("docker", f'echo "{said}" >&2; exit 1')
    first, *others = complaint(None).splitlines()
    assert first == said
    assert len(others) == bool(remedy)
    assert all(remedy and remedy in other for other in others)


def test_this_machines_engine_has_no_limit() -> None:
    assert docker.docker_client(None).client_config.client_call == ["docker"]

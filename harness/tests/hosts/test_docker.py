"""tandem.hosts.docker: an engine of another host that does not answer."""

from pathlib import Path

import pytest
from python_on_whales import DockerException

from tandem.hosts import docker


def engine(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program in the place of Docker's command line."""
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_one_that_hangs_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(tmp_path, "exec sleep 30", monkeypatch)
    monkeypatch.setattr(docker, "ANSWERS_S", 1)
    with pytest.raises(DockerException) as found:
        docker.docker_client("unix:///none").container.list()
    assert "has stopped answering" in docker.complaint(found.value)


def test_one_that_answers_is_not_hurried_and_its_own_words_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker, "ANSWERS_S", 1)
    engine(tmp_path, "sleep 1.5", monkeypatch)
    assert docker.docker_client("unix:///none", lasts_s=5).container.list() == []
    engine(tmp_path, "echo no such thing >&2; exit 1", monkeypatch)
    with pytest.raises(DockerException) as found:
        docker.docker_client("unix:///none").container.list()
    assert docker.complaint(found.value) == "no such thing"


def test_this_machines_engine_has_no_limit() -> None:
    assert docker.docker_client(None).client_config.client_call == ["docker"]

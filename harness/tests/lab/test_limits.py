"""tandem.lab.prepare: how many connections and threads a host can hold."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tandem.errors import UsageError
from tandem.hosts import HERE, Here, Host
from tandem.lab.prepare import (
    PORTS,
    RESERVED_FILES,
    RESERVED_THREADS,
    Limits,
    read_limits,
    refuse_on_any,
    refuse_too_many,
)
from tandem.lab.sites import ALONE, EngineSite, Local, Sites, as_role


class TwoHosts(Sites):
    """A generator's host and the application's."""

    def __init__(self, generator: Here, application: Here) -> None:
        self.places = {"loadgen": generator, "app": application}

    def of(self, service: str) -> EngineSite:
        role = as_role(service)
        return AHost(role, "192.0.2.1", of=self.places[role])


@dataclass(frozen=True)
class AHost(Local):
    """A place on a lab's network."""

    of: Host = HERE

    @property
    def host(self) -> Host:
        return self.of


def host_with(threads: int, folder: Path) -> Here:
    """One whose kernel gives so many; open files are this machine's."""
    for name in ("kernel/threads-max", "kernel/pid_max", "vm/max_map_count"):
        (folder / "sys" / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / "sys" / name).write_text(f"{2 * threads + RESERVED_THREADS}\n")
    return Here(proc=folder)


def test_in_a_lab_each_host_has_limits_of_its_own(tmp_path: Path) -> None:
    few, many = host_with(1_000, tmp_path / "few"), host_with(20_000, tmp_path / "many")
    refuse_on_any(500, 5_000, 1, TwoHosts(few, many))
    with pytest.raises(UsageError, match=r"host app: a thread for each of 5,000 connections"):
        refuse_on_any(500, 5_000, 1, TwoHosts(many, few))
    fits = read_limits(HERE).connections
    with pytest.raises(UsageError, match=rf"host loadgen: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"host app: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 2, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"^{fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, ALONE)


def test_what_fits() -> None:
    assert Limits(20_000, 0).connections == 20_000 - RESERVED_FILES
    assert Limits(10**6, 0).connections == PORTS, "one address has so many source ports"
    assert Limits(10, 0).connections == 0
    refuse_too_many(19_900, Limits(20_000, 0))
    with pytest.raises(UsageError):
        refuse_too_many(19_901, Limits(20_000, 0))


def test_the_hosts_own_limits(tmp_path: Path) -> None:
    for name, value in (
        ("kernel/threads-max", 50_000),
        ("kernel/pid_max", 32_768),
        ("vm/max_map_count", 65_530),
    ):
        (tmp_path / "sys" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "sys" / name).write_text(f"{value}\n")
    host = Here(proc=tmp_path)
    assert read_limits(host).threads == 30_768
    (tmp_path / "sys/vm/max_map_count").write_text("8000\n")
    assert read_limits(host).threads == 4_000
    assert read_limits(HERE).open_files > 0

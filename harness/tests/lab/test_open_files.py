"""Soft limits of open files: engines of containerd 2 begin with 1,024, and what holds thousands of connections raises its own."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tandem.lab import generator_runs

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

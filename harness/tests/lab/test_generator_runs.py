"""tandem.lab.generator_runs: what generators are given, and several of them, as processes of this machine in place of containers."""

import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from harness_samples import make_rows, there

from tandem.catalog.golden import SentBodies
from tandem.errors import TandemError
from tandem.lab import generator_runs
from tandem.lab.generator_runs import LEAD_S, collected, run_load, run_shares, send
from tandem.lab.sites import ALONE, Sites
from tandem.lab.stack import Stack
from tandem.load.generator import OHA, Generator, Load, Report
from tandem.load.rows import Rows
from tandem.load.shares import Share, deal


class Local:
    """Runs the commands of a Stack here, and notes them by role. dead: roles whose container is gone."""

    def __init__(self, dead: Sequence[str] = (), sites: Sites = ALONE) -> None:
        self.dead, self.variables, self.sites = dead, {"LOADGEN": "oha"}, sites
        self.commands = dict[str, list[str]]()

    def execute(self, role: str, command: list[str], lasts_s: float = 0.0) -> str:
        self.commands[role] = command
        if role in self.dead:
            raise TandemError(f"the service {role} has no container")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TandemError(f"failed in {role} with {done.returncode}")
        return done.stdout

    def copy_out(self, role: str, source: str, target: Path) -> None:
        shutil.copy(source, target)


class Told(Generator):
    """A generator whose command is a shell's. It leaves one file, and its rows are as many as that says."""

    name = "sh"
    suffixes: tuple[str, ...] = ("rows",)
    folder = ""
    """Where it runs."""

    def __init__(self, script: str = "echo 100") -> None:
        self.script = script

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        return {}

    def arguments(self, load: Load, name: str) -> list[str]:
        return ["sh", "-c", f"({self.script}) > {self.folder}/{name}.rows"]

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        try:
            number = int((folder / f"{name}.rows").read_text())
        except ValueError:
            raise TandemError(f"{name}: the load generator's rows cannot be read") from None
        start = np.arange(number) / 100
        return make_rows(start, start + 0.01), Report(statusCodeDistribution={"200": number})


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Here the files are brought home to; the generators' own folder is another."""
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(generator_runs, "FOLDER", str(tmp_path / "there"))
    monkeypatch.setattr(Told, "folder", str(tmp_path / "there"))
    monkeypatch.setattr(generator_runs, "LEAD_S", 0.4)
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def shares(generators: int, rate_rps: int | None = None) -> list[Share]:
    return deal(Load("http://proxy:8080/", 1, 6, 1, {}, rate_rps=rate_rps), OHA, generators)


def run(folder: Path, own: list[Share], by: Told | None = None, **how: Any) -> generator_runs.Ran:
    """How: the stack, and who holds the generators."""
    named = {f"open-g{number}": share for number, share in enumerate(own, start=1)}
    stack, before = how.get("stack", Local()), how.get("before", ())
    return run_shares(cast(Stack, stack), folder, named, by or Told(), before)


def brought(
    folder: Path, found: generator_runs.Ran, *zero: Any
) -> tuple[Rows, dict[str, tuple[Rows, Report] | str]]:
    """All rows, and what each generator left."""
    left: dict[str, tuple[Rows, Report] | str] = {}
    rows = collected(folder, Told(), found, lambda part, its: left.update({part.share.role: its}), *zero)
    return rows, left


def test_they_begin_at_one_moment_each_with_its_phase(folders: Path) -> None:
    called_s = time.time()
    found = run(folders, shares(3, rate_rps=10), Told("sleep 0.1; echo 100"))
    assert [one.share.role for one in found.shares] == ["loadgen", "loadgen-2", "loadgen-3"]
    assert [one.name for one in found.shares] == ["open-g1", "open-g2", "open-g3"]
    began = [one.ran.began_s for one in found.shares if one.ran]
    late = [one.late_s or 0.0 for one in found.shares]
    assert min(began) >= called_s + 0.4
    assert min(late) >= 0, "a busy machine wakes them later, never earlier"
    moments = [at_s - late_s for at_s, late_s in zip(began, late, strict=True)]
    assert [moment - moments[0] for moment in moments] == pytest.approx([0.0, 0.1, 0.2], abs=1e-5)
    assert found.began_s == min(began)
    assert found.ended_s > max(began)


def test_what_was_called_too_late_begins_at_once_and_is_told(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generator_runs, "LEAD_S", -0.5)
    assert all(there(one.late_s) >= 0.5 for one in run(folders, shares(2)).shares)


def test_one_that_dies_is_told_and_the_others_go_on(folders: Path) -> None:
    found = run(folders, shares(2), stack=Local(["loadgen-2"]))
    assert [one.ran is not None for one in found.shares] == [True, False]
    rows, left = brought(folders, found)
    assert len(rows) == 100
    assert left["loadgen-2"] == found.shares[1].problem == "the service loadgen-2 has no container"
    assert not isinstance(left["loadgen"], str)
    with pytest.raises(TandemError, match="no generator ran: the service loadgen has no container"):
        run(folders, shares(2), stack=Local(["loadgen", "loadgen-2"]))


def test_one_whose_rows_cannot_be_read_is_told(folders: Path) -> None:
    found = run(folders, shares(2))
    (folders / "open-g2.rows").write_text("half a nu")
    rows, left = brought(folders, found)
    assert (len(rows), [isinstance(one, str) for one in left.values()]) == (100, [False, True])


def test_rows_count_from_the_first_that_began(folders: Path) -> None:
    found = run(folders, shares(2, rate_rps=5))
    rows, _ = brought(folders, found)
    began = [one.ran.began_s for one in found.shares if one.ran]
    assert (len(rows), rows.start_s.min()) == (200, 0.0)
    assert rows.start_s.max() == pytest.approx(0.99 + began[1] - began[0])
    assert (np.diff(there(rows.due_s)) >= 0).all()


def test_one_generator_alone_waits_for_nothing(folders: Path) -> None:
    """Its command has no moment in it, and its files are named as ever."""
    [share], stack = shares(1), Local()
    ran = run_load(cast(Stack, stack), folders, "closed", share.load, Told())
    script = f"cd {Told.folder} && rm -f closed.rows; {generator_runs._SCRIPT}"
    assert {role: command[2] for role, command in stack.commands.items()} == {"loadgen": script}
    assert ran.shares == ()
    assert ran.ended_s - ran.began_s < LEAD_S
    assert (folders / "closed.rows").is_file()


class Ahead(Sites):
    """The second generator's host has a clock that is 2 s behind."""

    def of(self, service: str) -> Any:
        behind_s = 2.0 if service == "loadgen-2" else 0.0
        return SimpleNamespace(host=SimpleNamespace(to_ours=lambda moment_s: moment_s + behind_s))


def test_a_host_waits_by_its_own_clock(folders: Path) -> None:
    """Its command has that clock's moment, and what it stamps is told by this one's."""
    stack = Local(sites=Ahead())
    found = run(folders, shares(2), stack=stack)
    ours, theirs = (
        int(stack.commands[role][2].partition("$((")[2].partition(" ")[0])
        for role in ("loadgen", "loadgen-2")
    )
    assert ours - theirs == pytest.approx(2e9, abs=1e3)
    first, second = (there(one.ran) for one in found.shares)
    assert second.began_s - first.began_s == pytest.approx(2.0 - 0.4, abs=0.2), "there its moment had passed"


def test_who_is_woken_by_others_has_no_moment(folders: Path) -> None:
    """As in slices: when its rows count from follows from them."""
    found = run(folders, shares(2), before=("sh", "-c", 'exec "$@"', "held"))
    assert [one.late_s for one in found.shares] == [None, None]
    zeros = iter((50.0, 50.5))
    rows, _ = brought(folders, found, lambda rows: next(zeros))
    assert (rows.start_s.min(), rows.start_s.max()) == (0.0, pytest.approx(0.99 + 0.5))


def test_bodies_are_given_once_to_each_container(tmp_path: Path) -> None:
    bodies, others = SentBodies.of(b"[1]", b"[2]"), SentBodies.of(b"[3]")
    copied: list[tuple[str, str, bytes]] = []

    def copy_in(service: str, file: Path, path: str) -> None:
        copied.append((service, path, file.read_bytes()))

    stack: Any = SimpleNamespace(copy_in=copy_in)
    for container, sent in (("1", bodies), ("1", bodies), ("1", others), ("2", bodies)):
        load = Load("http://a/", 1, 1, 1, {}, method="POST", bodies=sent)
        send(stack, f"lab-generator_runs-{container}", tmp_path, "w", load, OHA)
    first = ("loadgen", f"/tmp/body-{bodies.name}", b"[1]\n[2]")
    assert copied == [first, ("loadgen", f"/tmp/body-{others.name}", b"[3]"), first]
    assert list(tmp_path.iterdir()) == [], "the bodies are not kept with the raw files"


def test_what_a_tool_printed_stands_between_two_stamps() -> None:
    ran = generator_runs.split("1700000000.5\nRunning\n\nRequests\n1700000010.25\n")
    assert (ran.began_s, ran.text, ran.ended_s) == (1700000000.5, "Running\n\nRequests\n", 1700000010.25)
    for broken in ("", "Running\n", "1700000000.5\nRunning\n"):
        with pytest.raises(TandemError, match="stamps"):
            generator_runs.split(broken)

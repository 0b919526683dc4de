"""`just session --labs`: a session in each lab at the same time, in processes that stand in for the command."""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from harness_sessions import MILAN, NOON, XEON, session

from tandem.catalog.catalog import Catalog
from tandem.commands import session as command
from tandem.errors import TandemError, UsageError
from tandem.facts.session import append, name_of

FAKE = """
import pathlib, sys, time
folder = pathlib.Path({folder!r})
lab = sys.argv[sys.argv.index("--lab") + 1]
(folder / f"{{lab}}.arguments").write_text(" ".join(sys.argv[1:]))
until = time.monotonic() + 20
while len(list(folder.glob("*.arguments"))) < {together}:
    if time.monotonic() > until:
        sys.exit("tandem: the others have not begun")
    time.sleep(0.01)
print("block 1 of 6", file=sys.stderr)
if lab == "b":
    sys.exit("tandem: host application cannot be reached: no answer\\nwithin 10 s of its SSH server")
print((folder / f"{{lab}}.json").read_text() + " " * 500_000, flush=True)
print("block 6 of 6", file=sys.stderr)
sys.exit(lab == "c")
"""
"""Begins only once all have begun. `b` cannot be reached, and the verdict of `c` is not ok."""


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the sessions that the labs `a` and `c` append."""
    (script := tmp_path / "fake.py").write_text(FAKE.format(folder=str(tmp_path), together=3))
    monkeypatch.setattr(command, "COMMAND", (sys.executable, str(script)))
    for lab, machine in (("a", MILAN), ("c", XEON)):
        made = session(0, machine, placement=f"lab:{lab}", id=name_of(NOON, machine, lab))
        (tmp_path / f"{lab}.json").write_text(made.model_dump_json())
        append(made, tmp_path)
    return tmp_path


def test_sessions_are_made_at_the_same_time_and_one_that_fails_ends_no_other(labs: Path) -> None:
    ended = command.sessions_in(["a", "b", "c"], ["--seed=7", "--untested"])
    assert [(one.lab, one.session is not None, one.status) for one in ended] == [
        ("a", True, 0),
        ("b", False, 1),
        ("c", True, 1),
    ]
    assert ended[1].problem == "host application cannot be reached: no answer within 10 s of its SSH server"
    assert (labs / "a.arguments").read_text() == "--lab a --json --seed=7 --untested"


def test_one_that_begins_after_the_other_has_ended_is_noticed(labs: Path) -> None:
    """The control: the processes that stand in do wait for each other."""
    script = Path(command.COMMAND[1])
    script.write_text(script.read_text().replace("+ 20", "+ 0.1"))
    (alone,) = command.sessions_in(["a"], [])
    assert alone.problem == "the others have not begun"


def test_the_command_tells_all_and_fails_where_one_did(
    labs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "RESULTS", labs)
    monkeypatch.setattr(command, "refuse_changed", lambda: None)
    monkeypatch.setattr(command, "refuse_untested", lambda untested: None)
    monkeypatch.setattr(command, "names_of_labs", lambda catalog, text: text.split(","))
    with pytest.raises(TandemError, match=r"^lab b: host application cannot be reached"):
        command.session(labs="a,b,c")
    said = capsys.readouterr()
    for lab, machine in (("a", MILAN), ("c", XEON)):
        assert f"{name_of(NOON, machine, lab)}.json" in said.out
    assert "lab b" in said.out
    assert "a: block 1 of 6" in said.err
    with pytest.raises(TandemError):
        command.session(labs="a,b,c", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert [one["session"] and one["session"]["placement"] for one in told] == ["lab:a", None, "lab:c"]
    with pytest.raises(UsageError, match="--lab and --labs both"):
        command.session(labs="a", lab="a")


def test_an_interrupted_command_ends_its_sessions_and_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import pathlib, sys, time\ntry:\n    print('up', file=sys.stderr)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
    text += f"    time.sleep(0.2)\n    (pathlib.Path({str(tmp_path)!r}) / sys.argv[2]).touch()\n"

    both_up = threading.Barrier(2)

    def interrupted(name: str, process: Any) -> Any:
        process.stderr.readline()
        both_up.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "COMMAND", (sys.executable, "-c", text))
    monkeypatch.setattr(command, "_watched", interrupted)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        command.sessions_in(["a", "b"], [])
    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()
    assert time.monotonic() - began < 30


def lab_file(folder: Path, name: str, application: str, address: str = "192.0.2.12") -> str:
    file = folder / f"{name}.toml"
    file.write_text(
        f'[hosts.one]\nengine = "{application}"\naddress = "{address}"\nroles = ["app", "proxy"]\n'
        f'[hosts.two]\nengine = "ssh://{name}-two.invalid"\naddress = "192.0.2.13"\nroles = ["db", "pgbouncer", "loadgen"]\n'
    )
    return str(file)


@pytest.mark.parametrize(
    ("labs", "told"),
    [
        (
            ("ssh://a@192.0.2.1", "ssh://b@192.0.2.1:22"),
            "the labs first and second share a machine, 192.0.2.1:22",
        ),
        (("here", "here"), "the labs first and second share a machine, here"),
        (("ssh://192.0.2.1", "here"), "one of the lab second is this machine, which serves"),
        ("three-hosts,three", "there is no lab 'three'.* Did you mean 'three-hosts'"),
        ("three-hosts,three-hosts", "names three-hosts twice"),
        ("three-hosts,", "takes names of labs with commas between them"),
        ("", "takes names of labs"),
    ],
)
def test_what_cannot_be_measured_or_would_disturb_is_refused_before_anything_starts(
    real: Catalog, tmp_path: Path, labs: str | tuple[str, str], told: str
) -> None:
    """labs: names, or the engines of two."""
    if isinstance(labs, tuple):
        labs = ",".join(
            lab_file(tmp_path, name, engine) for name, engine in zip(("first", "second"), labs, strict=True)
        )
    with pytest.raises(UsageError, match=told):
        command.names_of_labs(real, labs)


def test_labs_of_their_own_machines_are_taken(real: Catalog, tmp_path: Path) -> None:
    """The control: another port of one address is another machine behind it, and private addresses may be equal."""
    first = lab_file(tmp_path, "first", "ssh://a@192.0.2.1")
    second = lab_file(tmp_path, "second", "ssh://a@192.0.2.1:2222")
    assert command.names_of_labs(real, f"{first}, {second},three-hosts") == [
        first,
        second,
        "three-hosts",
    ]
    alone: Any = lab_file(tmp_path, "alone", "here")
    assert command.names_of_labs(real, alone) == [alone]

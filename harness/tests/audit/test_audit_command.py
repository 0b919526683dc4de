"""`tandem audit`: output for people, pages and programs, exit status; the launcher shows it files from anywhere."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.cli.options import app
from tandem.commands import audit as command
from tandem.errors import UsageError

HOSTILE = "<script>alert(1)</script>[x](http://y)|`[red]b[/red]\x1b[31m"


def written(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def said(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def test_it_says_what_contradicts_itself_and_ends_with_1(fixtures: Path) -> None:
    file = fixtures / "audit/static-1024.json"
    found = said(file)
    assert found.exit_code == 1
    assert found.stdout.startswith("audit of 51 rows: 32 contradict themselves\n")
    assert "6,404/s × 188.9 ms = 1,210 at once, of 1,024 that are possible" in found.stdout
    data = json.loads(said(file, "--json").stdout)
    (above,) = (one for one in data["findings"] if one["rule"] == "little-above")
    assert (data["contradicting"], above["level"], len(above["caught"])) == (32, "contradicts", 32)
    assert above["caught"][0].items() >= {"row": 0, "name": "actix", "test": "static-1024"}.items()
    page = said(file, "--markdown").stdout
    assert page.startswith("# What is wrong with this table\n\nAudit of 51 rows: 32 contradict themselves.\n")
    assert "| `actix` | `static-1024` | little-above |" in page


def test_nothing_contradicts_itself(tmp_path: Path, fixtures: Path) -> None:
    found = said(fixtures / "audit/pipelined-512.json")
    assert (found.exit_code, found.stdout.splitlines()[0]) == (0, "audit of 57 rows: none contradicts itself")
    one = written(tmp_path, "one.csv", "name,rate_rps,runs\na,1,3\n")
    assert said(one).stdout.startswith("audit of 1 row: none contradicts itself\nThese are statements about")


def test_what_the_file_does_not_tell_is_given(tmp_path: Path) -> None:
    file = written(tmp_path, "t.csv", "what,rps,mean_ms,cpu_percent\na,1000,100.0,700\n")
    mapped = ("--columns", "name=what,rate_rps=rps", "--connections", "64")
    assert said(file, *mapped).exit_code == 1
    assert said(file, *mapped, "--depth", "2").exit_code == 0
    assert said(file, *mapped, "--depth", "2", "--cpus", "4").exit_code == 1


def test_a_folder_and_what_is_not_read_of_it(tmp_path: Path) -> None:
    written(tmp_path, "a.csv", "name,rate_rps\na,1\n")
    written(tmp_path, "b.md", "nothing")
    assert "not read: b.md cannot be read: its format is not known\n" in said(tmp_path).stdout
    for arguments, told in {
        (str(tmp_path / "b.md"),): "Read are oha .*wrk2.*TechEmpower.*--columns rate_rps=rps,mean_ms=latency",
        (str(tmp_path / "none"),): "there is no .*none",
        (str(written(tmp_path, "mixed-4096.json", [])),): "there are no rows to audit",
        (str(tmp_path / "a.csv"), "--columns", "speed=rate_rps"): "no column 'speed'",
    }.items():
        with pytest.raises(UsageError, match=told) as error:
            app(["audit", *arguments], standalone_mode=False)
        assert error.value.exit_code == 2


def test_hostile_names_are_only_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    record = {"name": HOSTILE, "rate_rps": 1000, "mean": "100ms", "connections": 1}
    file = written(tmp_path, "t.json", [record])
    shown = re.sub(r"\W", "", said(file).stdout)  # whatever the lines of the table are
    assert "redbred" in shown
    assert "\x1b" not in said(file).stdout
    page = said(file, "--markdown", "--html").stdout
    assert "<script" not in page
    assert "`&lt;script>alert(1)&lt;/script>[x](http://y)/'[red]b[/red]\ufffd[31m`" in page
    html = (tmp_path / "results/page/runs/audit.html").read_text()
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html
    assert said(file, "--html").stdout.endswith(f"{tmp_path}/results/page/runs/audit.html\n")


def test_the_launcher_mounts_what_lies_elsewhere_read_only(root: Path, tmp_path: Path) -> None:
    client = tmp_path / "docker"
    client.write_text('#!/bin/sh\n[ "$1" != context ] || exec echo unix:///var/run/docker.sock\necho "$@"\n')
    client.chmod(0o755)
    file = written(tmp_path, "a table.csv", "name,rate_rps\n")
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def asked(*arguments: str) -> str:
        started: list[str | Path] = [root / "harness/run", *arguments]
        return subprocess.run(
            started, capture_output=True, text=True, check=True, env=path, cwd=tmp_path
        ).stdout

    for given in (("a table.csv",), ("a table.csv", str(file)), (str(root / "README.md"), "./a table.csv")):
        told = asked("audit", *given)
        assert told.count(f"--volume {file}:{file}:ro ") == 1
        assert f" --workdir {tmp_path} " in told
        assert told.endswith(f" -m tandem audit {' '.join(given)}\n")
        assert "README.md:ro" not in told
    for own in (["--service", "a table.csv"], ["--service=a table.csv"]):
        told = asked("compare", *own, "--image", "shop:main")
        assert told.count(f"--volume {tmp_path}:{tmp_path}:ro ") == 1, "with what it names beside it"
        assert f" --workdir {tmp_path} " in told
    told = asked("compare", "--image", "shop:main", "--database", "a table.csv")
    assert told.count(f"--volume {file}:{file}:ro ") == 1
    told = asked("bench", "node", "--help")
    assert "dev.tandem.command=help" in told, "it measures nothing, and hinders nobody"
    assert "dev.tandem.command=bench" in asked("bench", "node")
    other = asked("compare", "--service", str(root / "examples/shop/shop.toml"), "--image", "a table.csv")
    assert ":ro --entry" not in other
    other = asked("report", "a table.csv")
    assert ":ro --entry" not in other
    assert f" --workdir {root} " in other

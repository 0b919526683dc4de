"""tandem.commands.main, checks: help, exit codes and machine-readable output. No engine is needed, and none would be found."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import typer.main
from harness_commands import LAUNCHER
from harness_commands import run as execute
from harness_machines import machine
from harness_page import uncommitted
from harness_places import EXPERIMENTS
from rich.console import Console
from rich.table import Table
from rich.text import Text

from checks import run as checks
from checks.__main__ import app as checks_app
from tandem.catalog.catalog import Catalog
from tandem.cli import measure
from tandem.cli.options import app
from tandem.commands import main as cli
from tandem.hosts import Here
from tandem.lab.stack import MEASURING
from tandem.report.table import fitted
from tandem.studies.registry import STUDIES, json_schema, read_folder

NO_ENGINE = "unix:///nonexistent/docker.sock"
OWN, CHECKS = (typer.main.get_command(one).commands for one in (app, checks_app))  # type: ignore[attr-defined]
COMMANDS = sorted(name for name, one in {**OWN, **CHECKS}.items() if not one.hidden)


type Ended = subprocess.CompletedProcess[str]
Tandem = Callable[..., Ended]


@pytest.fixture
def tandem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Tandem]:
    """Runs the command line in this process; a process of its own takes seconds to import SciPy."""
    for module in (cli, measure):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    monkeypatch.delenv("TANDEM_CLIENT_PID", raising=False)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["tandem", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main(checks_app if CHECKS.keys() & {*arguments[:1]} else app)  # as harness/run does
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(arguments, ended.value.code, *said)

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def as_a_program(*arguments: str) -> Ended:
    path = str(Path(cli.__file__).parents[2])
    return execute(sys.executable, *arguments, DOCKER_HOST=NO_ENGINE, PYTHONPATH=path)


# ---- as a program ----


def test_the_programs_end_with_their_status(root: Path) -> None:
    said = as_a_program("-X", "importtime", "-m", "tandem", "list", "--json")
    assert said.returncode == 0
    assert json.loads(said.stdout)["implementations"].keys() == Catalog(root).implementations.keys()
    lines = [line.rpartition("|") for line in said.stderr.splitlines()]
    assert {head[:12] for head, _, _ in lines} == {"import time:"}, "it says nothing else"
    imported = {name.strip() for _, _, name in lines}
    assert imported & {"scipy", "scipy.stats", "ruptures"} == {"scipy"}, (
        "who measures nothing waits for no statistics"
    )
    said = as_a_program("-m", "checks", "verify", "rust-asink")
    assert (said.returncode, said.stdout) == (2, "")
    assert "tandem: there is no implementation 'rust-asink'. Did you mean 'rust-async'?" in said.stderr
    assert "Traceback" not in said.stderr


def test_the_launcher_starts_the_program_that_has_the_command(tmp_path: Path) -> None:
    """A client of Docker that only says what it is asked for. No command is in both programs."""
    assert OWN.keys() & CHECKS.keys() == set()
    client = tmp_path / "docker"
    client.write_text('#!/bin/sh\n[ "$1" != context ] || exec echo unix:///var/run/docker.sock\necho "$@"\n')
    client.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    for command in COMMANDS:
        said = execute(LAUNCHER, command, "--help", PATH=path).stdout
        program = "checks" if command in CHECKS else "tandem"
        assert said.endswith(f" --entrypoint python3 tandem/harness -m {program} {command} --help\n")


# ---- help ----


def test_without_a_command_it_says_what_there_is(tandem: Tandem) -> None:
    said = tandem()
    assert said.returncode == 2
    assert "--help lists" not in said.stderr, "nothing else is wrong"
    for command in OWN:
        assert f" {command} " in said.stdout + said.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does(tandem: Tandem, command: str) -> None:
    said = tandem(command, "--help")
    assert said.returncode == 0
    lines = [line.strip() for line in said.stdout.splitlines() if line.strip()]
    assert lines[0].startswith(f"Usage: tandem {command}")
    assert len(lines[1].split()) >= 3
    assert lines[1][0].isupper()
    own = {**OWN, **CHECKS}[command]
    assert [one.name for one in own.params if not getattr(one, "help", None)] == [], "they have no help"
    # Rich leaves out what looks like a tag, such as the name of a table in brackets.
    for text in (own.help, own.short_help, own.epilog, *(one.help for one in own.params)):
        assert Text.from_markup(text or "").plain == (text or "").replace("\\[", "[")


def test_a_name_in_brackets_is_shown(tandem: Tandem) -> None:
    assert "table [compare]" in " ".join(tandem("compare", "--help").stdout.split())


def test_every_command_is_in_the_justfile_and_documented_there(root: Path) -> None:
    dump = execute("just", "--justfile", str(root / "justfile"), "--dump", "--dump-format", "json")
    found = json.loads(dump.stdout)["recipes"]
    assert {name for name, recipe in found.items() if not recipe["doc"]} == set()
    for command in COMMANDS:
        assert found[command]["body"] == [[f'harness/run {command} "$@"']]


def test_the_command_for_any_folder_comes_and_goes(root: Path, tmp_path: Path) -> None:
    def install(*arguments: str) -> Ended:
        return execute(str(root / "harness/install"), *arguments, str(tmp_path / "bin"))

    file = tmp_path / "bin/tandem"
    for _ in range(2):
        assert install().stdout == f"{file}\n"
        assert f'exec "{root}/harness/run" "$@"' in file.read_text()
    assert install("--remove").returncode == 0
    assert not file.exists()
    file.write_text("another's")
    for arguments in ([], ["--remove"]):
        assert "is not ours" in install(*arguments).stderr
        assert file.read_text() == "another's"


# ---- bad input ----


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bench", "rust-asink"], "no implementation 'rust-asink'. Did you mean 'rust-async'?"),
        (["bench", "rust-async", "--plan", "smok"], "no plan 'smok'. Did you mean 'smoke'?"),
        (["bench", "rust-async", "--plan", "/none.toml"], "/none.toml: cannot be read"),
        (["bench", "rust-async", "--scenario", "recipez"], "no scenario 'recipez'. Did you mean 'recipe'?"),
        (["bench", "rust-async", "--topology", "ful"], "no topology 'ful'. Did you mean 'full'?"),
        (["bench", "rust-async", "--placement", "two-core"], "no placement 'two-core'. Did you mean 'two-cores'?"),
        (["bench", "rust-async", "--setting", "WORKERS"], "--setting takes NAME=VALUE, not 'WORKERS'"),
        (["bench", "rust-async", "--db-rtt", "-5ms"], "such as 15ms, not '-5ms'"),
        (["bench", "rust-async", "--scenario", "index", "--db-rtt", "15ms"], "never asks the database: leave out --db-rtt"),
        (["bench", "rust-async", "--generators", "0"], "Invalid value for '--generators'"),
        (["bench", "rust-async", "--generators", "51"], "cannot be dealt out to 51 generators"),
        (["crosscheck", "rust-asink"], "Did you mean 'rust-async'?"),
        (["crosscheck", "rust-async", "--pairs", "2"], "Invalid value for '--pairs'"),
        (["crosscheck", "rust-async", "--scenario", "indx"], "Did you mean 'index'?"),
        (["bench", "rust-async", "--sed", "3"], "tandem: No such option: --sed (Possible options: --header, --ids, --seed)"),
        (["bench", "rust-async", "--seed", "three"], "Invalid value for '--seed'"),
        (["bench"], "give a VARIANT, such as one that `tandem list` prints, or --image and --get"),
        (["verify", "rust-asink"], "Did you mean 'rust-async'?"),
        (["verify"], "Missing argument"),
        (["capacity", "rust-asink"], "Did you mean 'rust-async'?"),
        (["capacity", "rust-async", "--slo", "p98=50ms"], "such as p99=50ms, not 'p98=50ms'"),
        (["capacity", "rust-async", "--plan", "capasity"], "Did you mean 'capacity'?"),
        (["capacity", "rust-async", "--setting", "WORKERS=0"], "WORKERS must be a whole number from 1"),
        (["soak", "rust-async", "--for", "1 day"], "--for takes a time such as 2h, 15min or 600s"),
        (["soak", "rust-async", "--for", "5m"], "are 5 windows of 60 s, and a slope needs 7"),
        (["soak", "rust-async", "--for", "900000h"], "a shorter time fits"),
        (["start", "rust-asinc"], "Did you mean 'rust-async'?"),
        (["sweep", "rust-async"], "Missing option '--over'"),
        (["sweep", "rust-async", "--over", "conections=1..8"], "Did you mean 'connections'?"),
        (["sweep", "rust-async", "--over", "pool=0,4"], "DB_POOL_MAX must be a whole number from 1"),
        (["sweep", "rust-async", "--over", "wait=0,5", "--scenario", "recipes"], "needs the scenario work"),
        (["crossover", "rust-async"], "a crossover takes two variants, not 1"),
        (["crossover", "rust-sync", "rust-async", "--wait", "1s"], "--wait takes whole numbers from 0"),
        (["crossover", "rust-sync", "rust-async", "--threads", "0"], "--threads takes whole numbers from 1"),
        (["crossover", "rust-sync", "rust-async", "--wait", "0,20", "--pool", "4"], "--connections 34 fits"),
        (["advise", "--wait", "30"], "--wait takes milliseconds, such as 30ms"),
        (["advise", "--wait", "30ms"], "--cpu is missing"),
        (["explain", "node"], "Missing argument 'B'"),
        (["explain", "node", "rust-asink"], "Did you mean 'rust-async'?"),
        (["explain", "node", "rust-async", "--budget", "soon"], "such as 2h, 15min or 600s, not 'soon'"),
        (["explain", "node", "rust-async", "--from", "publishd"], "Did you mean 'published'?"),
        (["explain", "node", "rust-async", "--from", "published"], "nothing was published about node here"),
        (["explain", "node:db-rtt=4", "rust-async"], "db-rtt takes whole numbers from 0ms to 250ms, such as 15ms"),
        (["explain", "node:db-rt=4ms", "rust-async"], "db-rt"),
        (["explain", "node", "rust-async", "--factor", "a"], "--factor takes NAME=SETTING+SETTING"),
        (["explain", "python-sync:OFFLOAD=sum", "node"], "cannot vary OFFLOAD: there is no event loop that work could leave"),
        (
            ["explain", "python-sync", "python-async", "--from", "published", "--budget", "1min"],
            "the budget is 60 s. Fewer combinations: --factor 'connections=WORKERS+THREADS+DB_PERSISTENT+DB_PREPARE'",
        ),
        (["reproduce", "hyper-dely"], "Did you mean 'hyper-delay'"),
        (["reproduce", "/none.toml"], "cannot be read"),
        (["up", "rust-asink"], "Did you mean 'rust-async'?"),
        (["up", "rust-async", "--topology", "ful"], "Did you mean 'full'?"),
        (["benhc"], "tandem: No such command 'benhc'. Did you mean 'bench'?"),
        (["list", "--jsn"], "No such option: --jsn (Possible options: --json)"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_2_and_one_clear_message(
    tandem: Tandem, tmp_path: Path, arguments: list[str], told: str
) -> None:
    said = tandem(*arguments)
    assert said.returncode == 2
    assert told in " ".join(said.stderr.split())
    assert said.stdout == ""
    assert not (tmp_path / "results").exists(), "nothing may be left behind by a typing error"


def test_an_experiment_of_an_unknown_implementation(tandem: Tandem, tmp_path: Path) -> None:
    wrong = (EXPERIMENTS / "tiny.toml").read_text().replace("rust-hyper", "rust-hypr")
    (tmp_path / "wrong.toml").write_text(wrong)
    said = tandem("reproduce", str(tmp_path / "wrong.toml"))
    assert said.returncode == 2
    told = "row 'one thread, 20 ms': there is no implementation 'rust-hypr'"
    assert told in " ".join(said.stderr.split())


@pytest.mark.parametrize(
    ("on", "placement", "cores", "has"),
    [("vm-of-two", "eight-cores", 8, 2), ("old-laptop", "four-cores", 4, 2), ("one-cpu", "two-cores", 2, 1)],
)
def test_a_placement_that_does_not_fit_the_host(
    tandem: Tandem, monkeypatch: pytest.MonkeyPatch, on: str, placement: str, cores: int, has: int
) -> None:
    monkeypatch.setattr(Here, "topology", lambda self: machine(on))
    said = tandem("bench", "rust-async", "--placement", placement)
    assert said.returncode == 2
    told = f"the placement {placement} needs {cores} physical cores, but this host has {has} for containers: leave"
    assert told in " ".join(said.stderr.split())


def test_a_malformed_bench_toml(tandem: Tandem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bench.toml").write_text('title = "T"\nlanguage = "l"\nmodel = "threads"\nstack = []\n')
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    said = tandem("list")
    assert said.returncode == 2
    assert "mine/bench.toml: model: Input should be 'sync', 'async' or 'green'" in " ".join(
        said.stderr.split()
    )


@pytest.mark.parametrize("ends", [0, 1, KeyboardInterrupt])
def test_the_status_of_the_tests_is_the_programs(
    tandem: Tandem, monkeypatch: pytest.MonkeyPatch, ends: Any
) -> None:
    monkeypatch.setattr(checks, "quick", Mock(side_effect=[ends]))
    said = tandem("check")
    interrupted = ends is KeyboardInterrupt
    assert said.returncode == (130 if interrupted else ends)
    assert ("interrupted" in said.stderr) is interrupted


def test_only_what_can_go_on_says_so() -> None:
    """The matrix, for one, begins anew."""
    going_on = {name for name in COMMANDS if "--resume" in cli.interrupted(name)}
    assert going_on == {*STUDIES, "selftest", "session"} - {"questions"}, "which bench asks"
    assert going_on | {"matrix", "records", "replay"} <= {*MEASURING}, "of which one may run at a time"
    assert "start it again" in cli.interrupted("matrix")
    assert "--resume" not in cli.interrupted("")


# ---- machine-readable output ----


def test_the_list_names_every_kind(tandem: Tandem) -> None:
    found = json.loads(tandem("list", "--json").stdout)
    assert found.keys() == {"implementations", "scenarios", "plans", "topologies", "placements", "labs"}
    for entries in found.values():
        assert entries
        assert all(what for what in entries.values())
    text = tandem("list").stdout
    assert all(name in text for entries in found.values() for name in entries), "the list for people"
    assert "contract/broken" not in found["implementations"]


def test_the_schema_is_that_of_every_study(tandem: Tandem) -> None:
    assert json.loads(tandem("schema").stdout) == json_schema()


# ---- a sentence, its tables within 100 columns, its page; and that each can be quiet ----


KEPT = ("reference", "comparisons/falcon", "comparisons/python-sync", "explanations/published-python")
WIDTH = 100


def test_what_measures_can_be_quiet_and_answer_programs() -> None:
    measuring = {name for name in OWN if "--resume" in cli.interrupted(name)} | {"replay", "matrix"}
    assert {"bench", "nightly", "reproduce", "selftest"} < measuring
    for name in measuring:
        assert {"--quiet", "--json"} <= {option for one in OWN[name].params for option in one.opts}, name


@pytest.mark.parametrize("name", KEPT)
def test_a_result_is_told_in_one_sentence(root: Path, name: str) -> None:
    _, result, _ = read_folder(root / "results" / name)
    told = measure.sentence(result).plain
    assert told.startswith(f"{result.request.study}, ok: ")
    assert "\n" not in told
    bad = result.model_copy(update={"verdict": "void", "reasons": ["too much steal", "more"]})
    assert measure.sentence(bad).plain.endswith(": too much steal")


@pytest.mark.parametrize(
    ("name", "told"), [("sweep", "/s at connections"), ("ceiling", "% of "), ("crosscheck", "pairs")]
)
def test_the_sentence_has_the_main_figure(name: str, told: str) -> None:
    assert told in uncommitted(name).headline


def printed(root: Path, name: str, width: int) -> str:
    kind, result, _ = read_folder(root / "results" / name)
    console = Console(file=io.StringIO(), width=width)
    console.print(fitted(kind.report(result), console))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("name", KEPT)
def test_tables_fit_100_columns(root: Path, name: str) -> None:
    text = printed(root, name, WIDTH)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text, "a cell was cut"
    assert "┃" in printed(root, "comparisons/falcon", 240), "a table that fits keeps its frame"


def test_a_result_has_its_page_and_stands_without_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    assert measure.page_of(tmp_path / "nothing") is None
    shutil.copytree(root / "results/comparisons/falcon", tmp_path / "one")
    page = measure.page_of(tmp_path / "one")
    assert page is not None
    assert page.is_relative_to(tmp_path / "page/runs")
    assert "<h2>Findings</h2>" in page.read_text()


@pytest.mark.parametrize("verdict", ["ok", "failed"])
def test_what_is_no_study_ends_as_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verdict: str
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    said = Console(file=io.StringIO(), width=WIDTH)
    monkeypatch.setattr(measure, "out", said)
    table = Table("check", title="checks")
    table.add_row("one <script>")
    measure.tell("selftest", "1 of 1 checks hold", verdict == "ok", table, tmp_path / "selftest.json")
    lines = said.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == f"selftest, {verdict}: 1 of 1 checks hold"
    page = tmp_path / "page/runs/selftest.html"
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "selftest.json"), str(page)]
    text = page.read_text()
    assert f'<span class="verdict {verdict}">' in text
    assert "1 of 1 checks hold" in text
    assert "one &lt;script&gt;" in text

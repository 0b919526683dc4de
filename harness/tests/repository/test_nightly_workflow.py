"""nightly.yml, two nights in a row: its own shell steps, on runners that begin empty. GitHub's actions, Docker and the
measurement are stand-ins; git, the files of the history and what reads them are the real ones."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness_places import ROOT

from tandem.history import files

WORKFLOW = ROOT / ".github/workflows/nightly.yml"
IMPLEMENTATIONS = ("node", "rust-async")
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
REMOTE = "https://x-access-token:secret@github.com/owner/tandem.git"
BOOTSTRAP = """#!/bin/sh
exec "$PYTHON" "$NIGHT" "$@"
"""
NIGHT = '''
"""What a night does to the history and the images, without measuring: freezes what is not frozen, notes what it found."""
import json, os, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tandem.history import files
from tandem.history.night import Frozen, FrozenStack, Night, Program, StackImage

_, command, name, *_, machine = sys.argv
day = int(os.environ["DAY"])
at = datetime(2026, 1, day, 1, tzinfo=UTC) + timedelta(seconds=len(name))
folder, state = Path("results/history", machine), Path(os.environ["IMAGES"])
images = state.read_text().split() if state.exists() else []
known = files.read(folder)
digits = f"{day:02}{abs(hash(name)) % 10**10:010}"
has = f"tandem/{name}:{known.frozen[name].program.tag}" in images if name in known.frozen else None
if has is False:
    images.append(f"tandem/{name}:{known.frozen[name].program.tag}")  # is built again
if name not in known.frozen:
    files.keep(folder, Frozen(implementation=name, program=Program(tag=digits, commit="c" * 40), frozen_at=at))
    images.append(f"tandem/{name}:{digits}")
if known.stack is None or f"tandem/db:{known.stack.images['db'].tag}" not in images:
    roles = {"db": "db", "pgbouncer": "pgbouncer", "proxy": "proxy", "loadgen": "loadgen-oha"}
    stack = {role: StackImage(tag=digits, content="s") for role in roles}
    files.keep(folder, FrozenStack(images=stack, frozen_at=at))
    images += [f"tandem/{one}:{digits}" for one in roles.values()]
images.append(f"tandem/{name}:latest")
state.write_text("\\n".join(images) + "\\n")
found = {"day": day, "name": name, "nights": [one.id for one in known.nights], "frozen": sorted(known.frozen),
         "has": has, "dirty": os.popen("git status --porcelain -- . ':(exclude)results'").read()}
with open(os.environ["FOUND"], "a") as stream:
    stream.write(json.dumps(found) + "\\n")
files.append(folder, Night(id=f"{at:%Y%m%dT%H%M%SZ}-nightly-{name}", machine=machine, cpu_model="c", started_at=at,
                           programs={name: Program(tag=digits)}))
folder.joinpath(".lock").touch()
Path("results", f"{at:%Y%m%dT%H%M%SZ}-nightly-{name}").mkdir()
sys.exit(int(os.environ.get("STATUS", "0")))
'''
DOCKER = """#!/bin/sh
case "$1 $2" in
"image ls") grep "^$5:" "$IMAGES" || true ;;
"save --output") file=$3; shift 3; printf '%s\\n' "$@" >"$file" ;;
"load --input") cat "$3" >>"$IMAGES" ;;
*) echo "docker $*: not known here" >&2; exit 1 ;;
esac
"""


@dataclass
class GitHub:
    """What outlives a runner: the repository, the cache, the artifacts of a run."""

    folder: Path
    cache: dict[str, bytes] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)
    runners: int = 0

    def night(self, day: int, without: str = "", **variables: str) -> None:
        """Runs the jobs `measure`, for each implementation, and `keep`. without: the name of a step that is left out."""
        self.artifacts = {}
        for name in IMPLEMENTATIONS:
            given = {"matrix.implementation": name, "inputs.budget || '30m'": "30m"}
            self.job("measure", given, {"DAY": str(day), **variables}, without)
        self.keep(without)

    def keep(self, without: str = "") -> None:
        """Runs the job `keep`."""
        self.job("keep", {"github.token": "secret", "github.repository": "owner/tandem"}, {}, without)

    def job(self, name: str, given: dict[str, str], variables: dict[str, str], without: str) -> None:
        steps = yaml.safe_load(WORKFLOW.read_text())["jobs"][name]["steps"]
        Runner(self, steps, given, variables, without).run()

    def found(self) -> list[dict[str, Any]]:
        """What the measurements found when they began."""
        return [json.loads(line) for line in (self.folder / "found").read_text().splitlines()]


@dataclass
class Runner:
    """One job on an empty machine."""

    github: GitHub
    steps: list[dict[str, Any]]
    given: dict[str, str]
    variables: dict[str, str]
    without: str
    failed: bool = False
    outputs: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        self.github.runners += 1
        self.place = self.github.folder / f"runner-{self.github.runners}"
        for step in self.steps:
            if step.get("name") != self.without or not self.without:
                self._step(step)

    def _step(self, step: dict[str, Any]) -> None:
        wanted = step.get("if", "")
        if self.failed and "always()" not in wanted:
            return
        asked = re.search(r"steps\.(\w+)\.outputs\.(\w+) != ''", wanted)
        if asked and not self.outputs.get(f"{asked[1]}.{asked[2]}"):
            return
        if "run" in step:
            self._shell(step)
        else:
            with_ = {key: self._filled(value) for key, value in step.get("with", {}).items()}
            action = re.sub("[/-]", "_", step["uses"].partition("@")[0].removeprefix("actions/"))
            getattr(self, action)(step.get("id", ""), with_)

    def _filled(self, text: Any) -> Any:
        """A value of the workflow with its expressions replaced."""
        if not isinstance(text, str):
            return text
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self._value(found[1]), text)

    def _value(self, expression: str) -> str:
        if expression in self.given:
            return self.given[expression]
        where_hit = r"steps\.(\w+)\.outputs\.cache-hit == 'true' && "
        output = re.fullmatch(rf"(?:{where_hit})?steps\.(\w+)\.outputs\.(\w+)(?: \|\| '')?", expression)
        assert output, f"{expression} is not known here"
        if output[1] and self.outputs.get(f"{output[1]}.cache-hit") != "true":
            return ""
        return self.outputs.get(f"{output[2]}.{output[3]}", "")

    def _shell(self, step: dict[str, Any]) -> None:
        said = self.place / "output"
        said.write_text("")
        own = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        remote = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{self.github.folder / 'origin'}.insteadOf",
                  "GIT_CONFIG_VALUE_0": REMOTE}  # fmt: skip
        given = {"PYTHON": sys.executable, "NIGHT": str(self.github.folder / "night.py"),
                 "FOUND": str(self.github.folder / "found"), "IMAGES": str(self.place / "images"),
                 "PYTHONPATH": str(ROOT / "harness"), "PYTHONHASHSEED": "0", "GITHUB_OUTPUT": str(said),
                 "HOME": str(self.place), "PATH": f"{self.github.folder / 'bin'}:{os.environ['PATH']}"}  # fmt: skip
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.place / "work",
            env={**given, **remote, **self.variables, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        self.failed = self.failed or done.returncode != 0
        self.said = done.stdout + done.stderr
        expected = int(self.variables.get("STATUS", "0")) if "bootstrap" in step["run"] else 0
        assert done.returncode == expected, f"{step}\n{self.said}"
        for line in said.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"{step.get('id', '')}.{name}"] = value

    # ---- actions ----

    def checkout(self, _: str, with_: dict[str, Any]) -> None:
        """With all branches only if all of the history is asked for, as the action does."""
        self.place.mkdir()
        depth = [] if with_.get("fetch-depth") == 0 else ["--depth=1", "--single-branch"]
        origin = f"file://{self.github.folder / 'origin'}"
        subprocess.run([*GIT, "clone", "-q", *depth, origin, str(self.place / "work")], check=True)

    def cache_restore(self, step: str, with_: dict[str, Any]) -> None:
        if with_["key"] in self.github.cache:
            (self.place / "work" / with_["path"]).write_bytes(self.github.cache[with_["key"]])
            self.outputs[f"{step}.cache-hit"] = "true"

    def cache_save(self, _: str, with_: dict[str, Any]) -> None:
        assert with_["key"] not in self.github.cache, "a key is never written twice"
        self.github.cache[with_["key"]] = (self.place / "work" / with_["path"]).read_bytes()

    def upload_artifact(self, _: str, with_: dict[str, Any]) -> None:
        """Without hidden files, as the action does."""
        target = self.github.folder / f"artifact-{self.github.runners}-{with_['name']}"
        for source in sorted((self.place / "work").glob(with_["path"].rstrip("/"))):
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        self.github.artifacts[with_["name"]] = target

    def download_artifact(self, _: str, with_: dict[str, Any]) -> None:
        for name, place in self.github.artifacts.items():
            if fnmatch.fnmatch(name, with_["pattern"]):
                shutil.copytree(place, self.place / "work" / with_["path"], dirs_exist_ok=True)


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    """A repository without a history branch."""
    seed, origin = tmp_path / "seed", tmp_path / "origin"
    for place, text in ((seed / "bootstrap", BOOTSTRAP), (tmp_path / "bin/docker", DOCKER)):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(0o755)
    (seed / ".gitignore").write_text("/results/\n")
    (tmp_path / "night.py").write_text(NIGHT)
    for command in ("init -q", "add .", "commit -q -m base", f"clone -q --bare . {origin}"):
        subprocess.run([*GIT, *command.split()], cwd=seed, check=True)
    return GitHub(tmp_path)


def branch(github: GitHub, *arguments: str) -> str:
    done = subprocess.run(
        [*GIT, *arguments], cwd=github.folder / "origin", capture_output=True, text=True, check=True
    )
    return done.stdout


def test_nights_find_the_history_and_the_images_of_those_before(github: GitHub, tmp_path: Path) -> None:
    github.night(1)
    first = github.found()
    assert [(one["name"], one["nights"], one["frozen"]) for one in first] == [
        (name, [], []) for name in IMPLEMENTATIONS
    ]
    before = branch(github, "rev-parse", "history")
    github.keep()
    assert branch(github, "rev-parse", "history") == before, "without anything new there is no commit"

    github.night(2)
    both = [f"20260101T0100{len(name):02}Z-nightly-{name}" for name in IMPLEMENTATIONS]
    second = github.found()[2:]
    assert [one["nights"] for one in second] == [both, both], "that of all jobs of the night before"
    assert [one["frozen"] for one in second] == [[*IMPLEMENTATIONS]] * 2
    assert [one["has"] for one in second] == [True, True], "and the very images that were frozen"
    subprocess.run(
        [*GIT, "clone", "-q", "-b", "history", str(tmp_path / "origin"), str(tmp_path / "kept")], check=True
    )
    kept = files.read(tmp_path / "kept/github-hosted")
    assert (len(kept.nights), kept.broken) == (4, {})
    assert len(branch(github, "log", "--format=%s", "history").splitlines()) == 2
    assert not [*(tmp_path / "kept").rglob(".lock")]

    github.night(3)
    stacks = branch(github, "ls-tree", "-r", "--name-only", "history").count("/stacks/")
    assert stacks == len(IMPLEMENTATIONS), "each job froze one in the first night, and none froze another"
    assert len(github.cache) == 2 * len(IMPLEMENTATIONS), "an image and a stack of each, once"

    keys = {key for key in github.cache if "-stack-" not in key}
    github.cache.clear()
    github.night(4)
    assert [one["has"] for one in github.found()[6:]] == [False, False]
    assert keys <= {*github.cache}, "what was lost is built again, under the same name"
    github.night(5)
    assert [one["has"] for one in github.found()[8:]] == [True, True]
    assert {one["dirty"] for one in github.found()} == {""}, "nothing lies about among the sources"


def test_a_night_that_found_a_change_is_kept_and_the_test_can_fail(github: GitHub) -> None:
    """Its status is 3, so its job fails; its history counts all the same. Without the step that fetches it none is found."""
    github.night(1, STATUS="3")
    github.night(2)
    github.night(3, without="The history so far, and the keys of its frozen images")
    assert [len(one["nights"]) for one in github.found()] == [0, 0, 2, 2, 0, 0]

"""What an outsider has to touch: each test makes the addition in a copy of the repository, counts the files, and sees
the new thing work there, without containers."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness_places import ROOT

COPIED = ["harness/tandem", "harness/tests", "loadgen", "contract", "compose"]


class Copy:
    """A copy of the repository, and what was changed in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # What is compiled is copied, too: each test starts a Python that would compile the package again.
        unneeded = shutil.ignore_patterns("target", "node_modules")
        for folder in COPIED:
            shutil.copytree(ROOT / folder, root / folder, ignore=unneeded)
        for file in ROOT.glob("*/bench.toml"):
            (root / file.parent.name).mkdir(exist_ok=True)
            shutil.copy(file, root / file.parent.name)
        self._before = self._hashes()

    def _hashes(self) -> dict[str, str]:
        files = [f for f in self.root.rglob("*") if f.is_file() and "__pycache__" not in f.parts]
        return {str(f.relative_to(self.root)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}

    @property
    def touched(self) -> list[str]:
        """Files that are new or changed."""
        return sorted(name for name, digest in self._hashes().items() if self._before.get(name) != digest)

    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.root / file).read_text()
        assert text.count(old) == 1, f"{file} has '{old}' {text.count(old)} times"
        (self.root / file).write_text(text.replace(old, new))

    def told(self, script: str) -> list[Any]:
        """What a Python of its own has put into `told`, with the copy's package and the tests' helpers. All that a test asks is
        asked of one: each takes seconds to import the package."""
        paths = [str(self.root / "harness"), str(self.root / "harness/tests")]
        done = subprocess.run(
            [sys.executable, "-B", "-c", f"{BEFORE}\n{script}\nprint(json.dumps(told))"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.root / "harness",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TANDEM_ROOT": str(self.root)},
        )
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout)
        return found


BEFORE = """
import json
from pathlib import Path

import tandem.commands.main
from tandem.catalog.catalog import Catalog
from tandem.cli.options import ROOT, app, read_variants
from typer.testing import CliRunner

told = []
def command(text):
    told.append(CliRunner().invoke(app, text.split(), catch_exceptions=False).stdout)
"""
"""`command` adds what one of the program's commands prints."""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "tandem")


# ---- a probe: three files ----

PROBE = '''
"""The load average of the last minute."""

import os
from dataclasses import dataclass
from typing import Any

from tandem.record.window import HostLoad


@dataclass
class LoadAverage:
    scene: Any
    _found: float | None = None

    def start(self) -> None:
        pass

    def stop(self) -> None:
        self._found = os.getloadavg()[0]

    def part(self, app: str) -> HostLoad:
        return HostLoad(load_average=self._found)
'''
SEEN = """
from types import SimpleNamespace

from harness_engine import window_spec
from harness_windows import CPUSETS, measured

from tandem.judge.bottleneck import Concurrency
from tandem.judge.judge import Expectation
from tandem.lab import observe
from tandem.load.generator import OHA

def seen(part):  # what another probe would have seen
    return SimpleNamespace(part=lambda app: part)

by = SimpleNamespace(read=lambda folder, name: (measured().rows, measured().report))
case = SimpleNamespace(
    answers=SimpleNamespace(lengths=lambda: {1000}, keys=dict, ignored=()),
    scenario=SimpleNamespace(name="x", weight=1, status=200, patience_s=10, idle_connections=0, statements=[], in_turn=0),
    expected=Expectation([]), concurrency=Concurrency(),
)
case.classes = [case]
services = {role: SimpleNamespace(cpuset=cpuset) for role, cpuset in CPUSETS.items()}
stack = SimpleNamespace(sites=SimpleNamespace(machines=SimpleNamespace(cpus=2)))
app = SimpleNamespace(folder=Path("."), case=case, services=services, stack=stack)
ran = SimpleNamespace(began_s=measured().began_s, shares=())
asked = SimpleNamespace(duration_s=10, connections=1, rate_rps=None)
observe.PROBES = observe.PROBES[:1]
with observe.watched(observe.Scene({"one": app}, lambda *_: None)) as probes:
    pass
made = observe.windows(
    window_spec(), {"one": observe.Loaded(app, asked, by, "closed", ran)}, [*map(seen, measured().seen), *probes]
)
told.append(json.loads(made["one"].model_dump_json()))
"""


def test_a_probe_is_three_files(copy: Copy) -> None:
    copy.write("harness/tandem/probes/load_average.py", PROBE)
    observe = "harness/tandem/lab/observe.py"
    listed = "PROBES: tuple[Callable[[Scene], Probe[Seen] | None], ...] = (\n"
    copy.edit(observe, listed, f"{listed}    load_average.LoadAverage,\n")
    copy.edit(
        observe,
        "from tandem.probes.pools",
        "from tandem.probes import load_average\nfrom tandem.probes.pools",
    )
    copy.edit(
        "harness/tandem/record/window.py",
        "class Window(\n",
        "class HostLoad(Part):\n    load_average: Figure | None = None\n\n\nclass Window(\n    HostLoad,\n",
    )
    assert len(copy.touched) == 3
    older, schema, window = copy.told(f"{OLDER}{SEEN}")
    assert window["load_average"] >= 0, "it is in the record"
    assert window["goodput_rps"] > 0
    assert older is None, "a record from before is read as it was"
    assert "load_average" in json.loads(schema)["$defs"]["Window"]["properties"], (
        "and in what is promised of it"
    )


OLDER = f"""
from tandem.studies.registry import read_folder

_, _, trials = read_folder(Path({str(ROOT / "results/first-number/warm")!r}))
told.append(trials[0].windows[0].only.load_average)
command("schema")
"""

# ---- a scenario on an existing path, a plan, an experiment: one file each ----

PLANNED = """
from tandem.cli.shared import Asked
from tandem.lab.prepare import check, prepare
from tandem.studies.registry import STUDIES

def planned(study, scenario, plan):
    asked = Asked(scenario=scenario, plan=plan, placement="shared", seed=1)
    catalog = Catalog(ROOT)
    request = asked.request(study, catalog, read_variants(["rust-async", "node"]))
    check(catalog, request, request.variants)
    ready = prepare(catalog, request, request.variants[0], ROOT / "results/x")
    specs = [spec for block in STUDIES[study](catalog, request).outline() for spec in block]
    told.append({
        "trials": len(specs), "path": ready.case.scenario.path, "connections": ready.case.scenario.connections,
        "windows": sorted({window.name for spec in specs for window in spec.windows}),
    })
"""
"""`planned` adds what would be measured."""


def test_a_scenario_a_plan_and_an_experiment_are_one_file_each(copy: Copy) -> None:
    copy.write(
        "loadgen/scenarios/crowd.toml",
        'stresses = "Many connections at once."\n'
        'path = "/"\nconnections = 400\nstatements = []\nanswer = {file = "golden/index.html"}\n',
    )
    titled = 'title = "Twenty numbers, then'
    for kind, of, old, new in (
        ("plans", "smoke", "trials = 3", "trials = 5"),
        ("experiments", "hyper-delay", titled, titled.replace("Twenty", "My own: twenty")),
    ):
        shutil.copy(copy.root / f"loadgen/{kind}/{of}.toml", copy.root / f"loadgen/{kind}/mine.toml")
        copy.edit(f"loadgen/{kind}/mine.toml", old, new)
    assert copy.touched == [
        f"loadgen/{name}.toml" for name in ("experiments/mine", "plans/mine", "scenarios/crowd")
    ]
    asked = 'planned("bench", "crowd", "smoke"); planned("bench", "index", "mine")'
    commands = 'command("list --json"); command("reproduce list --json")'
    crowd, mine, *printed = copy.told(f"{PLANNED}\n{asked}\n{commands}")
    listed, experiments = map(json.loads, printed)
    assert listed["scenarios"]["crowd"] == "Many connections at once."
    titles = {entry["name"]: entry["title"] for entry in experiments}
    assert titles["mine"].startswith("My own")
    assert crowd == {"trials": 2 * 3, "path": "/", "connections": 400, "windows": ["closed", "open"]}
    assert mine["trials"] == 2 * 5


# ---- a study: a folder ----

STUDY = '''
"""Only the closed windows of a bench, one for each variant."""

from collections.abc import Sequence

from rich.console import RenderableType

from tandem.engine.study import Study
from tandem.record.result import Baselines, Concluded, Conclusions, Result
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Verdict
from tandem.engine.grid import warm_up_of, windows_of


class Glanced(Conclusions):
    """Label -> goodput."""

    goodput_rps: dict[str, float]


class Glance(Study[Glanced]):
    name = "glance"
    kind = Glanced

    def outline(self) -> list[list[TrialSpec]]:
        return [
            [
                TrialSpec(
                    name=variant.label,
                    block=1,
                    variants=[variant.label],
                    warm_up=warm_up_of(self.timing),
                    windows=windows_of(self.timing, variant.label)[:1],
                )
                for variant in self.variants
            ]
        ]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Glanced]:
        reached = {trial.spec.variants[0]: trial.windows[0].only.goodput_rps for trial in trials}
        return Concluded(verdict=Verdict.OK, conclusions=Glanced(goodput_rps=reached))

    @classmethod
    def report(cls, result: Result[Glanced]) -> RenderableType:
        return f"glanced: {result.conclusions.goodput_rps}"
'''
COMMAND = '''
"""`tandem glance`."""

from tandem.cli.options import Variants, read_variants
from tandem.cli.shared import Asked, Default, measuring
from tandem.studies.glance.study import Glance


@measuring(plan=Default("smoke"))
def glance(asked: Asked, variants: Variants) -> None:
    """Look once at each variant."""
    asked.measure_variants(Glance, read_variants(variants))
'''
MADE = """
from harness_engine import FakeLab, request, session
from tandem.engine.run import run

planned("glance", "recipes", "smoke")
asked = request("rust-async", "node", study="glance")
result, journal = run(STUDIES["glance"], asked, session(Catalog(ROOT), ROOT / "results", FakeLab()))
for text in ("--help", f"report {journal.folder} --json", f"report {journal.folder}", "schema"):
    command(text)
"""


def test_a_study_is_a_folder(copy: Copy) -> None:
    for name, text in (("__init__", '"""One look."""\n'), ("study", STUDY), ("command", COMMAND)):
        copy.write(f"harness/tandem/studies/glance/{name}.py", text)
    assert all(file.startswith("harness/tandem/studies/glance/") for file in copy.touched)
    plan, help_, record, told, schema = copy.told(f"{PLANNED}{MADE}")
    assert plan == {"trials": 2, "path": "/api/v1/recipes", "connections": 50, "windows": ["closed"]}
    assert "Look once at each variant." in help_
    reached = json.loads(record)["conclusions"]["goodput_rps"]
    assert reached == {"rust-async": 1000.0, "node": 1000.0}
    assert "glanced: {" in told
    titles = {definition.get("title") for definition in json.loads(schema)["$defs"].values()}
    assert "result.json of glance" in titles

"""Where the starts of the study of files are made: one container with its own new files for each."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.judge.judge import verdict
from tandem.lab.images import identity, keep_programs, origins
from tandem.lab.laboratory import Work, refuse_or_clean_up
from tandem.lab.live import View
from tandem.lab.provenance import TANDEM_VERSION, hashes
from tandem.lab.sources import git, has_changes
from tandem.lab.stack import engine_versions
from tandem.record.result import Environment
from tandem.record.trial import Phase, Start, Trial, TrialSpec
from tandem.record.window import Finding, Verdict
from tandem.studies.files import document
from tandem.studies.files.container import IMAGE, FilesContainer
from tandem.studies.files.spec import PROGRAM, arguments, case_of, seed_of

DOCUMENT = "asynctest.json"
"""The raw file of a start: what the program said."""


@dataclass
class FilesLab:
    """Called and used as tandem.lab.laboratory.Laboratory is."""

    catalog: Catalog
    results: Path
    view: View
    work: Work
    host: Host = HERE
    make_container: Callable[[Path], FilesContainer] = FilesContainer
    environments: dict[str, Environment] = field(init=False, default_factory=dict)
    """One, of the program: all rows are the same."""
    phases_s: dict[str, float] = field(init=False, default_factory=dict)
    _container: FilesContainer = field(init=False)

    @contextmanager
    def up(self) -> Iterator[None]:
        root = self.catalog.root
        refuse_or_clean_up(root, self.results, self.view.note)
        self._container = self.make_container(root)
        self._container.remove_leftovers()
        self.view.phase("build", None)
        self.phases_s["build"] = self._container.build()
        keep_programs(self.work.folder, {IMAGE: identity(self._container.image())})
        self.environments[PROGRAM] = self._environment()
        yield

    def _environment(self) -> Environment:
        root = self.catalog.root
        images = {PROGRAM: str(self._container.image().id)}
        return Environment(
            tandem_version=TANDEM_VERSION,
            git_commit=git(root, "rev-parse", "HEAD"),
            git_dirty=has_changes(root),
            host=self.host.describe(),
            images=images,
            taken=origins(images),
            versions=engine_versions(),
            settings={},
            variables={},
            hashes=hashes(root),
        )

    def visit(self, spec: TrialSpec, script: object, folder: Path) -> Trial:
        """Makes new files and counts them once in the way of each variant, in random order. script: has no windows."""
        ways = {one.label: one.settings["way"] for one in self.work.variants if one.label in spec.variants}
        case = case_of(next(one for one in self.work.variants if one.label in spec.variants))
        trial = Trial(spec=spec, started_at=datetime.now(UTC), verdict=Verdict.FAILED)
        self.view.phase(f"{case.files} files, {case.lines:,} lines, {case.cache}", spec.expected_s)
        began, cpu = time.monotonic(), self.host.read_cpu()
        seed = seed_of(self.work.request.seed, spec.block, case)
        try:
            text = self._container.run(arguments(case, list(ways.values()), seed))
            (folder / DOCUMENT).write_text(text)
            found = document.read(text)
        except (TandemError, OSError) as error:
            trial.findings.append(Finding.of("failed", "invalid", str(error)))
            return trial
        took_s, spent = time.monotonic() - began, self.host.read_cpu().since(cpu)
        for label, way in ways.items():
            counted, findings = document.counting(found, case, way)
            trial.facts[label] = counted.model_dump(mode="json")
            trial.starts[label] = Start(findings=findings)
        trial.findings = document.disturbance(spent.steal_s / spent.total_s)
        trial.verdict = verdict(list(trial.all_findings()))
        measuring_s = document.measuring_s(found, list(ways.values()))
        trial.phases = [
            Phase(name="measuring", duration_s=measuring_s),
            Phase(name="making files", duration_s=found.made_s),
            Phase(name="cache, loops, processes", duration_s=found.took_s - found.made_s - measuring_s),
            Phase(name="container", duration_s=took_s - found.took_s),
        ]
        self.environments[PROGRAM].versions |= document.versions(found)
        return trial

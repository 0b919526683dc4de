"""Experiments with files (kind `files`): one container with its own new files for each case of each block."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.lab.programs import identity, keep
from tandem.lab.provenance import TANDEM_VERSION, git, hashes
from tandem.lab.stack import engine_versions
from tandem.old.prepare import refuse_or_clean_up
from tandem.old.run import Environment
from tandem.old.store import file_name, give
from tandem.record.window import Verdict
from tandem.reproduce import files_result
from tandem.reproduce.experiment import Experiment, PlanName
from tandem.reproduce.files_container import IMAGE, FilesContainer
from tandem.reproduce.files_spec import Case, FilesRun, cases, check_space, percent, runs
from tandem.reproduce.journal import Journal, make_all, ordered
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked, Facts, Reproduction, Start, conclude, steps

CONTAINER_S = 1.5
MADE_NS, COUNTED_NS = 150, 80
"""For the estimate: a container; a line to make it, and to count it once in a way."""


@dataclass
class FilesSession:
    """Kind `files`. `run` may be called once."""

    bench: Bench
    host: Host = HERE
    container: Callable[[Path], FilesContainer] = FilesContainer
    _versions: dict[str, str] = field(default_factory=dict)
    """Of the libraries, as asynctest tells them."""

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        check_space(experiment, plan, self.host.free_bytes())

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        each = 0.0
        for case, rows in cases(experiment, plan).items():
            each += CONTAINER_S + case.lines * (MADE_NS + COUNTED_NS * len(rows)) / 1e9
        return experiment.plan(plan).starts * each

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        root, view = self.bench.catalog.root, self.bench.view
        started = datetime.now(UTC)
        refuse_or_clean_up(root, self.bench.results, view.note)
        journal = Journal.begin(self.bench.results, asked, resume, started)
        if resume:
            view.note(f"going on with {journal.folder.name}: {len(journal.starts())} starts are there")
        container = self.container(root)
        container.remove_leftovers()
        grouped = cases(experiment, asked.plan)
        of_row = {label: case for case, rows in grouped.items() for label in rows}
        try:
            view.phase("build", None)
            besides = {"builds": container.build()}
            keep(journal.folder, {IMAGE: identity(container.image())})
            order = steps(
                [list(rows) for rows in grouped.values()],
                experiment.plan(asked.plan).starts,
                journal.asked.seed,
            )

            def measure(block: int, rows: Sequence[str], attempt: int) -> list[Start]:
                case = of_row[rows[0]]
                wanted = {label: grouped[case][label] for label in rows}
                return self._measure(container, journal, case, wanted, block, attempt)

            make_all(order, journal, view, measure, experiment.figures[0])
            found = conclude(
                experiment,
                journal.asked,
                ordered(experiment, journal),
                {label: facts(experiment, asked.plan, label) for label in of_row},
                {"file-io": self._environment(container)},
                besides,
                (started, datetime.now(UTC)),
            )
            journal.finish(found)
        finally:
            with suppress(OSError):
                give(journal.folder, root)
        return found

    def _measure(
        self,
        container: FilesContainer,
        journal: Journal,
        case: Case,
        rows: Mapping[str, FilesRun],
        block: int,
        attempt: int,
    ) -> list[Start]:
        """One container: new files, then every way of the rows once, in random order."""
        self.bench.view.phase(f"{case.files} files, {case.lines:,} lines, {case.cache}", None)
        began, cpu = time.monotonic(), self.host.read_cpu()
        try:
            text = container.run(arguments(case, rows, _seed(journal.asked.seed, block, case)))
            document = files_result.read(text)
        except TandemError as error:
            return [
                Start(row=label, block=block, verdict=Verdict.FAILED, reason=str(error), attempts=attempt)
                for label in rows
            ]
        took_s, spent = time.monotonic() - began, self.host.read_cpu().since(cpu)
        self._versions |= files_result.versions(document)
        raw = Path("raw") / f"{block}-{file_name(_name(case))}{'' if attempt == 1 else '-again'}.json"
        (journal.folder / raw).parent.mkdir(exist_ok=True)
        (journal.folder / raw).write_text(text)
        made = [
            files_result.disturbed(start, spent.steal_s / spent.total_s)
            for start in files_result.starts(document, case, rows, block, attempt)
        ]
        measured_s = sum(start.spent_s.get("measuring", 0.0) for start in made)
        for start in made:
            start.raw = str(raw)
            start.spent_s |= {
                "making files": document.made_s / len(made),
                "cache, loops, processes": (document.took_s - document.made_s - measured_s) / len(made),
                "container": (took_s - document.took_s) / len(made),
            }
        return made

    def _environment(self, container: FilesContainer) -> Environment:
        root = self.bench.catalog.root
        changes = git(root, "status", "--porcelain")
        return Environment(
            tandem_version=TANDEM_VERSION,
            git_commit=git(root, "rev-parse", "HEAD"),
            git_dirty=None if changes is None else bool(changes),
            host=self.host.describe(),
            images={IMAGE: str(container.image().id)},
            versions={**engine_versions(), **self._versions},
            knobs={},
            variables={},
            hashes=hashes(root),
        )


def arguments(case: Case, rows: Mapping[str, FilesRun], seed: int) -> list[str]:
    """asynctest's, after the folder."""
    return [
        str(case.files),
        str(case.lines),
        *("--only", ",".join(run.way for run in rows.values())),
        *("--buffer-size", str(case.buffer_bytes)),
        *("--cache", case.cache),
        *("--repeats", "1"),
        *("--seed", str(seed)),
        "--json",
    ]


def facts(experiment: Experiment, plan: PlanName, label: str) -> Facts:
    run, share = runs(experiment, plan)[label], percent(experiment, plan)
    return Facts(
        {
            "way": run.way,
            "files": str(run.files),
            "lines": f"{run.lines:,}" if share == 100 else f"{share} % of {run.lines:,}",
            "buffer": f"{run.buffer_bytes} bytes",
            "cache": run.cache,
        }
    )


def _name(case: Case) -> str:
    return f"{case.files}-{case.lines}-{case.buffer_bytes}-{case.cache}"


def _seed(seed: int, block: int, case: Case) -> int:
    """Of the order within one container: another one each time, fixed by the reproduction's."""
    text = f"{seed} {block} {_name(case)}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])

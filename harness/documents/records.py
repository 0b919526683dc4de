"""What the documents read of the committed records. No other module here knows how a record is kept on disk."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.detection import Detections
from benchmarks.prediction import Predictions
from benchmarks.window_length import WindowLength
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import counting
from tandem.engine.stand_ins import is_look
from tandem.facts.session import SessionRecord, read_sessions
from tandem.facts.statement import read_statements
from tandem.history import files
from tandem.history.files import History
from tandem.record.outcome import Outcome
from tandem.record.part import Part
from tandem.record.result import Conclusions, Result
from tandem.record.selftest import FILE as LATEST
from tandem.record.selftest import Selftest
from tandem.record.store import RESULT
from tandem.record.trial import Trial
from tandem.record.window import Window
from tandem.report.markdown import tables_in
from tandem.selftest import registry
from tandem.selftest.progress import FILE as SELFTEST
from tandem.selftest.progress import Progress
from tandem.studies.bench.conclusions import Benched
from tandem.studies.compare.conclusions import METRICS, Compared, ln_ratios, second
from tandem.studies.crossover.conclusions import Crossed
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.experiment import Experiment, read_all, read_claims

BENCH, COMPARISONS = "results/reference", "results/comparisons"
SETTINGS = "results/settings"
NIGHTLY = "results/reference-nightly"
EXPERIMENTS, SELFTESTS = "results/reference-experiments", "results/reference-selftest"
CROSSOVERS, CLAIMS = "results/crossovers", "results/reference-claims"
BENCHMARKS = "results/reference-benchmarks"
PREDICTION, WINDOW_LENGTH = "prediction.json", "window-length.json"


@dataclass(frozen=True)
class WithItself:
    """The reference of a comparison against its second start."""

    name: str
    """Of its folder."""
    sliced: bool
    same: dict[str, list[float]]
    """ComparedMetric -> ln ratio of each block."""
    block_s: float
    """Of a block of two variants: it has three starts, the reference's two and the other's."""
    plan: str = "quick"


class Truth(Part):
    """truth.json of harness/benchmarks/injected_slowdown."""

    share: float
    """Of the CPU time that a request cost before."""
    spin_ns: int
    slow: list[str]
    """Commits of the slow images, in order."""


class Records:
    """The committed results of a repository. Each record is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = cache(self._read_folder)
        self.tables = cache(self._tables)
        """The tables of a record's report. Its argument: the folder in results/."""
        self.experiments = cache(self._experiments)
        self.claims = cache(self._claims)
        self.selftest = cache(self._selftest)
        self.sessions = cache(self._sessions)
        self.statements = cache(lambda: read_statements(root))
        self.catalog = cache(lambda: Catalog(root))

    def _sessions(self) -> list[SessionRecord]:
        """All that can be read; a test finds those that cannot."""
        return read_sessions(self.root / "results")[0]

    def read(self, folder: str) -> tuple[Result[Any], list[Trial]]:
        """Any record with its trials. folder: in results/."""
        return self._folder(f"results/{folder}")

    def _tables(self, folder: str) -> list[Table]:
        study, result, _ = read_folder(self.root / "results" / folder)
        return [*tables_in(study.report(result))]

    def _read_folder(self, folder: str) -> tuple[Result[Any], list[Trial]]:
        _, result, trials = read_folder(self.root / folder)
        return result, trials

    def _result[C: Conclusions](self, folder: str, kind: type[C]) -> Result[C]:
        """Raises ValueError where another study's conclusions are kept."""
        result: Result[C] = self._folder(folder)[0]
        if not isinstance(result.conclusions, kind):
            raise ValueError(f"{folder} is a result of {result.request.study}")
        return result

    def bench(self) -> Result[Benched]:
        """The reference bench: several implementations over a night."""
        return self._result(BENCH, Benched)

    def trials(self) -> list[Trial]:
        """Of the reference bench, in their order."""
        return self._folder(BENCH)[1]

    def trials_of(self, folder: str) -> list[Trial]:
        """Of any study. folder: in results/."""
        return self._folder(f"results/{folder}")[1]

    def windows(self, name: str) -> Iterator[tuple[str, Window]]:
        """Implementation and window of every start of the reference bench. name: `closed` or `open`."""
        for variant in self.bench().request.variants:
            for trial in self.trials():
                if window := trial.window(name, variant.label):
                    yield variant.label, window

    def comparison(self, name: str) -> Result[Compared]:
        """One of the comparisons that tell how small a difference a design finds."""
        return self._result(f"{COMPARISONS}/{name}", Compared)

    def settings(self, implementation: str) -> Result[Compared]:
        """What settings of an implementation change, by itself as it ships."""
        return self._result(f"{SETTINGS}/{implementation}", Compared)

    def _comparisons(self, scenario: str) -> list[str]:
        """The committed comparisons on a scenario."""
        found = sorted(file.parent.name for file in (self.root / COMPARISONS).glob(f"*/{RESULT}"))
        return [name for name in found if self.comparison(name).request.scenario == scenario]

    def with_itself(self, scenario: str = "recipes") -> list[WithItself]:
        """What the committed comparisons say of a program and itself."""
        out = []
        for name in self._comparisons(scenario):
            result, trials = self._folder(f"{COMPARISONS}/{name}")
            blocks = counting(trial for trial in trials if not is_look(trial.spec))
            reference = result.conclusions.reference
            lasts = [
                sum(p.duration_s for p in block.phases) * 3 / len(block.spec.variants) for block in blocks
            ]
            out.append(
                WithItself(
                    name=name,
                    sliced=any(record.spec.slices for block in blocks for record in block.windows),
                    same={
                        metric: ln_ratios(blocks, second(reference), [reference], known)
                        for metric, known in METRICS.items()
                    },
                    block_s=sum(lasts) / len(lasts),
                    plan=result.request.plan,
                )
            )
        return out

    def predictions(self) -> Predictions:
        """How well the interval for the next session holds, as harness/benchmarks/prediction.py found it."""
        return Predictions.model_validate_json((self.root / BENCHMARKS / PREDICTION).read_text())

    def window_length(self) -> WindowLength:
        """What doubling the windows of a session moves, as harness/benchmarks/window_length.py found it."""
        return WindowLength.model_validate_json((self.root / BENCHMARKS / WINDOW_LENGTH).read_text())

    def detections(self) -> Detections:
        """What the judge of the nightly does with series of known changes."""
        return Detections.model_validate_json((self.root / NIGHTLY / "detection.json").read_text())

    def injected(self) -> tuple[History, Truth]:
        """A history into which a slowdown was put, and where."""
        folder = self.root / NIGHTLY / "injected"
        return files.read(folder), Truth.model_validate_json((folder / "truth.json").read_text())

    def _experiments(self) -> dict[str, Experiment]:
        """What was published, and what is measured again."""
        return read_all(self.root)

    def reproduction(self, folder: str) -> Result[Reproduced]:
        """A published experiment as it was measured here. folder: NAME, or NAME.PLAN where there are two."""
        return self._result(f"{EXPERIMENTS}/{folder}", Reproduced)

    def _claims(self) -> dict[str, Experiment]:
        """What people quote."""
        return read_claims(self.root)

    def quoted(self, name: str) -> Result[Reproduced] | None:
        """A claim that people quote, as it was measured here; None where it was not."""
        folder = f"{CLAIMS}/{name}"
        return self._result(folder, Reproduced) if (self.root / folder / RESULT).is_file() else None

    def crossover(self, name: str) -> Result[Crossed] | None:
        """Who wins at which wait; None where it was not measured."""
        folder = f"{CROSSOVERS}/{name}"
        return self._result(folder, Crossed) if (self.root / folder / RESULT).is_file() else None

    def reproductions(self) -> list[str]:
        """The folders of all of them."""
        return sorted(file.parent.name for file in (self.root / EXPERIMENTS).glob(f"*/{RESULT}"))

    def _selftest(self) -> dict[str, list[Outcome]]:
        """By group of checks: those of the weekly self-test, in their place those that a later one without --full made, and
        the groups of the weekly class that ran separately, which have files of their own."""
        folder = self.root / SELFTESTS
        found = self._progress().done | _by_group(self._latest_selftest())
        for file in sorted(folder.glob("*.json")):
            if file.name not in (SELFTEST, LATEST):
                found[file.stem] = Selftest.model_validate_json(file.read_text()).outcomes
        return found

    def _latest_selftest(self) -> Selftest:
        """The latest one without --full."""
        return Selftest.model_validate_json((self.root / SELFTESTS / LATEST).read_text())

    def _progress(self) -> Progress:
        return Progress.model_validate_json((self.root / SELFTESTS / SELFTEST).read_text())

    def selftest_started(self, kind: str) -> str:
        """The day. kind: `weekly` or `end to end`."""
        made = self._progress() if kind == "weekly" else self._latest_selftest()
        return f"{made.started_at:%Y-%m-%d}"


def _by_group(whole: Selftest) -> dict[str, list[Outcome]]:
    """The outcomes of one without --full, which holds its groups in their order: first what needs no container."""
    assert whole.kind == "end to end", whole.kind
    staged = next(n for n, one in enumerate(whole.outcomes) if one.group in registry.END_TO_END)
    found = {"unit": whole.outcomes[:staged]}
    for one in whole.outcomes[staged:]:
        # The group `timing` tells response times and queues.
        found.setdefault(one.group if one.group in registry.END_TO_END else "timing", []).append(one)
    return found

"""What the documents read of the committed records. No other module here knows how a record is kept on disk."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.detection import Detections
from benchmarks.window_length import WindowLength
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import counting
from tandem.engine.side_by_side import second
from tandem.engine.stand_ins import is_look
from tandem.facts.paired import good_facts, ln_by_block
from tandem.facts.session import read_sessions
from tandem.facts.statement import read_statements
from tandem.record.outcome import Outcome
from tandem.record.result import Conclusions, Result
from tandem.record.selftest import FILE as LATEST
from tandem.record.selftest import Selftest
from tandem.record.store import RESULT
from tandem.record.trial import Trial
from tandem.report.markdown import tables_in
from tandem.selftest import registry
from tandem.selftest.progress import FILE as SELFTEST
from tandem.selftest.progress import Progress
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.experiment import read_all, read_claims

COMPARISONS = "results/comparisons"
NIGHTLY = "results/reference-nightly"
EXPERIMENTS, SELFTESTS = "results/reference-experiments", "results/reference-selftest"
CLAIMS = "results/reference-claims"
BENCHMARKS = "results/reference-benchmarks"
WINDOW_LENGTH = "window-length.json"


class Records:
    """The committed results of a repository. Each record is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = cache(self._read_folder)
        self.tables = cache(self._tables)
        """The tables of a record's report. Its argument: the folder in results/."""
        self.experiments = cache(lambda: read_all(root))
        """What was published, and what is measured again."""
        self.claims = cache(lambda: read_claims(root))
        """What people quote."""
        self.selftest = cache(self._selftest)
        self.sessions = cache(lambda: read_sessions(root / "results")[0])
        """All that can be read; a test finds those that cannot."""
        self.statements = cache(lambda: read_statements(root))
        self.catalog = cache(lambda: Catalog(root))

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

    def _comparisons(self, scenario: str) -> list[str]:
        """The committed comparisons on a scenario."""
        found = sorted(file.parent.name for file in (self.root / COMPARISONS).glob(f"*/{RESULT}"))
        return [
            name for name in found if self._folder(f"{COMPARISONS}/{name}")[0].request.scenario == scenario
        ]

    def with_itself(self, metrics: Iterable[str]) -> list[tuple[dict[str, list[float]], float]]:
        """Of each committed comparison in slices with the plan `quick`: by metric the ln ratio of each block, of the baseline's second
        start to its first; and the seconds of a block of two variants, which has three starts."""
        out = []
        for name in self._comparisons("recipes"):
            result, trials = self._folder(f"{COMPARISONS}/{name}")
            made = [trial for trial in trials if not is_look(trial.spec)]
            blocks, good = counting(made), good_facts(made)
            sliced = any(record.spec.slices for block in blocks for record in block.windows)
            if result.request.plan != "quick" or not sliced:
                continue
            reference = result.conclusions.reference
            lasts = [
                sum(p.duration_s for p in block.phases) * 3 / len(block.spec.variants) for block in blocks
            ]
            again = second(reference)
            same = {one: [*ln_by_block(good, again, [reference], one).values()] for one in metrics}
            out.append((same, sum(lasts) / len(lasts)))
        return out

    def window_length(self) -> WindowLength:
        """What doubling the windows of a session moves, as harness/benchmarks/window_length.py found it."""
        return WindowLength.model_validate_json((self.root / BENCHMARKS / WINDOW_LENGTH).read_text())

    def detections(self) -> Detections:
        """What the judge of the nightly does with series of known changes."""
        return Detections.model_validate_json((self.root / NIGHTLY / "detection.json").read_text())

    def reproduction(self, folder: str) -> Result[Reproduced]:
        """A published experiment as it was measured here. folder: NAME, or NAME.PLAN where there are two."""
        return self._result(f"{EXPERIMENTS}/{folder}", Reproduced)

    def quoted(self, name: str) -> Result[Reproduced] | None:
        """A claim that people quote, as it was measured here; None where it was not."""
        folder = f"{CLAIMS}/{name}"
        return self._result(folder, Reproduced) if (self.root / folder / RESULT).is_file() else None

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

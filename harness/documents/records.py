"""What the documents read of the committed records. No other module here knows how a record is kept on disk."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import host_speed, pairing
from tandem.record.outcome import Outcome
from tandem.record.result import Conclusions, Result
from tandem.record.selftest import Selftest
from tandem.record.store import RESULT
from tandem.record.trial import Trial
from tandem.record.window import Window
from tandem.selftest.progress import FILE as SELFTEST
from tandem.selftest.progress import Progress
from tandem.studies.bench.conclusions import Benched
from tandem.studies.compare.conclusions import Compared
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.experiment import Experiment, read_all

BENCH, COMPARISONS = "results/reference", "results/comparisons"
EXPERIMENTS, SELFTESTS = "results/reference-experiments", "results/reference-selftest"


class Records:
    """The committed results of a repository. Each record is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = cache(self._read_folder)
        self.experiments = cache(self._experiments)
        self.selftest = cache(self._selftest)

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

    def designs(self, name: str) -> dict[str, pairing.Design]:
        """What each design of a comparison finds, by the same comparison's A/A line."""
        return {design.name: design for design in pairing.designs(self.root / COMPARISONS / name)[1]}

    def most_steal(self, name: str) -> float:
        """The largest share in any window of a comparison in which one variant was loaded."""
        blocks = pairing.blocks(self.root / COMPARISONS / name)
        return max(window.host.steal_share or 0 for window in pairing.windows(blocks))

    def wake_ups(self, name: str, figure: str) -> dict[str, host_speed.Line]:
        """Variant -> its ratios, as they are and corrected by what the harness's wake-ups cost."""
        return {line.variant: line for line in host_speed.compared(self.root / COMPARISONS / name, figure)[2]}

    def wake_ups_between_starts(self, figure: str) -> tuple[float, float]:
        """Slope and correlation over the starts of the reference bench."""
        return host_speed.started(self.root / BENCH, figure)

    def _experiments(self) -> dict[str, Experiment]:
        """What was published, and what is measured again."""
        return read_all(self.root)

    def reproduction(self, folder: str) -> Result[Reproduced]:
        """A published experiment as it was measured here. folder: NAME, or NAME.PLAN where there are two."""
        return self._result(f"{EXPERIMENTS}/{folder}", Reproduced)

    def reproductions(self) -> list[str]:
        """The folders of all of them."""
        return sorted(file.parent.name for file in (self.root / EXPERIMENTS).glob(f"*/{RESULT}"))

    def _selftest(self) -> dict[str, list[Outcome]]:
        """The weekly self-test, by group of checks. Groups that were made by themselves have files of their own."""
        folder = self.root / SELFTESTS
        found = dict(self._progress().done)
        for file in sorted(folder.glob("*.json")):
            if file.name != SELFTEST:
                found[file.stem] = Selftest.model_validate_json(file.read_text()).outcomes
        return found

    def _progress(self) -> Progress:
        return Progress.model_validate_json((self.root / SELFTESTS / SELFTEST).read_text())

    def selftest_started(self) -> str:
        """The day."""
        return f"{self._progress().started_at:%Y-%m-%d}"

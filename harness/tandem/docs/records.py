"""What the documents read of the committed records. No other module here knows how a record is kept on disk."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks import host_speed, pairing
from tandem.compare.comparison import Comparison
from tandem.record.run import Run, Window
from tandem.record.store import read_runs
from tandem.reproduce.experiment import Experiment, read_all
from tandem.reproduce.journal import read_reproduction
from tandem.reproduce.result import Reproduction
from tandem.selftest.outcome import Outcome
from tandem.selftest.progress import FILE as SELFTEST
from tandem.selftest.progress import Progress
from tandem.selftest.result import Selftest

CAMPAIGN, DESIGNS = "results/reference", "results/designs"
EXPERIMENTS, SELFTESTS = "results/reference-experiments", "results/reference-selftest"


class Records:
    """The committed results of a repository. Each record is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.campaign = cache(self._campaign)
        self.comparison = cache(self._comparison)
        self.experiments = cache(self._experiments)
        self.reproduction = cache(self._reproduction)
        self.selftest = cache(self._selftest)

    def _campaign(self) -> list[Run]:
        """The reference campaign, by implementation."""
        return read_runs(self.root / CAMPAIGN)

    def windows(self, load: str) -> Iterator[tuple[str, Window]]:
        """Implementation and window of every start of the reference campaign. load: `closed` or `open`."""
        for run in self.campaign():
            for trial in run.trials:
                window = trial.closed if load == "closed" else trial.open
                if window:
                    yield run.implementation, window

    def _comparison(self, name: str) -> Comparison:
        """One of the comparisons that tell how small a difference a design finds."""
        return Comparison.model_validate_json((self.root / DESIGNS / name / "compare.json").read_text())

    def designs(self, name: str) -> dict[str, pairing.Design]:
        """What each design of a comparison finds, by the same comparison's A/A line."""
        return {design.name: design for design in pairing.designs(self.root / DESIGNS / name)[1]}

    def most_steal(self, name: str) -> float:
        """The largest share in any window of a comparison."""
        blocks = pairing.blocks(self.root / DESIGNS / name)
        return max(s.window.host.steal_share or 0 for block in blocks for s in block.shots if s.window)

    def wake_ups(self, name: str, figure: str) -> dict[str, host_speed.Line]:
        """Variant -> its ratios, as they are and corrected by what the harness's wake-ups cost."""
        return {line.entrant: line for line in host_speed.compared(self.root / DESIGNS / name, figure)[2]}

    def wake_ups_between_starts(self, figure: str) -> tuple[float, float]:
        """Slope and correlation over the starts of the reference campaign."""
        return host_speed.started(self.root / CAMPAIGN, figure)

    def _experiments(self) -> dict[str, Experiment]:
        """What was published, and what is measured again."""
        return read_all(self.root)

    def _reproduction(self, folder: str) -> Reproduction:
        """A published experiment as it was measured here. folder: NAME, or NAME.PLAN where there are two."""
        return read_reproduction(self.root / EXPERIMENTS / folder)

    def reproductions(self) -> list[str]:
        """The folders of all of them."""
        return sorted(file.parent.name for file in (self.root / EXPERIMENTS).glob("*/reproduction.json"))

    def _selftest(self) -> dict[str, list[Outcome]]:
        """The weekly self-test, by group of checks. Groups that were made by themselves have files of their own."""
        folder = self.root / SELFTESTS
        found = dict(Progress.model_validate_json((folder / SELFTEST).read_text()).done)
        for file in sorted(folder.glob("*.json")):
            if file.name != SELFTEST:
                found[file.stem] = Selftest.model_validate_json(file.read_text()).outcomes
        return found

    def selftest_started(self) -> str:
        """The day."""
        progress = Progress.model_validate_json((self.root / SELFTESTS / SELFTEST).read_text())
        return f"{progress.started_at:%Y-%m-%d}"

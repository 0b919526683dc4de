"""What every kind of experiment offers, and what they share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tandem.catalog.catalog import Catalog
from tandem.lab.live import View
from tandem.reproduce.result import Asked, Reproduction
from tandem.studies.reproduce.experiment import Experiment, PlanName


@dataclass(frozen=True)
class Bench:
    """Where and before whose eyes an experiment is made."""

    catalog: Catalog
    results: Path
    view: View


class Session(Protocol):
    """One kind; made with a Bench."""

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        """How long it takes, without builds. Raises UsageError for rows that this kind cannot run."""

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        """Raises UsageError before anything is built: unknown names, a host that is too small."""

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        """Makes or resumes it; whatever happens, containers are removed and finished starts are kept."""

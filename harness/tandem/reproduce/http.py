"""Experiments over HTTP: fresh starts, verified and warmed up, with closed windows."""

from dataclasses import dataclass

from tandem.errors import UsageError
from tandem.reproduce.experiment import Experiment, PlanName
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked, Reproduction


@dataclass
class HttpSession:
    """Kind `http`."""

    bench: Bench

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        return 0.0

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        raise UsageError("the kind http is not built yet")

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        raise NotImplementedError

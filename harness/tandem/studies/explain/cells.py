"""The good windows of each cell, their means over the blocks, and what else is known of a cell. Pure."""

import math
import statistics
from collections.abc import Callable, Sequence

from tandem.analysis.block_model import CellMeans, fit
from tandem.analysis.ceilings import reaches_ceiling
from tandem.engine.blocks import of_each
from tandem.engine.findings import why
from tandem.engine.grid import CLOSED
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.explain.conclusions import CellFigures, CellState

SHARED = ("generator", "generator-thread", "proxy", "faults")
"""Limits that are the laboratory's: a rate that one of them holds back is a lower bound."""
BEHIND = ("database", "pooler")
"""What a program cannot be faster than: a setting may relieve it, but of the program itself its rate is a lower bound."""
Figure = Callable[[Window], float | None]


def goodput(window: Window) -> float | None:
    return window.goodput_rps


def cpu(window: Window) -> float | None:
    return window.app_cpu_us_per_request


class CellWindows:
    """Good windows by cell, and how each cell is."""

    def __init__(
        self, labels: Sequence[str], trials: Sequence[Trial], ceilings_rps: dict[str, float | None]
    ) -> None:
        self.labels = list(labels)
        self.trials = of_each(labels, trials)
        self.good = {
            label: [
                (trial.spec.block, window)
                for trial in own
                if trial.verdict is Verdict.OK and (window := trial.window(CLOSED))
            ]
            for label, own in self.trials.items()
        }
        self.held_back = {
            label
            for label, own in self.good.items()
            if own
            and (
                self.bottleneck(label) in SHARED
                or reaches_ceiling(statistics.fmean(w.goodput_rps for _, w in own), ceilings_rps)
            )
        }

    def behind(self, label: str) -> bool:
        """Whether what stands behind the program limited it. A tie with the program itself does not count."""
        return {*(self.bottleneck(label) or "").split("+")} <= {*BEHIND}

    def bottleneck(self, label: str) -> str | None:
        """The one of most good starts."""
        found = [window.bottleneck for _, window in self.good[label]]
        return statistics.mode(found) if found else None

    def state(self, label: str) -> CellState:
        if self.good[label]:
            return "held back" if label in self.held_back else "ok"
        made = self.trials[label]
        never = bool(made) and all(trial.verdict is Verdict.FAILED for trial in made)
        return "cannot be" if never else "no figures"

    def reason(self, label: str) -> str | None:
        if self.good[label]:
            return None
        return next(filter(None, map(why, self.trials[label])), "it was not made")

    def model(self, figure: Figure) -> tuple[CellMeans, dict[str, int]] | None:
        """The cells' values, and where each stands; None where blocks do not hang together or nothing is known."""
        found = [
            (label, block, math.log(value))
            for label in self.labels
            for block, window in self.good[label]
            if (value := figure(window))
        ]
        known = list(dict.fromkeys(label for label, _, _ in found))
        place = {label: number for number, label in enumerate(known)}
        try:
            blocks = [block for _, block, _ in found]
            fitted = fit([ln for _, _, ln in found], [place[label] for label, _, _ in found], blocks)
        except ValueError:
            return None
        return fitted, place

    def means(self, figure: Figure) -> dict[str, float]:
        """Label -> the cell's value, in the figure's own unit; of those that have one."""
        found = self.model(figure)
        return {} if found is None else {k: math.exp(found[0].means[at]) for k, at in found[1].items()}


def cell_figures(
    label: str, implementation: str, settings: dict[str, str], measured: CellWindows
) -> CellFigures:
    """What is known of one cell but its fitted means."""
    windows = [window for _, window in measured.good[label]]
    rates = [math.log(window.goodput_rps) for window in windows if window.goodput_rps]

    def mean(figure: Callable[[Window], float | None]) -> float | None:
        known = [value for window in windows if (value := figure(window)) is not None]
        return statistics.fmean(known) if known else None

    def for_each_answer(count: Callable[[Window], float | None]) -> Callable[[Window], float | None]:
        def one(window: Window) -> float | None:
            counted, answered = count(window), window.good + window.probes
            return None if counted is None or not answered else counted / answered

        return one

    roles = dict.fromkeys(name for window in windows for name in window.roles)
    demands = {
        name: mean(lambda w, name=name: _demand_us(w, name))  # type: ignore[misc]
        for name in roles
    }
    return CellFigures(
        label=label,
        implementation=implementation,
        settings=settings,
        starts=len(windows),
        goodput_rps=None,
        app_cpu_us_per_request=None,
        sd_ln=statistics.stdev(rates) if len(rates) > 1 else None,
        bottleneck=measured.bottleneck(label),
        state=measured.state(label),
        reason=measured.reason(label),
        connections=windows[0].connections if windows else None,
        db_connections_max=max((w.db_connections_max for w in windows if w.db_connections_max), default=None),
        statements_per_request=mean(for_each_answer(_statements)),
        pooler_queries_per_request=mean(for_each_answer(lambda w: w.pooler.queries if w.pooler else None)),
        db_rtt_idle_ms=mean(lambda w: w.db_rtt_ms.before_p50 if w.db_rtt_ms else None),
        db_rtt_loaded_ms=mean(lambda w: w.db_rtt_ms.during_p50 if w.db_rtt_ms else None),
        demands_us={name: demand for name, demand in demands.items() if demand is not None},
    )


def _statements(window: Window) -> float | None:
    """As the database counts them."""
    return sum(one.calls for one in window.statements.values()) if window.statements else None


def _demand_us(window: Window, role: str) -> float | None:
    used = window.roles.get(role)
    return None if used is None or not window.goodput_rps else used.cpu_cores / window.goodput_rps * 1e6

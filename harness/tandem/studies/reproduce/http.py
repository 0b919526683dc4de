"""Rows of the kind `http`: fresh starts with closed windows, one for each delay. Pure."""

from dataclasses import dataclass

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.scenario import Scenario
from tandem.errors import UsageError
from tandem.judge.judge import refused_share
from tandem.lab.case import db_pool_usable, handler_threads
from tandem.record.request import Variant
from tandem.record.store import file_name
from tandem.record.trial import Trial, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.reproduce.conclusions import Facts, RowTrial
from tandem.studies.reproduce.experiment import Experiment, ExperimentRow, PlanName
from tandem.studies.reproduce.http_figures import figures, oha_text, peaks
from tandem.studies.reproduce.http_run import (
    HttpRun,
    WindowTimes,
    timeout_s,
    trips_ceiling,
    trips_implied,
    waiting_ceilings,
    window_times,
)
from tandem.studies.reproduce.kinds import RowsOf, begun


@dataclass(frozen=True)
class HttpRow:
    """A row with everything that its fresh start needs."""

    row: ExperimentRow
    run: HttpRun
    implementation: Implementation
    scenario: Scenario
    """With the row's connections, delay and time limit."""
    placement: str
    times: WindowTimes
    ceilings: dict[str, float]
    settings: dict[str, str]
    """The effective ones."""

    @property
    def usable(self) -> int | None:
        """Database connections that can be in use at once; None where the scenario has no statements."""
        usable = db_pool_usable(self.scenario, self.implementation, self.settings)
        if usable is None:
            return None
        threads, most = (
            handler_threads(self.implementation, self.settings),
            self.run.limits.get("APP_MAXCONN"),
        )
        return min([usable, *(int(one) for one in (threads, most) if one is not None)])

    @property
    def changes(self) -> dict[str, object]:
        """What is laid over the scenario."""
        asked = self.scenario
        return {
            "path": asked.path,
            "connections": asked.connections,
            "timeout_s": asked.timeout_s,
            **({"refused_most": asked.refused_most} if asked.refused_most else {}),
        }


def scenario_of(run: HttpRun, base: Scenario) -> Scenario:
    """The scenario with the row's connections and delay. Raises UsageError for a delay that it does not have."""
    path = base.path
    if run.delay_ms is not None:
        head, mark, _ = path.partition("?delay_ms=")
        if not mark:
            raise UsageError(f"run -> delay_ms: the scenario {base.name} does not wait")
        path = f"{head}{mark}{run.delay_ms}"
    return base.model_copy(update={"path": path, "connections": run.connections})


class HttpRows(RowsOf[HttpRun]):
    """Kind `http`. Rows that differ in nothing but what the client asks share a fresh start."""

    form = HttpRun

    def __init__(
        self, catalog: Catalog, experiment: Experiment, plan: PlanName, cpus: int, in_lab: bool = False
    ) -> None:
        self.known: dict[str, HttpRow] = {}
        super().__init__(catalog, experiment, plan, cpus, in_lab)
        if any(run.limits != self.specs[self.rows[0].label].limits for run in self.specs.values()):
            raise UsageError(
                f"{experiment.name}: run -> limits: the shared services start once, so all rows must have the same"
            )
        together: dict[str, list[str]] = {}
        # The shortest delay first: it is what is verified and warmed up.
        for label, run in sorted(self.specs.items(), key=lambda item: item[1].delay_ms or 0):
            together.setdefault(run.group, []).append(label)
        self.groups = {labels[0]: labels for labels in together.values()}

    def accept(self, row: ExperimentRow, run: HttpRun) -> None:
        placement = self._placement(run.app_cpus_least)
        implementation, settings = self.possible(
            run.implementation, run.scenario, run.topology, placement, run.settings, run.db_rtt_ms
        )
        scenario = scenario_of(run, self.catalog.scenarios[run.scenario])
        ceilings = waiting_ceilings(run, handler_threads(implementation, settings))
        least = min(ceilings.values(), default=None)
        times = window_times(self.plan, least, run.delay_ms)
        patience_s = run.timeout_s or timeout_s(run.connections, least)
        scenario = scenario.model_copy(update={"timeout_s": patience_s, "refused_most": run.refused_most})
        self.known[row.label] = HttpRow(
            row, run, implementation, scenario, placement, times, ceilings, settings
        )

    def _placement(self, app_cpus_least: int) -> str:
        """The host's own where it gives the application so many CPUs, else the one that pins nothing."""
        if self.app_cpus(self.placement) >= app_cpus_least:
            return self.placement
        if self.cpus < app_cpus_least:
            raise UsageError(
                f"run -> app_cpus_least: {app_cpus_least} CPUs are needed, and this host has {self.cpus}"
            )
        return self.catalog.placements["shared"].name

    @property
    def variants(self) -> list[Variant]:
        return [self._variant(group) for group in self.groups]

    def _variant(self, group: str) -> Variant:
        one = self.known[group]
        return Variant(
            label=group,
            implementation=one.run.implementation,
            settings=one.run.settings,
            scenario=one.run.scenario,
            scenario_changes=one.changes,
            topology=one.run.topology,
            placement=one.placement,
            db_rtt_ms=one.run.db_rtt_ms,
            variables={str(name): value for name, value in one.run.limits.items()},
        )

    def window(self, variant: str, label: str) -> WindowSpec:
        one = self.known[label]
        return WindowSpec(
            name=file_name(label),
            variants=[variant],
            seconds=one.times.seconds,
            scenario_changes=one.changes,
            trim_start_s=round(one.times.trim_start_s, 4),
            trim_end_s=round(one.times.trim_end_s, 4),
        )

    def facts(self, label: str) -> Facts:
        one = self.known[label]
        told = {
            "implementation": one.implementation.name,
            "scenario": one.scenario.path,
            "topology": one.run.topology,
            "placement": one.placement,
            "connections": str(one.run.connections),
            "window_s": str(one.times.seconds),
            **({} if one.run.db_rtt_ms is None else {"db_rtt_ms": str(one.run.db_rtt_ms)}),
            **({} if one.run.round_trips is None else {"round_trips": str(one.run.round_trips)}),
            **one.run.limits,
            **{name: value for name, value in one.settings.items() if value},
        }
        return Facts(told, one.ceilings)

    def needs(self, label: str) -> tuple[int, int]:
        return self.known[label].run.connections, 0

    def row_trial(self, label: str, trial: Trial) -> RowTrial:
        one, window = self.known[label], trial.window(file_name(label))
        made = begun(label, trial, file_name(label))
        if window is None or made.verdict is not Verdict.OK:
            return made
        made.figures = figures(window) | peaks(trial.starts[trial.spec.variants[0]])
        if one.run.refused_most:
            made.figures["refused_percent"] = refused_share(window) * 100
        made.bottleneck, made.evidence = window.bottleneck, window.evidence
        if (made.block, made.attempt) == (1, 1):
            made.details = {"histogram": oha_text(window)}
        if window.db_rtt_ms is not None:
            idle, loaded = window.db_rtt_ms.before_p50, window.db_rtt_ms.during_p50
            made.models = trips_ceiling(one.run, one.usable, idle)
            implied = trips_implied(one.usable, loaded, window.goodput_rps)
            if implied is not None:
                made.figures["round_trips"] = implied
        return made

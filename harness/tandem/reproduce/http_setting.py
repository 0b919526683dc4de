"""The rows of an experiment over HTTP, each with everything that its fresh start needs; nothing is started here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tandem.catalog.catalog import Catalog, Implementation, Plan
from tandem.catalog.placement import cpus_in
from tandem.catalog.scenario import Scenario
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.old.prepare import Conditions
from tandem.reproduce.experiment import Experiment, PlanName, Row, parse_run
from tandem.reproduce.http_run import (
    HttpRun,
    WindowTimes,
    expected_s,
    timeout_s,
    trips_ceiling,
    waiting_ceilings,
    window_times,
)
from tandem.reproduce.result import Facts

WARM_UP_LEAST_S = 1


@dataclass(frozen=True)
class Setting:
    """A row, ready to be prepared."""

    row: Row
    run: HttpRun
    implementation: Implementation
    scenario: Scenario
    under: Conditions
    """Its plan has the trims of the row's window."""
    times: WindowTimes
    ceilings: dict[str, float]
    knobs: dict[str, str]

    @property
    def request_s(self) -> float:
        """How long a request of the closed loop takes at the least."""
        return expected_s(self.run.connections, min(self._all_ceilings().values(), default=None))

    def _all_ceilings(self) -> dict[str, float]:
        usable = usable_connections(self)
        return {**self.ceilings, **trips_ceiling(self.run, usable, (self.run.db_rtt_ms or 0) + 1.0)}

    @property
    def facts(self) -> Facts:
        told = {
            "implementation": self.implementation.name,
            "scenario": self.scenario.path,
            "topology": self.under.topology,
            "placement": self.under.placement,
            "connections": str(self.run.connections),
            "window_s": str(self.times.seconds),
            **({} if self.run.db_rtt_ms is None else {"db_rtt_ms": str(self.run.db_rtt_ms)}),
            **({} if self.run.round_trips is None else {"round_trips": str(self.run.round_trips)}),
            **self.run.limits,
            **{name: value for name, value in self.knobs.items() if value},
        }
        return Facts(told, self.ceilings)


def usable_connections(setting: Setting) -> int | None:
    """Database connections that can be in use at once; None where the scenario has no statements."""
    usable = setting.under.cell(setting.implementation, setting.scenario, setting.knobs).db_pool_usable
    most = setting.run.limits.get("APP_MAXCONN")
    return usable if usable is None or most is None else min(usable, int(most))


def scenario_of(run: HttpRun, base: Scenario) -> Scenario:
    """The scenario with the row's connections and delay. Raises UsageError for a delay that it does not have."""
    path = base.path
    if run.delay_ms is not None:
        head, mark, _ = path.partition("?delay_ms=")
        if not mark:
            raise UsageError(f"run -> delay_ms: the scenario {base.name} does not wait")
        path = f"{head}{mark}{run.delay_ms}"
    return base.model_copy(update={"path": path, "connections": run.connections})


def plan_of(experiment: Experiment, name: PlanName, times: WindowTimes) -> Plan:
    """The experiment's plan in the words of the laboratory."""
    own, window_s = experiment.plan(name), max(4, times.seconds)
    return Plan(
        name=f"{experiment.name}-{name}",
        purpose=experiment.title,
        trials=own.starts,
        warm_up_s=max(WARM_UP_LEAST_S, own.warm_up_s),
        warm_up_requests_per_worker=0,
        warm_up_cap_s=max(WARM_UP_LEAST_S, own.warm_up_s),
        closed_s=window_s,
        open_s=window_s,  # there is none
        open_load_fraction=0.5,
        trim_start_s=times.trim_start_s,
        trim_end_s=times.trim_end_s,
    )


def settings(catalog: Catalog, experiment: Experiment, plan: PlanName) -> list[Setting]:
    """The rows that the plan measures. Raises UsageError for what does not exist or does not fit together."""
    found = []
    for row in experiment.measured(plan):
        run = parse_run(experiment, row, HttpRun)
        try:
            found.append(_setting(catalog, experiment, plan, row, run))
        except UsageError as error:
            raise UsageError(f"{experiment.name}: row '{row.label}': {error}") from None
    if any(setting.run.limits != found[0].run.limits for setting in found):
        raise UsageError(
            f"{experiment.name}: run -> limits: the shared services start once, so all rows have the same"
        )
    return found


def _setting(catalog: Catalog, experiment: Experiment, plan: PlanName, row: Row, run: HttpRun) -> Setting:
    implementation = catalog.implementation(run.implementation)
    base = catalog.pick("scenario", run.scenario, catalog.scenarios)
    scenario = scenario_of(run, base)
    times = window_times(experiment.plan(plan), None, run.delay_ms)
    placement = _placement(catalog, run.app_cpus_least)
    under = Conditions(
        catalog,
        run.topology,
        placement,
        plan_of(experiment, plan, times),
        run.knobs,
        run.db_rtt_ms,
        {str(name): value for name, value in run.limits.items()},
    )
    under.check(run.scenario, [implementation])
    cpus = cpus_in(catalog.placements[placement].variables.get("APP_CPUSET", "")) or HERE.cpus
    knobs = catalog.effective_knobs(implementation, cpus, run.knobs)
    threads = under.cell(implementation, scenario, knobs).handler_threads
    ceilings = waiting_ceilings(run, threads)
    least = min(ceilings.values(), default=None)
    times = window_times(experiment.plan(plan), least, run.delay_ms)
    scenario = scenario.model_copy(update={"timeout_s": run.timeout_s or timeout_s(run.connections, least)})
    under = replace(under, plan=plan_of(experiment, plan, times))
    return Setting(row, run, implementation, scenario, under, times, ceilings, knobs)


def _placement(catalog: Catalog, app_cpus_least: int) -> str:
    """The host's own where it gives the application so many CPUs, else the one that pins nothing."""
    have = HERE.cpus
    chosen = catalog.default_placement(have)
    if (cpus_in(chosen.variables.get("APP_CPUSET", "")) or have) >= app_cpus_least:
        return chosen.name
    if have < app_cpus_least:
        raise UsageError(f"run -> app_cpus_least: {app_cpus_least} are needed and this host has {have} CPUs")
    return catalog.placements["shared"].name


def groups(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Rows that share a fresh start, the one with the shortest delay first: it is what is verified and warmed up."""
    found: dict[str, list[Setting]] = {}
    for setting in sorted(settings, key=lambda setting: setting.run.delay_ms or 0):
        found.setdefault(setting.run.group, []).append(setting)
    return found

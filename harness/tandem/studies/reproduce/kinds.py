"""What every kind of experiment offers: its rows as variants and trials, and what a trial says of a row. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.labs import OF_A_LAB
from tandem.catalog.placement import cpus_in
from tandem.engine.blocks import complete_blocks, rounds_of_blocks
from tandem.errors import UsageError
from tandem.judge.judge import verdict
from tandem.record.request import Variant
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowSpec
from tandem.record.window import Finding, Verdict
from tandem.studies.reproduce.conclusions import Facts, RowTrial
from tandem.studies.reproduce.experiment import (
    Experiment,
    ExperimentPlan,
    ExperimentRow,
    PlanName,
    parse_run,
)

WARM_UP_LEAST_S = 1
LONG_S = 10
"""A window from here on can spare the usual seconds at its start and its end."""


class RowsOf[Run: BaseModel](ABC):
    """The rows of one experiment that one plan measures. cpus: of the host; in a lab, of the application."""

    form: type[Run]
    """Of a row's `run`."""

    def __init__(
        self, catalog: Catalog, experiment: Experiment, plan: PlanName, cpus: int, in_lab: bool = False
    ) -> None:
        """Raises UsageError, with the row, for what does not exist or does not fit together."""
        self.catalog, self.experiment, self.cpus, self.in_lab = catalog, experiment, cpus, in_lab
        self.plan: ExperimentPlan = experiment.plan(plan)
        self.rows: list[ExperimentRow] = experiment.measured(plan)
        self.specs: dict[str, Run] = {}
        self.groups: dict[str, list[str]] = {}
        """Labels of the rows that one fresh start measures a window for, by the name of that start."""
        for row in self.rows:
            spec = self.specs[row.label] = parse_run(experiment, row, self.form)
            try:
                self.accept(row, spec)
            except UsageError as error:
                raise UsageError(f"{experiment.name}: row '{row.label}': {error}") from None

    # ---- before anything is measured ----

    @property
    @abstractmethod
    def variants(self) -> list[Variant]:
        """Everything that is started."""

    @abstractmethod
    def accept(self, row: ExperimentRow, spec: Run) -> None:
        """Takes a row up. Raises UsageError for what cannot be run."""

    @abstractmethod
    def window(self, variant: str, label: str) -> WindowSpec:
        """A row's window. variant: that is loaded."""

    def labels(self, group: str) -> list[str]:
        """Every row of a group, those among them that share another's window."""
        return self.groups[group]

    def started(self, group: str) -> str:
        """The variant that is started for a group."""
        return group

    def trial(self, group: str, block: int, labels: Sequence[str]) -> TrialSpec:
        """A fresh start with these rows of its group, in this order."""
        variant = self.started(group)
        return TrialSpec(
            name=f"{block}-{file_name(group)}",
            block=block,
            variants=[variant],
            warm_up=self.warm_up(),
            windows=[self.window(variant, label) for label in labels],
        )

    @abstractmethod
    def facts(self, label: str) -> Facts:
        """What is known of a row without measuring it."""

    @abstractmethod
    def needs(self, label: str) -> tuple[int, int]:
        """How many connections a row holds, and how many threads its program has for them (0: not one for each)."""

    # ---- afterwards ----

    @abstractmethod
    def row_trial(self, label: str, trial: Trial) -> RowTrial:
        """What a trial of its group says of a row."""

    # ---- what the kinds share ----

    @property
    def placement(self) -> str:
        """The host's own."""
        return OF_A_LAB if self.in_lab else self.catalog.default_placement(self.cpus).name

    def app_cpus(self, placement: str) -> int:
        """CPUs that the application has there."""
        known = self.catalog.pick("placement", placement, self.catalog.placements)
        return cpus_in(known.variables.get("APP_CPUSET", "")) or self.cpus

    def warm_up(self) -> WarmUp:
        seconds = max(WARM_UP_LEAST_S, self.plan.warm_up_s)
        return WarmUp(least_s=seconds, cap_s=seconds)

    def possible(
        self,
        implementation: str,
        scenario: str,
        topology: str,
        placement: str,
        settings: Mapping[str, str],
        db_rtt_ms: int | None = None,
    ) -> tuple[Implementation, dict[str, str]]:
        """The implementation and its effective settings. Raises UsageError for what cannot be run."""
        catalog = self.catalog
        known = catalog.implementation(implementation)
        asked = catalog.pick("scenario", scenario, catalog.scenarios)
        catalog.pick("topology", topology, catalog.topologies)
        if db_rtt_ms is not None and not asked.statements:
            raise UsageError(f"{scenario} never asks the database: leave db_rtt_ms out")
        if scenario in known.unsupported.scenarios:
            raise UsageError(
                f"{known.name} does not support {scenario}: {known.unsupported.scenarios[scenario]}"
            )
        return known, catalog.effective_settings(known, self.app_cpus(placement), dict(settings))

    def joined_by_claims(self) -> list[list[str]]:
        """The groups, together where a claim compares their rows, directly or by way of a third row."""
        joined = [[group] for group in self.groups]
        for claim in self.experiment.claims:
            ends = {claim.of, claim.to}
            parts = [part for part in joined if any(ends & set(self.labels(group)) for group in part)]
            one = [group for part in parts for group in part]
            joined = [part for part in joined if part not in parts] + ([one] if one else [])
        return joined

    def outline(self, seed: int, together: Sequence[Sequence[str]]) -> list[list[TrialSpec]]:
        """Rounds of randomised complete blocks, fixed by the seed. The order of rows within a start is random too.

        together: the groups that stand side by side in one block.
        """
        starts = self.plan.starts
        others = seed + len(together) + 1  # before it are the seeds of the blocks
        orders = {
            group: iter(complete_blocks(labels, starts, others + number))
            for number, (group, labels) in enumerate(self.groups.items())
        }
        return [
            [self.trial(group, block, next(orders[group])) for group in order]
            for block, order in enumerate(rounds_of_blocks(together, starts, seed), start=1)
        ]


def trims_s(seconds: int, short: tuple[float, float], long: tuple[float, float]) -> tuple[float, float]:
    """What of a window no figure is taken from, at its start and its end: a short one has less to lose.

    Raises UsageError for a window of which nothing is left.
    """
    chosen = long if seconds >= LONG_S else short
    if seconds <= sum(chosen):
        raise UsageError(
            f"window_s = {seconds} is too short: no figure is taken from its first {chosen[0]:g} s and its last {chosen[1]:g} s"
        )
    return chosen


def begun(label: str, trial: Trial, window: str) -> RowTrial:
    """A row's verdict, reason and warnings by its start and its window of that name; nothing of its figures.

    A window that was made counts, whatever became of the rest of its trial.
    """
    made = RowTrial(
        row=label,
        block=trial.spec.block,
        attempt=trial.spec.attempt,
        verdict=Verdict.OK,
        trial=trial.spec.key,
    )
    findings = [finding for start in trial.starts.values() for finding in start.findings]
    found = trial.window(window)
    if found is not None:
        return with_findings(made, [*findings, *found.findings])
    refused = [record.refused for record in trial.windows if record.spec.name == window]
    grave = [finding.text for finding in (*trial.findings, *findings) if finding.severity != "warning"]
    made.reason = next((text for text in (*refused, *grave) if text), "it was not measured")
    made.verdict = Verdict.FAILED if trial.verdict is Verdict.OK else trial.verdict
    return made


def with_findings(made: RowTrial, findings: Sequence[Finding]) -> RowTrial:
    """The same with further findings: what they make of its verdict, its first reason and its warnings."""
    order = (Verdict.OK, Verdict.VOID, Verdict.INVALID, Verdict.FAILED)
    grave = [finding.text for finding in findings if finding.severity != "warning"]
    warnings = [finding.text for finding in findings if finding.severity == "warning"]
    worse = max(made.verdict, verdict(list(findings)), key=order.index)
    reason = grave[0] if grave and worse is not made.verdict else made.reason
    return made.model_copy(
        update={"verdict": worse, "reason": reason, "warnings": [*made.warnings, *warnings]}
    )

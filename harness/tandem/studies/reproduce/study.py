"""The study behind `reproduce`: an experiment's rows as variants and windows, in rounds of randomised complete blocks."""

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import Field

from tandem.catalog.catalog import Catalog
from tandem.engine import deciding
from tandem.engine.study import Options, Study, of_rows
from tandem.errors import UsageError, unknown
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.reproduce import plots
from tandem.studies.reproduce import report as tables
from tandem.studies.reproduce.conclusions import Reproduced, conclude
from tandem.studies.reproduce.connections import ConnectionsRows, curves
from tandem.studies.reproduce.experiment import Experiment, Kind, PlanName, pick, read_all, read_claims
from tandem.studies.reproduce.http import HttpRows
from tandem.studies.reproduce.kinds import RowsOf
from tandem.studies.reproduce.tools import ToolsRows

KINDS: dict[Kind, type[RowsOf[Any]]] = {"http": HttpRows, "tools": ToolsRows, "connections": ConnectionsRows}
"""How the rows of each kind are measured."""
PLANS: tuple[PlanName, ...] = get_args(PlanName)


class ReproduceOptions(Options):
    needs = "a reproduction needs an experiment, its digest and a number of CPUs"
    experiment: str
    """A name, or the path of a TOML file."""
    digest: str
    """Of what its file says is measured."""
    cpus: int
    """Of the host; in a lab, of the application."""
    together: list[list[str]] = Field(default_factory=list)
    """The starts of each block of a round, named as the kind of experiment does. Empty, as in older records: one block."""
    only: list[str] = Field(default_factory=list)
    """The rows that are measured; empty: those of the plan."""


def plan_named(name: str) -> PlanName:
    """Raises UsageError for a plan that no experiment has."""
    known: dict[str, PlanName] = {plan: plan for plan in PLANS}
    if name not in known:
        raise unknown("plan of an experiment", name, known)
    return known[name]


def rows_of(
    catalog: Catalog, experiment: Experiment, plan: PlanName, cpus: int, in_lab: bool = False
) -> RowsOf[Any]:
    """Raises UsageError for what cannot be measured. cpus: of the host; in a lab, of the application."""
    if experiment.kind not in KINDS:
        raise UsageError(f"{experiment.name}: the kind {experiment.kind} is not measured here")
    return KINDS[experiment.kind](catalog, experiment, plan, cpus, in_lab)


def request_for(
    catalog: Catalog,
    name: str,
    experiment: Experiment,
    plan: PlanName,
    cpus: int,
    seed: int,
    lab: str | None = None,
    generators: int = 1,
) -> Request:
    """What is asked for. name: of the experiment, or the path of its file. Raises UsageError."""
    rows = rows_of(catalog, experiment, plan, cpus, lab is not None)
    first = rows.variants[0]
    return Request(
        study=Reproduce.name,
        variants=rows.variants,
        scenario=first.scenario or "",
        conditions=Conditions(
            topology=first.topology or "direct", placement=rows.placement, lab=lab, generators=generators
        ),
        plan=plan,
        seed=seed,
        salt=str(seed),
        title=experiment.name,
        options=ReproduceOptions(
            experiment=name, digest=experiment.digest(plan), cpus=cpus, together=rows.joined_by_claims()
        ).as_options(),
    )


def too_few_starts(starts: int, expected_s: float) -> list[str]:
    """What so few fresh starts cannot decide. expected_s: how long they take."""
    least = deciding.INTERVAL_LEAST
    return deciding.too_few(starts, least, "fresh starts", expected_s, "decide a claim", "--plan core")


class Reproduce(Study[Reproduced]):
    """Each row once in each round; rows that share a fresh start are windows of one trial."""

    name = "reproduce"
    kind = Reproduced
    report = staticmethod(tables.report)
    markdown = staticmethod(tables.markdown)
    headline = staticmethod(tables.headline)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        self.catalog, self.request = catalog, request
        self.asked, self.plan_name = ReproduceOptions.read(request), plan_named(request.plan)
        self.experiment = pick(read_all(catalog.root) | read_claims(catalog.root), self.asked.experiment)
        digest = self.experiment.digest(self.plan_name)
        if digest != self.asked.digest:
            raise UsageError(
                f"{self.experiment.name}: what its file says is measured has changed since this was requested"
            )
        if self.asked.only:
            self.experiment = self.experiment.only(self.asked.only)
        in_lab = request.conditions.lab is not None
        self.rows = rows_of(catalog, self.experiment, self.plan_name, self.asked.cpus, in_lab)
        self.together = self.asked.together or [list(self.rows.groups)]

    @property
    def looks_at_ceilings(self) -> bool:
        return False

    @property
    def holds(self) -> list[tuple[int, int]]:
        return sorted({self.rows.needs(row.label) for row in self.rows.rows}, reverse=True)

    @property
    def variants(self) -> list[Variant]:
        return self.rows.variants

    def outline(self) -> list[list[TrialSpec]]:
        return self.rows.outline(self.request.seed, self.together)

    @classmethod
    def only(cls, catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
        """These rows, and the others that are measured in the same starts: what a start has done before is part of a figure."""
        whole = cls(catalog, request)
        started = {
            label: whole.rows.started(group)
            for group in whole.rows.groups
            for label in whole.rows.labels(group)
        }
        asked = of_rows(rows, started)
        options = whole.asked.model_copy(
            update={"only": [label for label, variant in started.items() if variant in asked], "together": []}
        )
        part = cls(catalog, request.model_copy(update={"options": options.as_options()}))
        options = options.model_copy(update={"together": part.rows.joined_by_claims()})
        return request.model_copy(update={"variants": part.variants, "options": options.as_options()})

    @classmethod
    def today(cls, catalog: Catalog, request: Request) -> Request:
        """Of the experiment as its file has it now."""
        asked, under, plan = ReproduceOptions.read(request), request.conditions, plan_named(request.plan)
        name = asked.experiment
        experiment = pick(read_all(catalog.root) | read_claims(catalog.root), name)
        whole = request_for(
            catalog, name, experiment, plan, asked.cpus, request.seed, under.lab, under.generators
        )
        return cls.only(catalog, whole, asked.only) if asked.only else whole

    def ahead(self, expected_s: float) -> list[str]:
        return too_few_starts(self.rows.plan.starts, expected_s)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Reproduced]:
        groups = {file_name(group): group for group in self.rows.groups}
        found = [
            self.rows.row_trial(label, self._of_round(trial))
            for trial in trials
            for label in self.rows.labels(groups[trial.spec.name.partition("-")[2]])
        ]
        facts = {row.label: self.rows.facts(row.label) for row in self.rows.rows}
        return conclude(self.experiment, self.plan_name, self.asked.digest, found, facts)

    def _of_round(self, trial: Trial) -> Trial:
        """The same with the number of its round in the place of that of its block: rows of one round are compared."""
        number = (trial.spec.block - 1) // len(self.together) + 1
        return trial.model_copy(update={"spec": trial.spec.model_copy(update={"block": number})})

    @classmethod
    def files(cls, result: Result[Reproduced]) -> dict[str, str]:
        """The plots of an experiment over numbers of connections."""
        found = result.conclusions
        return plots.files(curves(found)) if found.kind == "connections" else {}

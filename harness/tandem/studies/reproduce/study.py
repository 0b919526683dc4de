"""The study behind `reproduce`: an experiment's rows as variants and windows, in rounds of randomised complete blocks."""

from collections.abc import Sequence

from pydantic import Field

from tandem.catalog.catalog import Catalog
from tandem.engine import deciding
from tandem.engine.study import Options, Study, of_rows
from tandem.errors import UsageError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.reproduce import report as tables
from tandem.studies.reproduce.conclusions import Reproduced, conclude
from tandem.studies.reproduce.experiment import Experiment, PlanName, pick, plan_named
from tandem.studies.reproduce.files import scaled
from tandem.studies.reproduce.rows import ExperimentRows
from tandem.studies.reproduce.trials import row_trials


class ReproduceOptions(Options):
    needs = "a reproduction needs an experiment, its digest and a number of CPUs"
    experiment: str
    """A name, or the path of a TOML file."""
    digest: str
    """A fingerprint of what its file says is measured."""
    cpus: int
    """The number of CPUs of the host; in a lab, of the application."""
    together: list[list[str]] = Field(default_factory=list)
    """The fresh starts of each block of a round, by name. Empty: one block."""
    only: list[str] = Field(default_factory=list)
    """The rows that are measured; empty: those of the plan."""
    scale: float | None = None
    """Share of the published number of lines of files; None: the plan's."""


def request_for(
    catalog: Catalog,
    name: str,
    experiment: Experiment,
    plan: PlanName,
    cpus: int,
    seed: int,
    lab: str | None = None,
    generators: int = 1,
    scale: float | None = None,
) -> Request:
    """Make the request. name: of the experiment, or the path of its file. experiment: scaled. Raises UsageError."""
    rows = ExperimentRows(catalog, experiment, plan, cpus, lab is not None)
    first = rows.variants[0]
    options = ReproduceOptions(
        experiment=name,
        digest=experiment.digest(plan),
        cpus=cpus,
        together=rows.joined_by_claims(),
        scale=scale,
    )
    return Request(
        study=Reproduce.name,
        variants=rows.variants,
        scenario=first.scenario or experiment.name,
        conditions=Conditions(
            topology=first.topology or "none",
            placement=first.placement or "none",
            lab=lab,
            generators=generators,
        ),
        plan=plan,
        seed=seed,
        salt="" if first.scenario is None else str(seed),
        title=experiment.name,
        options=options.as_options(),
    )


class Reproduce(Study[Reproduced]):
    """Each row once in each round; rows that share a fresh start are windows of one trial."""

    name = "reproduce"
    kind = Reproduced
    report = staticmethod(tables.report)
    headline = staticmethod(tables.headline)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        self.catalog, self.request = catalog, request
        self.asked, self.plan_name = ReproduceOptions.read(request), plan_named(request.plan)
        known = pick(catalog.root, self.asked.experiment)
        self.experiment = scaled(known, self.plan_name, self.asked.scale)
        if self.experiment.digest(self.plan_name) != self.asked.digest:
            raise UsageError(
                f"{known.name}: what its file says is measured has changed since this was requested"
            )
        if self.asked.only:
            self.experiment = self.experiment.only(self.asked.only)
        in_lab = request.conditions.lab is not None
        self.rows = ExperimentRows(catalog, self.experiment, self.plan_name, self.asked.cpus, in_lab)
        self.together = self.asked.together or [list(self.rows.starts)]

    @property
    def looks_at_ceilings(self) -> bool:
        return False

    @property
    def holds(self) -> list[tuple[int, int]]:
        return sorted({row.holds for row in self.rows.rows.values()}, reverse=True)

    @property
    def variants(self) -> list[Variant]:
        return self.rows.variants

    def outline(self) -> list[list[TrialSpec]]:
        return self.rows.outline(self.request.seed, self.together)

    @classmethod
    def only(cls, catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
        """These rows, and the others that are measured in the same starts: what a start has done before is part of a figure."""
        whole = cls(catalog, request)
        started = {row.label: row.variant.label for row in whole.rows.rows.values()}
        asked = of_rows(rows, started)
        only = [label for label, variant in started.items() if variant in asked]
        options = whole.asked.model_copy(update={"only": only, "together": []})
        part = cls(catalog, request.model_copy(update={"options": options.as_options()}))
        options = options.model_copy(update={"together": part.rows.joined_by_claims()})
        return request.model_copy(update={"variants": part.variants, "options": options.as_options()})

    @classmethod
    def today(cls, catalog: Catalog, request: Request) -> Request:
        """A recorded request as its experiment's file would make it now."""
        asked, under, plan = ReproduceOptions.read(request), request.conditions, plan_named(request.plan)
        name = asked.experiment
        experiment = scaled(pick(catalog.root, name), plan, asked.scale)
        whole = request_for(
            catalog,
            name,
            experiment,
            plan,
            asked.cpus,
            request.seed,
            under.lab,
            under.generators,
            asked.scale,
        )
        return cls.only(catalog, whole, asked.only) if asked.only else whole

    def ahead(self, expected_s: float) -> list[str]:
        least, starts = deciding.INTERVAL_LEAST, self.rows.plan.starts
        return deciding.too_few(starts, least, "fresh starts", expected_s, "decide a claim", "--plan core")

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Reproduced]:
        rows = list(self.rows.rows.values())
        found = [one for trial in trials for one in row_trials(rows, trial, len(self.together))]
        concluded = conclude(self.experiment, self.plan_name, self.asked.digest, rows, found)
        started = {variant.label for variant in self.variants}
        shared = [row.described for row in rows if row.described.label not in started]
        return concluded.model_copy(update={"variants": [*self.variants, *shared], "complete": True})

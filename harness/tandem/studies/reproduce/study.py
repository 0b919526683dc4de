"""The study behind `reproduce`: an experiment's rows as variants and windows, in rounds of randomised complete blocks."""

from collections.abc import Sequence

from pydantic import Field

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.study import INTERVAL_LEAST, Options, Study, silent, warn_of_too_few
from tandem.errors import UsageError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec
from tandem.studies.reproduce import report as tables
from tandem.studies.reproduce.conclusions import Reproduced, conclude
from tandem.studies.reproduce.experiment import PlanName, pick, plan_named
from tandem.studies.reproduce.rows import ExperimentRows, scaled
from tandem.studies.reproduce.trials import row_trials


class ReproduceOptions(Options):
    needs = "a reproduction needs an experiment, its digest and a number of CPUs"
    experiment: str
    """A name, or the path of a TOML file."""
    digest: str
    """A fingerprint of what its file says is measured."""
    cpus: int
    """The number of CPUs of the host; in a lab, of the application."""
    places: int | None = None
    """The host's places for roles (Topology.places); None: as many as CPUs."""
    together: list[list[str]] = Field(default_factory=list)
    """The fresh starts of each block of a round, by name. Empty: one block."""
    only: list[str] = Field(default_factory=list)
    """The rows that are measured; empty: those of the plan."""
    scale: float | None = None
    """Share of the published number of lines of files; None: the plan's."""


def request_for(
    catalog: Catalog,
    name: str,
    plan: PlanName,
    cpus: int,
    seed: int,
    lab: str | None = None,
    generators: int = 1,
    scale: float | None = None,
    places: int | None = None,
) -> Request:
    """Make the request. name: of the experiment, or the path of its file. Raises UsageError."""
    experiment = scaled(pick(catalog.root, name), scale)
    places = None if places == cpus else places
    rows = ExperimentRows(catalog, experiment, plan, cpus, lab is not None, places)
    first = rows.variants[0]
    options = ReproduceOptions(
        experiment=name,
        digest=experiment.digest(plan),
        cpus=cpus,
        places=places,
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

    def __init__(self, catalog: Catalog, request: Request) -> None:
        self.catalog, self.request, self.tell = catalog, request, silent  # its plans are not the catalog's
        self.asked, self.plan_name = ReproduceOptions.read(request), plan_named(request.plan)
        known = pick(catalog.root, self.asked.experiment)
        self.experiment = scaled(known, self.asked.scale)
        if self.experiment.digest(self.plan_name) != self.asked.digest:
            raise UsageError(
                f"{known.name}: what its file says is measured has changed since this was requested"
            )
        if self.asked.only:
            self.experiment = self.experiment.only(self.asked.only)
        in_lab, host = request.conditions.lab is not None, self.asked
        self.rows = ExperimentRows(catalog, self.experiment, self.plan_name, host.cpus, in_lab, host.places)
        self.together = self.asked.together or [list(self.rows.starts)]

    @property
    def variants(self) -> list[Variant]:
        return self.rows.variants

    def outline(self) -> list[list[TrialSpec]]:
        return self.rows.outline(self.request.seed, self.together)

    def plan(self) -> Blocks:
        starts = self.rows.plan.starts
        warn_of_too_few(self.tell, starts, INTERVAL_LEAST, "fresh starts", "decide a claim", "--plan core")
        yield from super().plan()

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Reproduced]:
        rows = list(self.rows.rows.values())
        found = [one for trial in trials for one in row_trials(rows, trial, len(self.together))]
        concluded = conclude(self.experiment, self.plan_name, self.asked.digest, rows, found)
        started = {variant.label for variant in self.variants}
        shared = [row.described for row in rows if row.described.label not in started]
        return concluded.model_copy(update={"variants": [*self.variants, *shared], "complete": True})

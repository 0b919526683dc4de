"""The study of files: fresh starts of a program that counts lines in many ways, one start for each case of each block."""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

from tandem.analysis.repeated import Values
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import complete_blocks
from tandem.engine.study import Study
from tandem.errors import UsageError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WarmUp
from tandem.studies.files.conclusions import row_trial
from tandem.studies.files.document import Counting
from tandem.studies.files.spec import Case, case_of, cases, facts, runs, scaled, variant
from tandem.studies.reproduce import report as tables
from tandem.studies.reproduce.conclusions import Facts, Reproduced, conclude
from tandem.studies.reproduce.experiment import Experiment, PlanName, pick, read_all
from tandem.studies.reproduce.study import too_few_starts


def request_of(
    experiment: Experiment, asked: str, plan: PlanName, seed: int, scale: float | None = None
) -> Request:
    """experiment: scaled. asked: its name, or the path of its TOML file. Raises UsageError for rows that cannot be."""
    lines = {label: case.lines for case, rows in cases(experiment, plan).items() for label in rows}
    found = [variant(label, run, lines[label]) for label, run in runs(experiment, plan).items()]
    digest = experiment.digest(plan)
    return Request(
        study="files",
        variants=found,
        scenario=experiment.name,
        conditions=Conditions(topology="none", placement="none"),  # the program runs alone, on all CPUs
        plan=plan,
        seed=seed,
        title=experiment.name,
        options={"experiment": asked, "digest": digest, **({} if scale is None else {"scale": scale})},
    )


COMPARED = ("time_ms", "cpu_ms", "peak_memory_mib")
"""What a replay holds against the record."""


class Files(Study[Reproduced]):
    """Each case once in each block; its variants are the rows of an experiment."""

    name = "files"
    kind = Reproduced
    lab = "tandem.studies.files.lab.FilesLab"
    report = staticmethod(tables.report)
    markdown = staticmethod(tables.markdown)
    headline = staticmethod(tables.headline)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        # Its plan is one of the experiment's own, not of loadgen/plans.
        self.catalog, self.request = catalog, request
        self.plan_name = cast("PlanName", request.plan)
        options = request.options
        asked = pick(read_all(catalog.root), str(options["experiment"]))
        self.experiment = scaled(asked, self.plan_name, cast("float | None", options.get("scale")))
        if self.experiment.digest(self.plan_name) != options["digest"]:
            raise UsageError(
                f"{asked.name}: what the experiment measures has changed since this was requested"
            )
        self.digest = str(options["digest"])
        self.experiment = self.experiment.only([one.label for one in request.variants])

    @property
    def looks_at_ceilings(self) -> bool:
        return False

    @cached_property
    def _rows_of(self) -> dict[Case, list[Variant]]:
        """The rows that share the same files."""
        found: dict[Case, list[Variant]] = {}
        for one in self.variants:
            found.setdefault(case_of(one), []).append(one)
        return found

    def outline(self) -> list[list[TrialSpec]]:
        by_name = {case.name: case for case in self._rows_of}
        starts = self.experiment.plan(self.plan_name).starts
        return [
            [self._start(number, by_name[name]) for name in order]
            for number, order in enumerate(complete_blocks(list(by_name), starts, self.request.seed), start=1)
        ]

    @classmethod
    def today(cls, catalog: Catalog, request: Request) -> Request:
        """Of the experiment as its file has it now."""
        name, scale = str(request.options["experiment"]), cast("float | None", request.options.get("scale"))
        experiment = pick(read_all(catalog.root), name)
        return request_of(experiment, name, cast("PlanName", request.plan), request.seed, scale)

    def ahead(self, expected_s: float) -> list[str]:
        return too_few_starts(self.experiment.plan(self.plan_name).starts, expected_s)

    def _start(self, block: int, case: Case) -> TrialSpec:
        labels = [one.label for one in self._rows_of[case]]
        return TrialSpec(
            name=f"{block}-{case.name}",
            block=block,
            variants=labels,
            warm_up=WarmUp(least_s=0, cap_s=0),
            expected_s=case.expected_s(len(labels)),
        )

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Reproduced]:
        experiment, plan = self.experiment, self.plan_name
        in_order = sorted(trials, key=lambda trial: (trial.spec.block, trial.spec.attempt))
        found = [row_trial(label, trial) for trial in in_order for label in trial.spec.variants]
        known = {one.label: Facts(facts(experiment, plan, one.label)) for one in self.variants}
        return conclude(experiment, plan, self.digest, found, known)

    @classmethod
    def compared(cls, trials: Sequence[Trial], label: str) -> Values:
        told = [Counting.model_validate(trial.facts.get(label, {})).figures for trial in trials]
        return {name: [one[name] for one in told if name in one] for name in COMPARED}

"""The study of files: fresh starts of a program that counts lines in many ways, one start for each case of each block."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from rich.console import RenderableType

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import complete_blocks
from tandem.engine.study import Study
from tandem.errors import UsageError
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial, TrialSpec, WarmUp
from tandem.studies.files import legacy, report
from tandem.studies.files.conclusions import Counted, claim_of, reasons, row_of, whole
from tandem.studies.files.lab import FilesLab
from tandem.studies.files.spec import NO_STACK, Case, case_of, cases, facts, percent, scaled, variant
from tandem.studies.reproduce.experiment import Experiment, PlanName, pick, read_all


def request_of(
    experiment: Experiment, asked: str, plan: PlanName, seed: int, scale: float | None = None
) -> Request:
    """experiment: scaled. asked: its name, or the path of its TOML file. Raises UsageError for rows that cannot be."""
    found = [
        variant(label, run, case.lines)
        for case, rows in cases(experiment, plan).items()
        for label, run in rows.items()
    ]
    order = {row.label: place for place, row in enumerate(experiment.rows)}
    options = {"experiment": asked, "digest": experiment.digest(plan)}
    return Request(
        study=Files.name,
        variants=sorted(found, key=lambda one: order[one.label]),
        scenario=experiment.name,
        conditions=NO_STACK,
        plan=plan,
        seed=seed,
        options={**options, **({} if scale is None else {"scale": scale})},
    )


class Files(Study[Counted]):
    """Each case once in each block; its variants are the rows of an experiment."""

    name = "files"
    kind = Counted
    lab = FilesLab

    def __init__(self, catalog: Catalog, request: Request) -> None:
        # Its plan is one of the experiment's own, not of loadgen/plans.
        self.catalog, self.request = catalog, request
        self.plan_name = cast("PlanName", request.plan)
        options = request.options
        asked = pick(read_all(catalog.root), str(options["experiment"]))
        self.experiment = scaled(asked, self.plan_name, cast("float | None", options.get("scale")))
        if self.experiment.digest(self.plan_name) != options["digest"]:
            raise UsageError(
                f"{asked.name}: what the experiment measures has changed since this was asked for"
            )

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

    def _start(self, block: int, case: Case) -> TrialSpec:
        labels = [one.label for one in self._rows_of[case]]
        return TrialSpec(
            name=f"{block}-{case.name}",
            block=block,
            variants=labels,
            warm_up=WarmUp(least_s=0, cap_s=0),
            expected_s=case.expected_s(len(labels)),
        )

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Counted]:
        experiment, plan = self.experiment, self.plan_name
        rows = [
            row_of(experiment, one.label, trials, facts(experiment, plan, one.label)) for one in self.variants
        ]
        labels = {row.label for row in rows}
        claims = [claim for claim in experiment.claims if {claim.of, claim.to} <= labels]
        return Concluded(
            verdict=whole(experiment, plan, rows, trials),
            reasons=reasons(trials),
            conclusions=Counted(
                experiment=experiment.name,
                title=experiment.title,
                origin=experiment.origin,
                published_host=experiment.published_host,
                digest=experiment.digest(plan),
                starts=experiment.plan(plan).starts,
                lines_percent=percent(experiment, plan),
                columns=experiment.figures,
                rows=rows,
                claims=[claim_of(experiment, claim, trials) for claim in claims],
                sentence=experiment.sentence,
            ),
        )

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        stand = sum(claim["verdict"] == "stands" for claim in conclusions["claims"])
        return f"{stand} of {len(conclusions['claims'])} claims stand"

    @classmethod
    def migrated(cls, folder: Path) -> tuple[Result[Counted], list[Trial]] | None:
        return legacy.migrated(folder)

    @classmethod
    def report(cls, result: Result[Counted], trials: Sequence[Trial]) -> RenderableType:
        return report.report(result)

    @classmethod
    def markdown(cls, result: Result[Counted], trials: Sequence[Trial]) -> str | None:
        return report.markdown(result)

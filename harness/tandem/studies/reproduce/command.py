"""`tandem reproduce`: the experiments that were published, made again."""

from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli.options import RESULTS, ROOT, app_cpus, generators_in, out, print_json, seed_or_new
from tandem.cli.shared import CONDITIONS, Asked, Default, measuring
from tandem.engine.run import blocks_s
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.record.store import RESULT
from tandem.report.table import texts
from tandem.studies.reproduce.experiment import PLANS, Experiment, PlanName, plan_named, read_all, read_claims
from tandem.studies.reproduce.rows import check_space, counts_files
from tandem.studies.reproduce.study import Reproduce, request_for
from tandem.wording import lasts

LIST = "list"
REFERENCES = ("results/reference-experiments", "results/reference-claims")
GROUPS = {"published": "experiments", "quoted": "claims that people quote"}


@measuring(
    "reproduce",
    without=CONDITIONS,
    plan=Default(
        "smoke",
        "smoke: some rows, short windows. core: the same rows, ten fresh starts. wide: every row, short windows, three fresh"
        " starts. full: every row, full length.",
    ),
)
def reproduce_(
    asked: Asked,
    experiment: Annotated[
        str,
        typer.Argument(
            help="Experiment or claim (`just reproduce list` prints them), or a TOML file of your own."
        ),
    ],
    scale: Annotated[
        float | None,
        typer.Option(
            help="file-io only: share of the published number of lines, for a small disk. Default: the plan's."
        ),
    ] = None,
) -> None:
    """Run a published experiment again: our result beside the published one, and the outcome of each claim."""
    catalog = Catalog(ROOT)
    if experiment == LIST:
        _list(catalog, asked.as_json)
        return
    named, lab = plan_named(asked.plan), asked.lab or None
    cpus, generators, places = HERE.cpus, 1, HERE.topology().places
    if lab:
        machines = catalog.lab(lab)
        cpus = places = app_cpus(machines)
        generators = generators_in(machines)
    seed = seed_or_new(asked.seed)
    request = request_for(catalog, experiment, named, cpus, seed, lab, generators, scale, places)
    rows = Reproduce(catalog, request).rows
    if counts_files(rows.experiment):
        if lab:
            raise UsageError(
                f"{rows.experiment.name} reads and writes files on this machine's disk: leave --lab out"
            )
        check_space(rows, HERE.free_bytes())
    asked.measure(Reproduce, request)


def _list(catalog: Catalog, as_json: bool) -> None:
    found = [_entry(catalog, experiment) for experiment in (read_all(ROOT) | read_claims(ROOT)).values()]
    if as_json:
        print_json(found)
        return
    left = ("name", "title", "reference")
    for group, heading in GROUPS.items():
        rows = [
            [
                *(str(entry[name]) for name in ("name", "title", "rows")),
                *(f"{entry[f'{plan}_rows']}: {lasts(float(entry[f'{plan}_s'] or 0))}" for plan in PLANS),
                "yes" if entry["reference"] else "–",
            ]
            for entry in found
            if entry["group"] == group
        ]
        out.print(texts(heading, rows, "name", "title", "rows", *PLANS, "reference", left=left))
    out.print(f"{', '.join(PLANS)}: number of rows and approximate time, without builds", style="dim")


def _entry(catalog: Catalog, experiment: Experiment) -> dict[str, str | float | bool | None]:
    return {
        "name": experiment.name,
        "group": "quoted" if experiment.source else "published",
        "source": experiment.source,
        "title": experiment.title,
        "origin": experiment.origin,
        "rows": len(experiment.rows),
        **{f"{plan}_rows": len(experiment.measured(plan)) for plan in PLANS},
        **{f"{plan}_s": round(estimate_s(catalog, experiment.name, plan)) for plan in PLANS},
        "reference": any((ROOT / of / experiment.name / RESULT).is_file() for of in REFERENCES),
    }


def estimate_s(catalog: Catalog, name: str, plan: PlanName) -> float:
    """Seconds that a plan takes, without builds."""
    places = HERE.topology().places
    request = request_for(catalog, name, plan, HERE.cpus, 0, places=places)
    return blocks_s(Reproduce(catalog, request), RESULTS)

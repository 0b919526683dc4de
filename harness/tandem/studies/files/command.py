"""`tandem reproduce` for an experiment with files."""

from pathlib import Path

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import measure
from tandem.engine.run import blocks_s
from tandem.hosts import HERE
from tandem.studies.files.spec import check_space
from tandem.studies.files.study import Files, request_of
from tandem.studies.reproduce.experiment import Experiment, PlanName


def reproduce_files(
    experiment: Experiment,
    asked: str,
    plan: PlanName,
    seed: int,
    scale: float | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Measures it and prints what was found. experiment: scaled. asked: its name, or the path of its TOML file. Raises UsageError."""
    request = request_of(experiment, asked, plan, seed, scale)
    check_space(experiment, plan, HERE.free_bytes())
    measure(Files, request, resume, as_json)


def estimate_s(catalog: Catalog, results: Path, experiment: Experiment, plan: PlanName) -> float:
    """How long a plan takes, without builds."""
    return blocks_s(Files(catalog, request_of(experiment, experiment.name, plan, 1)), results)

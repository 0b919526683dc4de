"""Sizes of the files of an experiment: which share of the published lines they have, and whether they fit. Pure."""

from tandem.errors import UsageError
from tandem.judge.file_io import PROGRAM, Case, WaySettings
from tandem.studies.reproduce.experiment import Experiment, PlanName
from tandem.studies.reproduce.rows import LINES_PERCENT, ExperimentRows


def counts_files(experiment: Experiment) -> bool:
    """Say whether the program of an experiment reads and writes files and answers no HTTP."""
    return PROGRAM in (
        experiment.variant.get("implementation"),
        experiment.rows[0].variant.get("implementation"),
    )


def scaled(experiment: Experiment, plan: PlanName, scale: float | None) -> Experiment:
    """The experiment with another share of the published lines. scale: 0.01 to 1; None: the plan's own."""
    if scale is None:
        return experiment
    if not counts_files(experiment):
        raise UsageError(f"--scale is for experiments with files; {experiment.name} has none")
    if not 0.01 <= scale <= 1:
        raise UsageError(f"--scale takes a share of the published lines from 0.01 to 1, not {scale:g}")
    plans = experiment.plans.limited(plan, {LINES_PERCENT: round(scale * 100)})
    return experiment.model_copy(update={"plans": plans})


def cases(rows: ExperimentRows) -> list[Case]:
    """The different files that the starts count."""
    return list({WaySettings.model_validate(row.settings).case: None for row in rows.rows.values()})


def check_space(rows: ExperimentRows, free_bytes: int) -> None:
    """Raises UsageError, with the scale that would fit, where the largest case is too large for the disk."""
    largest = max(cases(rows), key=lambda case: case.bytes)
    if largest.bytes <= free_bytes:
        return
    fits = int(rows.plan.limits.get(LINES_PERCENT, 100) * free_bytes / largest.bytes)
    remedy = (
        f"Free some space, or use --scale {fits / 100:.2f}"
        if fits >= 1
        else "Free some space: not even a hundredth of the published lines fits"
    )
    raise UsageError(
        f"{rows.experiment.name}: {largest.files} files with {largest.lines:,} lines need {largest.bytes / 1e6:,.0f} MB, and"
        f" the engine's disk has {free_bytes / 1e6:,.0f} MB left. {remedy}"
    )

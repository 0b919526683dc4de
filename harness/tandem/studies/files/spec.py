"""What a row of the kind `files` says, as a variant; how large its case is, and how long it takes. Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tandem.errors import UsageError
from tandem.record.request import Variant
from tandem.studies.reproduce.experiment import Experiment, PlanName, parse_run

PERCENT = "lines_percent"
"""The plan's limit: how much of the published number of lines is made."""
NANOS_DIGITS = 19
SPARE = 1.05
"""What a file system needs for itself."""
PROGRAM = "file-io"
"""The folder of the program that counts; what the variants are of."""
CONTAINER_S = 1.5
MADE_NS, COUNTED_NS = 150, 80
"""For the estimate: a container; a line to make it, and to count it once in a way."""


class FilesRun(BaseModel):
    """`run` of a row, laid over the experiment's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    way: Annotated[str, Field(pattern=r"^(test[0-9]{2}|loop-(one|all))$")]
    """As `asynctest --help` names it."""
    files: Annotated[int, Field(ge=1, le=1000)]
    lines: Annotated[int, Field(ge=1)]
    """In all files together, as published."""
    buffer_bytes: Annotated[int, Field(ge=64, le=2**30)] = 8192
    cache: Literal["hot", "cold"] = "hot"


@dataclass(frozen=True)
class Case:
    """What one run of asynctest is about: its rows share the same files."""

    files: int
    lines: int
    """That are made."""
    buffer_bytes: int
    cache: str

    @property
    def name(self) -> str:
        return f"{self.files}-{self.lines}-{self.buffer_bytes}-{self.cache}"

    def expected_s(self, ways: int) -> float:
        """How long a start takes that counts in so many ways."""
        return CONTAINER_S + self.lines * (MADE_NS + COUNTED_NS * ways) / 1e9

    @property
    def bytes(self) -> int:
        """Of all files, at most."""
        longest = len(str(self.files - 1)) + len(str(self.lines // self.files)) + NANOS_DIGITS + len(",,\n")
        return round(self.lines * longest * SPARE)


def percent(experiment: Experiment, plan: PlanName) -> int:
    """How much of the published number of lines is made."""
    return experiment.plan(plan).limits.get(PERCENT, 100)


def lines_made(run: FilesRun, of_hundred: int) -> int:
    """A file has one line at least."""
    return max(run.files, run.lines * of_hundred // 100)


def runs(experiment: Experiment, plan: PlanName) -> dict[str, FilesRun]:
    """By label, of the rows that a plan measures. Raises UsageError for what a row cannot say."""
    return {row.label: parse_run(experiment, row, FilesRun) for row in experiment.measured(plan)}


def variant(label: str, run: FilesRun, lines: int) -> Variant:
    """A row as what is measured. lines: that are made."""
    settings = {**run.model_dump(mode="json"), "lines": lines}
    return Variant(
        label=label,
        implementation=PROGRAM,
        settings={name: str(value) for name, value in settings.items()},
    )


def case_of(variant: Variant) -> Case:
    """The files that a variant counts."""
    run = FilesRun.model_validate(variant.settings)
    return Case(run.files, run.lines, run.buffer_bytes, run.cache)


def cases(experiment: Experiment, plan: PlanName) -> dict[Case, dict[str, FilesRun]]:
    """The rows of each case, by label. Raises UsageError for two rows that would be the same measurement."""
    found: dict[Case, dict[str, FilesRun]] = {}
    for label, run in runs(experiment, plan).items():
        lines = lines_made(run, percent(experiment, plan))
        own = found.setdefault(Case(run.files, lines, run.buffer_bytes, run.cache), {})
        for other, there in own.items():
            if there.way == run.way:
                raise UsageError(
                    f"{experiment.name}: the rows '{other}' and '{label}' are the same measurement"
                )
        own[label] = run
    return found


def facts(experiment: Experiment, plan: PlanName, label: str) -> dict[str, str]:
    """What a row runs, for people."""
    run, share = runs(experiment, plan)[label], percent(experiment, plan)
    return {
        "way": run.way,
        "files": str(run.files),
        "lines": f"{run.lines:,}" if share == 100 else f"{share} % of {run.lines:,}",
        "buffer": f"{run.buffer_bytes} bytes",
        "cache": run.cache,
    }


def arguments(case: Case, ways: Sequence[str], seed: int) -> list[str]:
    """asynctest's, after the folder."""
    return [
        str(case.files),
        str(case.lines),
        *("--only", ",".join(ways)),
        *("--buffer-size", str(case.buffer_bytes)),
        *("--cache", case.cache),
        *("--repeats", "1"),
        *("--seed", str(seed)),
        "--json",
    ]


def seed_of(seed: int, block: int, case: Case) -> int:
    """Of the order within one container: another one each time, fixed by the study's."""
    text = f"{seed} {block} {case.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def check_space(experiment: Experiment, plan: PlanName, free_bytes: int) -> None:
    """Raises UsageError, with the scale that would fit, where the largest case is too large for the disk."""
    largest = max(cases(experiment, plan), key=lambda case: case.bytes)
    if largest.bytes <= free_bytes:
        return
    now = percent(experiment, plan)
    fits = int(now * free_bytes / largest.bytes)
    remedy = (
        f"Free some space, or use --scale {fits / 100:.2f}"
        if fits >= 1
        else "Free some space: not even a hundredth of the published lines fits"
    )
    raise UsageError(
        f"{experiment.name}: {largest.files} files with {largest.lines:,} lines need {largest.bytes / 1e6:,.0f} MB, and"
        f" the engine's disk has {free_bytes / 1e6:,.0f} MB left. {remedy}"
    )


def scaled(experiment: Experiment, plan: PlanName, scale: float | None) -> Experiment:
    """The experiment with another share of the published lines. scale: 0.01 to 1; None: the plan's own."""
    if scale is None:
        return experiment
    if experiment.kind != "files":
        raise UsageError(f"--scale is for experiments with files; {experiment.name} has none")
    if not 0.01 <= scale <= 1:
        raise UsageError(f"--scale takes a share of the published lines from 0.01 to 1, not {scale:g}")
    plans = experiment.plans.limited(plan, {PERCENT: round(scale * 100)})
    return experiment.model_copy(update={"plans": plans})

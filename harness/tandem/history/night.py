"""What is kept of a night, and of the answer to an alarm. Each is a file that is written once."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from tandem.analysis.ratios import Ratio
from tandem.record.part import Number, Part

NIGHT_SCHEMA: Literal[2] = 2
Line = Literal["today", "frozen", "weather"]
"""today: ln(today's image / the frozen one). frozen: ln of the frozen image's second start by its first, the line that shows
false alarms. weather: ln of the frozen image's own figure, which only the machine can move."""


class Program(Part):
    """An image of an implementation, and where it comes from."""

    tag: str
    """Of `tandem/<implementation>`; the first digits of the digest of what it runs."""
    commit: str | None = None
    """Of the sources; None where that is not known."""
    dirty: bool = False
    """Whether the sources were not those of the commit alone: then nobody can build it again."""

    @property
    def name(self) -> str:
        """What series are told apart by. The commit, because an image that was built again from it is another image of the
        same sources; the image itself where no commit has them."""
        return self.commit[:12] if self.commit and not self.dirty else self.tag


class Frozen(Part):
    """What an implementation is compared with, night after night."""

    implementation: str
    program: Program
    frozen_at: datetime

    @property
    def name(self) -> str:
        """That of its program."""
        return self.program.name


class Point(Part):
    """One value of one series."""

    implementation: str
    scenario: str
    metric: str
    line: Line
    value: Number
    """Mean over the blocks, a logarithm."""
    blocks: int | None = None
    sd: Number | None = None
    """Between blocks."""


class Night(Part):
    """nights/*.json"""

    schema_version: Literal[2] = NIGHT_SCHEMA
    id: str
    """That of the result that it was taken from; unique, and begins with the time."""
    machine: str
    cpu_model: str
    started_at: datetime
    programs: dict[str, Program] = Field(default_factory=dict)
    """Implementation -> today's."""
    frozen: dict[str, str] = Field(default_factory=dict)
    """Implementation -> the name of what it was compared with."""
    clock: str | None = None
    """Why its time is not to be believed. Its place in the series is not known then, and it is left out."""
    points: list[Point] = Field(default_factory=list)


class SeriesKey(Part):
    """Values that may be compared: of one machine and CPU model, against one frozen program."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    machine: str
    cpu_model: str
    implementation: str
    scenario: str
    metric: str
    line: Line
    frozen: str


Answered = Literal["confirmed", "not confirmed", "machine", "same image", "image missing"]


class AlarmAnswer(Part):
    """answers/*.json: what became of an alarm. The series begins anew where the change was."""

    schema_version: Literal[1] = 1
    id: str
    series: SeriesKey
    since: str
    """The night where the change began, as far as the sum tells."""
    raised: str
    """The night that raised the alarm."""
    answered_at: datetime
    word: Answered
    worse: bool
    """Whether the series moved to where it costs more or answers less."""
    good: Program | None = None
    bad: Program | None = None
    """Of two neighbouring images: the last that is as before, the first that is not."""
    ratio: Ratio | None = None
    """bad by good, over fresh blocks; the data that raised the alarm are not among them."""
    results: list[str] = Field(default_factory=list)
    """The comparisons that were made for it."""
    command: str | None = None
    """What repeats the last of them."""


def _from_1(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept one number for each `implementation/scenario/metric/line`, and the image's tag alone."""
    points = []
    for key, value in old["values"].items():
        implementation, scenario, metric, line = key.split("/")
        points.append(
            {
                "implementation": implementation,
                "scenario": scenario,
                "metric": metric,
                "line": line,
                "value": value,
            }
        )
    programs = {name: {"tag": tag} for name, tag in old["images"].items()}
    kept = {key: old[key] for key in ("id", "machine", "cpu_model", "started_at", "frozen")}
    return {**kept, "schema_version": NIGHT_SCHEMA, "programs": programs, "points": points}


FORMS = {1: _from_1}
"""Older version -> what makes the present form of it."""

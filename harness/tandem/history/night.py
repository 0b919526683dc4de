"""The record of a night, and of the answer to an alarm. Each is a file that is written once."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from tandem.record.conclusion import Contrast
from tandem.record.part import Number, Part

Line = Literal["today", "frozen", "weather", "first"]
"""today: ln(today's image / the frozen one). frozen: ln of the frozen image's second start by its first, the line that shows
false alarms. weather: ln of the frozen image's own figure, which only the machine can move. first: ln(today's image / the one
that was frozen first of all), where that is not the frozen one; it shows what creeps."""


class Program(Part):
    """An image of an implementation, and where it comes from."""

    tag: str
    """Tag of `tandem/<implementation>`: the first digits of the digest of its contents."""
    commit: str | None = None
    """Commit of the sources; None where that is not known."""
    dirty: bool = False
    """Whether the sources were not those of the commit alone: then nobody can build it again."""
    base: str | None = None
    """Digest of the image's lowest layer, which is that of its base image; None where that is not known."""

    @property
    def name(self) -> str:
        """The name that tells series apart: the commit, because an image that was built again from it is another image of the
        same sources; the image itself where no commit has them."""
        return self.commit[:12] if self.commit and not self.dirty else self.tag


class Frozen(Part):
    """The image that an implementation is compared with, night after night."""

    implementation: str
    program: Program
    frozen_at: datetime


class StackImage(Part):
    """The image of one service of the stack."""

    tag: str
    """The first digits of the digest of what it runs."""
    content: str
    """The digest of its sources. What the build got from elsewhere, such as packages, is no part of it."""
    base: str | None = None
    """Digest of its lowest layer, as `Program.base`."""


class FrozenStack(Part):
    """stacks/*.json: the services that all images of all nights run on, until the next one."""

    schema_version: Literal[1] = 1
    images: dict[str, StackImage]
    """Role, such as `db` -> its image."""
    frozen_at: datetime


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
    """Standard deviation between blocks."""


class Night(Part):
    """nights/*.json"""

    schema_version: Literal[2] = 2
    id: str
    """Name of the result that the night was taken from; unique, and begins with the time."""
    machine: str
    cpu_model: str
    started_at: datetime
    programs: dict[str, Program] = Field(default_factory=dict)
    """Implementation -> today's image."""
    frozen: dict[str, str] = Field(default_factory=dict)
    """Implementation -> the name of what it was compared with."""
    frozen_images: dict[str, Program] = Field(default_factory=dict)
    """Implementation -> that image as this machine had it: one that was built again has another tag."""
    first_images: dict[str, Program] = Field(default_factory=dict)
    """Implementation -> the image that was frozen first, as this machine had it; only where that is not the frozen one."""
    stack: dict[str, StackImage] = Field(default_factory=dict)
    """Role -> the image of the stack; empty in nights of before it was frozen."""
    kernel: str | None = None
    microcode: str | None = None
    """Kernel and microcode of the application's host; None where they are not known."""
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


class EventAnswer(Part):
    """events/*.json: what fresh blocks showed of one series, at once after something new came under the programs. The series
    goes on, whatever it shows."""

    schema_version: Literal[1] = 1
    id: str
    series: SeriesKey
    night: str
    """The night in which the event came."""
    what: list[str]
    """The new parts in words, such as `kernel 6.1 -> 6.2`."""
    answered_at: datetime
    level: Number
    """Level of the series before: a logarithm."""
    scatter: Number
    """Standard deviation of its nights about that level, in the same unit."""
    ratio: Contrast | None
    """Today's image by the frozen one, over fresh blocks; None where the host left none."""
    moved: bool | None
    """Whether the ratio is another one than the series told before; None where there is none."""
    result: str
    """The comparison that was made."""
    command: str
    """Command that repeats the comparison."""


Answered = Literal["confirmed", "base", "not confirmed", "machine", "same image", "image missing"]
"""base: no commit, but what both were built on made the difference."""


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
    rebuilt: Program | None = None
    """The good commit built again on the base of the bad image, where the two had been built on different ones."""
    base_is_told_apart: bool = True
    """False: base and commits changed both, and the good commit could not be built on the new base."""
    good: Program | None = None
    bad: Program | None = None
    """`good` and `bad` are neighbouring images: the last that is as before, the first that is not."""
    ratio: Contrast | None = None
    """bad by good, over fresh blocks; the data that raised the alarm are not among them."""
    results: list[str] = Field(default_factory=list)
    """The comparisons that were made for it."""
    command: str | None = None
    """Command that repeats the comparison that `ratio` is of."""

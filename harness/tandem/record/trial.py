"""What is to be made, and what was made: window specs, trial specs, trials."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from tandem.record.part import Figure, Part
from tandem.record.window import Finding, Verdict, Window

type WindowRole = Literal["closed", "open", "sliced", "equal", "duet", "saturated", "probe"]
"""What a window is for: full load alone; a rate alone; full load in slices; a rate that is the same for all; all variants at once,
at a moderate rate or near their joint limit; a search's own question."""


class Slicing(Part):
    """How the variants of a window take turns in short slices, while the generators of the others stand still."""

    slice_s: Figure
    settle_s: Figure = 0.2
    """First seconds of each slice, no part of any figure: what the last one left in flight ends there."""
    seed: int
    """Seed of the order (tandem.analysis.alternation.balanced)."""


class Arrivals(Part):
    """When the requests of a load are due, and of a mix which of them, where that is drawn (tandem.load.vegeta)."""

    process: Literal["paced", "poisson", "bursts"] = "paced"
    """Evenly spaced; at random, each moment alike; or evenly in bursts with pauses between."""
    size: int | None = None
    """Requests of a burst."""
    pause_ms: int | None = None
    """Pause between the end of a burst and the beginning of the next."""
    seed: int = 0
    """Seed, the same for all variants of a block: at one rate they are asked at the same instants."""

    @property
    def told(self) -> str:
        """The arrivals in words, for people."""
        if self.process == "bursts":
            return f"arrivals in bursts of {self.size} with pauses of {self.pause_ms} ms"
        return {"paced": "evenly spaced arrivals", "poisson": "Poisson arrivals"}[self.process]


class WindowSpec(Part):
    """One load: who is loaded, how, for how long, by what."""

    name: str
    """Name, unique within its trial; that of its raw files."""
    variants: list[str]
    """Labels. Several are loaded in the same seconds, each by a generator process of its own."""
    role: WindowRole | None = None
    """Purpose of the window. Null: its other fields say it; in older trials of a comparison, its name does."""
    round: int | None = None
    """Number of the round, shared by windows of several variants that are compared. Null: there are no rounds."""
    seconds: int
    load: Literal["closed", "open"] = "closed"
    rates_rps: dict[str, int] = Field(default_factory=dict)
    """Open loop: label -> rate."""
    share: Figure | None = None
    """Open loop without a rate: this share of the goodput that the window `share_of` reached in the same trial."""
    share_of: str | None = None
    equal_share: Figure | None = None
    """Share of what the slowest variant of the trial reached, which is the rate of this window of a comparison."""
    generator: str = "oha"
    generator_options: dict[str, Any] = Field(default_factory=dict)
    """What this generator is told beside the load, such as wrk's own number of threads."""
    scenario_changes: dict[str, Any] = Field(default_factory=dict)
    """Fields of the scenario that are laid over it for this window."""
    address: str | None = None
    """service:port that is asked; None: the topology's."""
    trim_start_s: Figure
    trim_end_s: Figure
    """Seconds at both ends that no figure is taken from."""
    settled: bool = True
    """Whether it begins once the host is quiet; False: at once."""
    after_s: Figure = 0.0
    """A rest before it."""
    freeze_s: Figure = 0.0
    """The database stands still for so long, a quarter of the window after its beginning."""
    arrivals: Arrivals | None = None
    """When its requests are due; null: the generator paces an open loop by itself."""
    slices: Slicing | None = None
    """Closed loop, several variants: not at once but in slices, which share `seconds`. Of each variant the first slice
    opens its connections and gives no figure."""
    counts: bool = True
    """Whether its findings count for the verdict of its trial; False: its study judges it, because more may be offered
    than can be served."""


class WarmUp(Part):
    """How long each variant of a trial is loaded before anything is measured."""

    least_s: int
    requests_per_worker: int = 0
    steady_buckets: int = 0
    """Last seconds that must be steady (tandem.judge.steady); 0: they are not looked at."""
    cap_s: int


class TrialSpec(Part):
    """A fresh start of every variant in it, and their windows."""

    name: str
    """Name, unique within its study."""
    block: int
    """Number of its block. A void window voids it, and it is made again. Stand-ins are in blocks below 1."""
    variants: list[str]
    """Labels in the order in which they start. Several are up side by side; those that are not loaded are frozen."""
    warm_up: WarmUp
    windows: list[WindowSpec] = Field(default_factory=list)
    """Windows in their order. A study that decides from window to window leaves this to its `windows`."""
    verify: bool = True
    """Answers and statements must be right before anything is measured. The self-test's liars leave it out, so that
    they meet the checks of the windows."""
    attempt: int = 1
    expected_s: Figure | None = None
    """How long it takes, where that does not follow from its warm-up and windows."""

    @property
    def key(self) -> str:
        """Name of its files in the journal."""
        return self.name if self.attempt == 1 else f"{self.name}.{self.attempt}"

    def again(self) -> "TrialSpec":
        """The spec of one more attempt."""
        return self.model_copy(update={"attempt": self.attempt + 1})


class Phase(Part):
    """A part of a visit."""

    name: str
    duration_s: Figure


class Challenge(Part):
    """A table was locked while it was asked for, and the data changed (tandem.lab.challenge)."""

    locked: str | None = None
    """The locked table; null where the scenario asks no database."""
    met_lock: int = 0
    """Requests that were sent while it was locked."""
    compared: int = 0
    """Answers to requests that were sent after a change, with a body of their own, or on a connection that was silent."""
    looked_for: int = 0
    """Rows that were acknowledged, and looked for at once on another connection."""
    new_by_known: Figure | None = None
    """CPU time of a request whose body is new, or about rows that have changed, by that of the load's."""


class Start(Part):
    """One variant's fresh start within a trial."""

    implementation: str | None = None
    """Implementation of the variant; null of a stand-in, and in older records."""
    warm_up_s: Figure | None = None
    warm_up_requests: int | None = None
    findings: list[Finding] = Field(default_factory=list)
    """Findings of its answers before the load, its warm-up and its end."""
    cpu_peak_percent: Figure | None = None
    """The most CPU within a second, in percent of a core, by psrecord from its first answer to its end."""
    resident_peak_bytes: int | None = None
    """The most resident memory by psrecord, summed over its processes; what they share counts once for each."""
    idle_cpu_cores: Figure | None = None
    """What it used while nobody asked for anything, before any load: CPU-seconds per second. Looked at only where slices
    follow; null in older records."""
    first_answer_s: Figure | None = None
    """Seconds from its container's start to its first answer, asked without HAProxy; null in older records."""
    first_right_s: Figure | None = None
    """Seconds from its container's start to its first right answer on the whole path; null where the first was wrong."""
    memory_rest_bytes: int | None = None
    """Memory (as `memory_peak_bytes`) when it had answered for the first time, before any load."""
    challenge: Challenge | None = None
    """The challenge after its windows, where its scenario asks the database or has silent connections."""
    refused: str | None = None
    """Why no window of it was made."""


class WindowRecord(Part):
    """One window of a trial, as it was made."""

    spec: WindowSpec
    windows: dict[str, Window] = Field(default_factory=dict)
    """Label -> its window."""
    refused: str | None = None
    """Why there is no window."""
    began_s: dict[str, float] = Field(default_factory=dict)
    """Label -> when its load began, seconds since 1970."""
    frozen_s: list[float] = Field(default_factory=list)
    """When the database was frozen and thawed, seconds since 1970; empty: it was not."""
    duration_s: Figure = 0.0
    """Duration, with all that is around the load."""
    told: dict[str, Any] | None = None
    """What a generator without rows says of its own load."""

    @property
    def alone(self) -> bool:
        """Whether one variant at a time was loaded: what the database and the proxy used was then for it."""
        return len(self.spec.variants) == 1 or self.spec.slices is not None

    @property
    def only(self) -> Window:
        """The window of a spec with one variant. Raises KeyError if it was refused."""
        return self.windows[self.spec.variants[0]]


class Trial(Part):
    """A trial spec that was made: one visit."""

    spec: TrialSpec
    started_at: datetime
    verdict: Verdict
    findings: list[Finding] = Field(default_factory=list)
    """Findings of the visit as a whole; those of starts and windows stand there."""
    starts: dict[str, Start] = Field(default_factory=dict)
    windows: list[WindowRecord] = Field(default_factory=list)
    phases: list[Phase] = Field(default_factory=list)
    overhead_s: Figure | None = None
    """Duration of the visit without its warm-ups and windows."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """What a study notes about this trial beside its windows."""

    @property
    def took_s(self) -> float:
        """Duration of all its phases."""
        return sum(phase.duration_s for phase in self.phases)

    def all_findings(self) -> Iterator[Finding]:
        """The findings of its starts, windows and visit: a cause stands before its consequences."""
        for start in self.starts.values():
            yield from start.findings
        for record in self.windows:
            for window in record.windows.values():
                yield from window.findings
        yield from self.findings

    def window(self, name: str, label: str | None = None) -> Window | None:
        """The window of that name; label: default the first variant. None if it was not made."""
        for record in self.windows:
            if record.spec.name == name:
                return record.windows.get(label or record.spec.variants[0])
        return None

    @property
    def made(self) -> list[WindowRecord]:
        """The windows that were made; the others say why they are missing."""
        return [record for record in self.windows if record.windows]

    def counting_findings(self) -> list[Finding]:
        """The findings that the verdict follows from: all but those of windows that their study judges."""
        others = [record for record in self.windows if record.spec.counts]
        return list(self.model_copy(update={"windows": others}).all_findings())

    def of(self, label: str, load: Literal["closed", "open"]) -> list[Window]:
        """All windows of a variant in which it alone was loaded this way; where it was measured in slices, those alone. Those
        at several equal rates are not among them."""
        made = [one for one in self.windows if one.spec.load == load and label in one.windows]
        loaded = [one for one in made if one.spec.equal_share is None and one.alone]
        sliced = [one for one in loaded if one.spec.slices]
        return [one.windows[label] for one in sliced or loaded]

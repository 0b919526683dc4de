"""The course of a capacity search: told what was made so far, it says what comes next. Pure.

It is told the windows of its search one by one, and whole trials after that. Told the same, it says the same, so an
interrupted study goes on by telling it again.
"""

import random
from dataclasses import dataclass, field

from tandem.analysis.threshold import Threshold
from tandem.catalog.catalog import Plan
from tandem.errors import TandemError
from tandem.load.rows import WRONG_LENGTH
from tandem.record.trial import Trial, WindowRecord, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.capacity import conclusions
from tandem.studies.capacity.conclusions import Behaviour, recovery
from tandem.studies.capacity.judged import Judged, State, judge
from tandem.studies.capacity.search import Approach, Search, Slo, window_s
from tandem.studies.capacity.steps import FurtherStarts, SearchSteps, further_of, reasons

SEARCH, CONFIRMATION, BEHAVIOUR = "search", "confirmation", "behaviour"
"""The trials: confirmations have numbers behind that."""
CLOSED, PROBE, LOAD, AFTER = "closed", "probe", "load", "after"
"""The windows: all but the first closed one have a number or a share behind that."""
RECOVER_S = 2.0
"""Between a probe that failed and the next window."""
BEFORE_AGAIN_S = 5.0
"""A disturbance is waited for so long before a void window is repeated."""
SHARES, OVERLOADS = (0.5, 0.75, 0.9), (1.1, 1.5)
"""Of the capacity."""
RECOVERY_SHARE = 0.5


@dataclass(frozen=True)
class Terms:
    """What a search was asked for. longest_s: no window is longer. plan: `trials` fresh starts confirm, `closed_s` is
    the first window, `open_s` is the shortest probe."""

    label: str
    slo: Slo
    longest_s: int
    plan: Plan
    seed: int

    def window_s(self, rate_rps: int) -> int:
        """How long a window at this rate has to be. Raises TandemError if it would be too long."""
        trims_s = self.plan.trim_start_s + self.plan.trim_end_s
        return window_s(self.slo, rate_rps, self.plan.open_s, self.longest_s, trims_s)

    def closed(self, name: str, after_s: float = 0.0) -> WindowSpec:
        """The window that tells where the search begins."""
        return WindowSpec(
            name=name,
            variants=[self.label],
            seconds=self.plan.closed_s,
            trim_start_s=self.plan.trim_start_s,
            trim_end_s=self.plan.trim_end_s,
            after_s=after_s,
        )

    def open(
        self, name: str, rate_rps: int, seconds: int, after_s: float = 0.0, settled: bool = True
    ) -> WindowSpec:
        """A window at a rate."""
        return WindowSpec(
            name=name,
            variants=[self.label],
            seconds=seconds,
            load="open",
            rates_rps={self.label: rate_rps},
            trim_start_s=self.plan.trim_start_s,
            trim_end_s=self.plan.trim_end_s,
            settled=settled,
            after_s=after_s,
            counts=False,
        )

    def loads(self, capacity_rps: int) -> list[WindowSpec]:
        """The windows that show the behaviour around a capacity: shares of it in the seed's order, then overloads, each
        with what comes right after it."""
        shares = list(SHARES)
        random.Random(self.seed).shuffle(shares)
        out = []
        for share in (*shares, *OVERLOADS):
            rate_rps = max(1, round(capacity_rps * share))
            try:
                seconds = self.window_s(rate_rps)
            except TandemError:  # the percentile cannot be had at this rate: it stays null
                seconds = self.longest_s
            out.append(self.open(f"{LOAD}-{share * 100:.0f}", rate_rps, seconds))
            if share > 1:
                half = max(1, int(capacity_rps * RECOVERY_SHARE))
                out.append(self.open(f"{AFTER}-{share * 100:.0f}", half, self.plan.open_s, settled=False))
        return out


@dataclass(frozen=True)
class Ended:
    """What ended a study before its end. invalid: wrong answers; void: the host; failed: anything else."""

    verdict: Verdict
    text: str


def wrong(record: WindowRecord, error: TandemError) -> Ended:
    """How a window ends a study that cannot be judged. error: what the judge raised."""
    window = record.only
    lied = any(finding.severity == "invalid" for finding in window.findings)
    lied = lied or bool(window.failed.get(WRONG_LENGTH))
    return Ended(Verdict.INVALID if lied else Verdict.FAILED, str(error))


def broken(trial: Trial) -> Ended | None:
    """What went wrong in a trial besides what its windows say; None: nothing."""
    for start in trial.starts.values():
        if start.refused is not None:
            failed = trial.verdict is Verdict.FAILED
            return Ended(Verdict.FAILED if failed else Verdict.INVALID, start.refused)
    if trial.verdict is Verdict.FAILED:
        texts = [finding.text for finding in trial.all_findings() if finding.code == "failed"]
        return Ended(Verdict.FAILED, texts[0] if texts else f"{trial.spec.key} failed")
    return None


@dataclass
class Searching:
    """The windows of the search, or of a further start, inside one warm start."""

    terms: Terms
    goodput_rps: float | None = None
    """Of the closed window."""
    steps: SearchSteps | None = None
    """There since the closed window."""
    judged: list[Judged] = field(default_factory=list)
    ended: Ended | None = None
    trial: str = SEARCH
    _closed: int = 0

    @classmethod
    def near(cls, terms: Terms, rate_rps: int, trial: str) -> "Searching":
        """A further start, which begins at a rate."""
        return cls(terms, steps=SearchSteps(Approach(rate_rps)), trial=trial)

    def next(self) -> WindowSpec | None:
        """The next window; None at the end."""
        if self.ended is not None:
            return None
        if self.steps is None:
            again = self._closed > 0
            return self.terms.closed(f"{CLOSED}-again" if again else CLOSED, BEFORE_AGAIN_S if again else 0.0)
        rate = self.steps.next_rps()
        if rate is None:
            return None
        try:
            seconds = self.terms.window_s(rate)
        except TandemError as error:
            self.ended = Ended(Verdict.FAILED, str(error))
            return None
        after_s = 0.0
        if self.steps.again is not None:
            after_s = BEFORE_AGAIN_S
        elif self.judged and self.judged[-1].state is State.FAILED:
            after_s = RECOVER_S
        return self.terms.open(f"{PROBE}-{len(self.judged) + 1}", rate, seconds, after_s)

    def tell(self, record: WindowRecord) -> None:
        """Raises TandemError for a window that would not have followed."""
        wanted = self.next()
        if record.spec != wanted:
            follows = (
                "no window would follow"
                if wanted is None
                else f"{wanted.name} at {_rate(wanted)} would follow"
            )
            raise TandemError(
                f"the trial {self.trial} cannot be used: its window {record.spec.name} was measured at {_rate(record.spec)}, but"
                f" now {follows}. Remove its file to measure that start again."
            )
        if self.steps is None:
            self._tell_closed(record)
            return
        try:
            found = judge(record.only, self.terms.slo, f"{self.trial}/{record.spec.name}")
        except TandemError as error:
            self.ended = wrong(record, error)
            return
        self.judged.append(self.steps.tell(found))

    def _tell_closed(self, record: WindowRecord) -> None:
        window = record.only
        self._closed += 1
        if window.verdict is Verdict.VOID and self._closed == 1:
            return
        if window.verdict is not Verdict.OK:
            texts = [finding.text for finding in window.findings if finding.severity != "warning"]
            self.ended = Ended(window.verdict, f"the closed window: {texts[0]}")
            return
        self.goodput_rps = window.goodput_rps
        start_rps = max(1, int(window.goodput_rps * self.terms.plan.open_load_fraction))
        self.steps = SearchSteps(Search(start_rps))


def _rate(spec: WindowSpec) -> str:
    return ", ".join(f"{rate:,}/s" for rate in spec.rates_rps.values()) or "no rate"


@dataclass
class Course:
    """All of it, trial by trial."""

    terms: Terms
    searching: Searching = field(init=False)
    further: FurtherStarts | None = None
    """There once the search has a bracket."""
    confirmations: list[Judged] = field(default_factory=list)
    behaviour: list[Behaviour] = field(default_factory=list)
    ended: Ended | None = None

    def __post_init__(self) -> None:
        self.searching = Searching(self.terms)

    @property
    def found(self) -> Threshold | None:
        """The capacity, once all fresh starts are there."""
        return None if self.further is None else self.further.found

    @property
    def capacity_rps(self) -> int | None:
        found = self.found
        return None if found is None else max(1, round(found.rate_rps))

    def next_start(self, number: int) -> Searching | None:
        """The next fresh start; None where none follows."""
        rate = None if self.further is None or self.ended else self.further.next_rps()
        if rate is None:
            return None
        found = Searching.near(self.terms, rate, f"{CONFIRMATION}-{number}")
        found.next()
        self.ended = found.ended
        return None if self.ended else found

    def tell(self, trial: Trial) -> None:
        """Raises TandemError for windows that would not have followed."""
        if trial.spec.name == SEARCH:
            self._tell_search(trial)
        elif trial.spec.name == BEHAVIOUR:
            self._tell_behaviour(trial)
        else:
            self._tell_further(trial)
        self.ended = self.ended or broken(trial)

    def _tell_search(self, trial: Trial) -> None:
        for record in trial.made:
            self.searching.tell(record)
        self.searching.next()
        self.ended = broken(trial) or self.searching.ended
        if self.ended is None and self.searching.steps is not None:
            self.further = further_of(self.searching.steps, self.searching.judged, self.terms.plan.trials)

    def _tell_further(self, trial: Trial) -> None:
        assert self.further is not None
        [rate_rps] = trial.spec.windows[0].rates_rps.values()
        found = Searching.near(self.terms, rate_rps, trial.spec.name)
        for record in trial.made:
            found.tell(record)
        self.confirmations += found.judged
        self.ended = found.ended
        if found.judged and not self.ended:
            self.further.tell(found.judged)

    def _tell_behaviour(self, trial: Trial) -> None:
        overload: WindowRecord | None = None
        for record in trial.made:
            what, _, percent = record.spec.name.partition("-")
            if what == AFTER:
                assert overload is not None
                self.behaviour[-1].recovery = recovery(overload, record, self.terms.slo)
                continue
            try:
                self.behaviour.append(conclusions.behaviour(record, int(percent) / 100))
            except TandemError as error:
                self.ended = wrong(record, error)
                return
            overload = record

    @property
    def reasons(self) -> list[str]:
        """Why there is no capacity, and what ended the study."""
        steps = self.searching.steps
        why = [] if steps is None else reasons(steps, self.further, self.terms.slo)
        return [*why, *([self.ended.text] if self.ended else [])]

    @property
    def verdict(self) -> Verdict:
        """ok: found. void: the host disturbed too much. invalid: wrong answers, or no rate meets the
        objective. failed: it ended before its end."""
        if self.ended is not None:
            return self.ended.verdict
        steps = self.searching.steps
        if steps is not None and (steps.disturbed or (self.further and self.further.disturbed)):
            return Verdict.VOID
        return Verdict.INVALID if self.capacity_rps is None else Verdict.OK

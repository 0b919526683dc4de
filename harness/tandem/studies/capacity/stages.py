"""The stages of a capacity search, as generators. Pure.

A warm start yields its windows and receives each; the stages yield fresh starts and receives each. Either returns what was
found. Told the same, they do the same, so an interrupted study goes on, and is concluded, by running them with what was made.
"""

import random
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from tandem.analysis.threshold import StartProbes, Threshold, threshold
from tandem.catalog.catalog import Plan
from tandem.engine.grid import fresh_start, windows_of
from tandem.errors import TandemError
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.capacity.conclusions import Behaviour, FrozenDatabase, behaviour, frozen, recovery
from tandem.studies.capacity.judged import Judged, State, judge
from tandem.studies.capacity.search import Approach, Ended, Search, Slo, next_start_rps, window_s

SEARCH, CONFIRMATION, BEHAVIOUR = "search", "confirmation", "behaviour"
"""The trials: confirmations have numbers behind that."""
CLOSED, PROBE = "closed", "probe"
"""The windows of the search; probes have numbers behind that."""
RECOVER_S = 2.0
"""Pause between a probe that failed and the next window."""
BEFORE_AGAIN_S = 5.0
"""Time that a disturbance is given to end before a void window is repeated."""
VOID_STARTS = 2
"""Number of further fresh starts that may replace void ones."""
SHARES, OVERLOADS = (0.5, 0.75, 0.9), (1.1, 1.5, 3.0)
"""Loads as shares of the capacity, below it and above it."""
LOADS = {f"load-{share * 100:.0f}": share for share in (*SHARES, *OVERLOADS)}
"""Name of a window -> share of the capacity."""
RECOVERY_SHARE = 0.5
FROZEN, FREEZE_S = "frozen", 2.0
"""The window at half the capacity in which the database stands still, and for how long."""


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
        """How long a window at this rate has to be. Raises Ended if it would be too long."""
        trims_s = self.plan.trim_start_s + self.plan.trim_end_s
        return window_s(self.slo, rate_rps, self.plan.open_s, self.longest_s, trims_s)

    def closed(self, name: str = CLOSED, after_s: float = 0.0) -> WindowSpec:
        """The window that tells where the search begins."""
        closed, _ = windows_of(self.plan, self.label)
        return closed.model_copy(update={"name": name, "after_s": after_s})

    def open(self, name: str, rate_rps: int, seconds: int, after_s: float = 0.0) -> WindowSpec:
        """A window at a rate."""
        at_rate = {"load": "open", "rates_rps": {self.label: rate_rps}, "counts": False}
        return self.closed(name, after_s).model_copy(update={"seconds": seconds, **at_rate})

    def probe(self, number: int, rate_rps: int, after_s: float = 0.0) -> WindowSpec:
        """A probe of a warm start. Raises Ended where no window may be as long as its rate needs."""
        return self.open(f"{PROBE}-{number}", rate_rps, self.window_s(rate_rps), after_s)

    def loads(self, capacity_rps: int) -> list[WindowSpec]:
        """The windows that show the behaviour around a capacity: shares of it in the seed's order, a database that stands
        still, overloads, each with what comes right after it."""

        def load(share: float) -> WindowSpec:
            rate_rps = max(1, round(capacity_rps * share))
            try:
                seconds = self.window_s(rate_rps)
            except Ended:  # the percentile cannot be had at this rate: it stays null
                seconds = self.longest_s
            return self.open(f"load-{share * 100:.0f}", rate_rps, seconds)

        def at_half(name: str, **changes: float) -> WindowSpec:
            rate_rps = max(1, int(capacity_rps * RECOVERY_SHARE))
            return self.open(name, rate_rps, 2 * self.plan.open_s).model_copy(update=changes)

        below = [load(share) for share in SHARES]
        random.Random(self.seed).shuffle(below)
        # Before the overloads: who tries again may be busy with them for long.
        out = [*below, at_half(FROZEN, freeze_s=FREEZE_S)]
        for share in OVERLOADS:
            out += [load(share), at_half(f"after-{share * 100:.0f}", settled=False)]
        return out

    def trial(self, name: str, block: int, windows: Sequence[WindowSpec] = ()) -> TrialSpec:
        """A fresh start. windows: those that are known before it; what follows is decided in it."""
        spec = fresh_start(self.plan, block, self.label)
        return spec.model_copy(update={"name": name, "windows": list(windows)})


# ---- one warm start ----


@dataclass
class WarmStart:
    """What the windows of a warm start came to."""

    goodput_rps: float | None = None
    """Goodput of the closed window."""
    search: Search | None = None
    """What chooses the rates of the search; None: there was no closed window to begin at, or it is a further start."""
    probes: list[Judged] = field(default_factory=list)
    behaviour: list[Behaviour] = field(default_factory=list)
    frozen: FrozenDatabase | None = None

    @property
    def counting(self) -> StartProbes:
        """The probes that count: rate, and whether it was held."""
        counted = [probe for probe in self.probes if probe.state is not State.VOID]
        return [(probe.rate_rps, probe.state is State.PASSED) for probe in counted]


type Warm = Generator[WindowSpec, WindowRecord]
"""The windows of a warm start, which notes what they come to. Raises Ended for what ends the study."""


def search(terms: Terms, found: WarmStart) -> Warm:
    """The start that finds a bracket."""
    record = yield terms.closed()
    if record.only.verdict is Verdict.VOID:
        record = yield terms.closed(f"{CLOSED}-again", BEFORE_AGAIN_S)
    window = record.only
    if window.verdict is not Verdict.OK:
        texts = [finding.text for finding in window.findings if finding.severity != "warning"]
        raise Ended(window.verdict, f"the closed window: {texts[0]}")
    found.goodput_rps = window.goodput_rps
    found.search = Search(max(1, int(window.goodput_rps * terms.plan.open_load_fraction)))
    disturbed = yield from _probes(terms, found.search, SEARCH, found.probes)
    if disturbed is not None:
        text = f"the host disturbed the probe at {disturbed.rate_rps:,}/s twice: {disturbed.reasons[0]}"
        raise Ended(Verdict.VOID, text)
    lower, upper = found.search.edges
    if lower is None:
        raise Ended(Verdict.INVALID, f"no rate was found at which {terms.slo} holds")
    if upper is None:
        text = f"no rate was found at which {terms.slo} does not hold: the probes ran out at {lower:,}/s"
        raise Ended(Verdict.INVALID, text)


def further(terms: Terms, rate_rps: int, trial: str, found: WarmStart) -> Warm:
    """A further fresh start, which begins at a rate. Two void probes at one rate end it, and no more."""
    yield from _probes(terms, Approach(rate_rps), trial, found.probes)


def _probes(
    terms: Terms, state: Search | Approach, trial: str, made: list[Judged]
) -> Generator[WindowSpec, WindowRecord, Judged | None]:
    """The probes of one warm start, each of which is added to `made`. A void one is repeated once; two at one rate end it, and
    the second is returned. What stalls the generator twice in a row is a limit, not an accident."""
    again: Judged | None = None
    while (rate := state.next_rps() if again is None else again.rate_rps) is not None:
        rest_s = RECOVER_S if made and made[-1].state is State.FAILED else 0.0
        spec = terms.probe(len(made) + 1, rate, rest_s if again is None else BEFORE_AGAIN_S)
        record = yield spec
        found = judge(record.only, terms.slo, f"{trial}/{spec.name}")
        if again is not None and again.stalled and found.stalled:
            reasons = [*found.reasons, "the generator cannot offer this rate"]
            found = found.model_copy(update={"state": State.FAILED, "reasons": reasons})
        made.append(found)
        if found.state is not State.VOID:
            again = None
            state.tell(found.rate_rps, found.state is State.PASSED)
        elif again is None:
            again = found
        else:
            return found
    return None


def showing(windows: Iterable[WindowSpec], slo: Slo, found: WarmStart) -> Warm:
    """The start that shows the behaviour at these loads. Nothing is measured after wrong answers."""
    overload: WindowRecord | None = None
    for spec in windows:
        record = yield spec
        if spec.name == FROZEN:
            found.frozen = frozen(record, slo)
        elif spec.name in LOADS:
            overload = record
            found.behaviour.append(behaviour(record, LOADS[spec.name]))
        else:
            assert overload is not None
            found.behaviour[-1].recovery = recovery(overload, record, slo)


# ---- all of it ----


@dataclass
class CapacityOutcome:
    """What a whole search came to."""

    search: WarmStart = field(default_factory=WarmStart)
    further: list[WarmStart] = field(default_factory=list)
    starts: list[StartProbes] = field(default_factory=list)
    """Probes of each start that counts, the search's first."""
    capacity: Threshold | None = None
    shown: WarmStart = field(default_factory=WarmStart)
    """The behaviour around the capacity."""
    ended: Ended | None = None


def stages(terms: Terms) -> Generator[list[TrialSpec], list[Trial], CapacityOutcome]:
    """Block 1 is the search. Each block after it is a further fresh start that begins where the ones before it had their
    limits, until there are enough; one without a probe that counts is replaced. The last block shows the behaviour."""
    found = CapacityOutcome()
    try:
        [trial] = yield [terms.trial(SEARCH, 1)]
        replay(search(terms, found.search), trial)
        found.starts.append(found.search.counting)
        while len(found.starts) <= terms.plan.trials:
            found.further.append(start := WarmStart())
            number, rate = len(found.further), next_start_rps(found.starts)
            name = f"{CONFIRMATION}-{number}"
            [trial] = yield [terms.trial(name, number + 1, [terms.probe(1, rate)])]
            replay(further(terms, rate, name, start), trial)
            if start.counting:
                found.starts.append(start.counting)
            elif (void := number + 1 - len(found.starts)) > VOID_STARTS:
                why = start.probes[-1].reasons[0]
                raise Ended(Verdict.VOID, f"the host disturbed {void} further starts: {why}")
        found.capacity = threshold(found.starts)
        assert found.capacity is not None  # the search has a bracket
        loads = terms.loads(max(1, round(found.capacity.rate_rps)))
        [trial] = yield [terms.trial(BEHAVIOUR, len(found.further) + 2, loads)]
        # As they were asked for: an older record has fewer.
        replay(showing(trial.spec.windows, terms.slo, found.shown), trial)
    except Ended as ended:
        found.ended = ended
    return found


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


# ---- what was made before ----


def replay(start: Warm, trial: Trial) -> None:
    """Tell a start the windows that were made. Raises Ended for what ends the study, in its windows or in the trial around them;
    TandemError for windows that would not have followed."""
    left, ended = iter(trial.made), broken(trial)
    try:
        wanted = next(start)
        for record in left:
            # Who sent it, and at which instants, was decided after it was asked for.
            sent = {"generator": record.spec.generator, "arrivals": record.spec.arrivals}
            if record.spec != wanted.model_copy(update=sent):
                raise _unfit(trial, record, f"{wanted.name} at {_rate(wanted)} would follow")
            wanted = start.send(record)
        ended = ended or Ended(Verdict.FAILED, f"{trial.spec.key} is not complete")
    except StopIteration:
        pass
    except Ended as error:
        ended = error
    for record in left:
        raise _unfit(trial, record, "no window would follow")
    if ended is not None:
        raise ended


def _unfit(trial: Trial, record: WindowRecord, follows: str) -> TandemError:
    return TandemError(
        f"the trial {trial.spec.name} cannot be used: its window {record.spec.name} was measured at {_rate(record.spec)}, but now"
        f" {follows}. Remove its file to measure that start again."
    )


def _rate(spec: WindowSpec) -> str:
    return ", ".join(f"{rate:,}/s" for rate in spec.rates_rps.values()) or "no rate"

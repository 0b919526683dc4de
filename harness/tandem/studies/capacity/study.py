"""The study behind `capacity`: it decides from window to window (tandem.studies.capacity.stages)."""

from collections.abc import Sequence
from contextlib import suppress

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.study import Options, Study, Windows, answered, passed_on, warn_of_too_few
from tandem.errors import UsageError
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WindowRecord
from tandem.record.window import Finding, Verdict
from tandem.studies.capacity import report as tables
from tandem.studies.capacity.conclusions import CapacityFound, behaviour, estimates_of, mark_ceilings
from tandem.studies.capacity.judged import judge
from tandem.studies.capacity.search import PROBES_A_START, Ended, parse_slo
from tandem.studies.capacity.stages import (
    BEHAVIOUR,
    CLOSED,
    CONFIRMATION,
    LOADS,
    PROBE,
    SEARCH,
    Terms,
    WarmStart,
    further,
    search,
    showing,
    stages,
)
from tandem.wording import lasts

TYPICAL_PROBES = 9
TYPICAL_RPS = 1000
FURTHER_LEAST = 3


class CapacityOptions(Options):
    needs = "a capacity needs an objective and its longest window"
    slo: str
    """The objective, such as p99=50ms."""
    longest_s: int


class Capacity(Study[CapacityFound]):
    """The highest rate that meets an objective."""

    name = "capacity"
    kind = CapacityFound
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        if len(request.variants) != 1:
            raise UsageError(f"capacity takes one variant, not {len(request.variants)}")
        asked, self.label = CapacityOptions.read(request), request.variants[0].label
        self.terms = Terms(self.label, parse_slo(asked.slo), asked.longest_s, self.timing, request.seed)

    # ---- what is made ----

    def outline(self) -> list[list[TrialSpec]]:
        """Trials with a typical number of probes, and all windows as short as they can be."""
        terms, open_s = self.terms, self.timing.open_s
        probes = [terms.open(f"{PROBE}-{n}", TYPICAL_RPS, open_s) for n in range(TYPICAL_PROBES)]
        loads = [one.model_copy(update={"seconds": open_s}) for one in terms.loads(TYPICAL_RPS)]
        numbers = range(1, self.timing.trials + 1)
        return [
            [terms.trial(SEARCH, 1, [terms.closed(), *probes])],
            *([terms.trial(f"{CONFIRMATION}-{n}", n + 1, probes[:PROBES_A_START])] for n in numbers),
            [terms.trial(BEHAVIOUR, self.timing.trials + 2, loads)],
        ]

    def plan(self) -> Blocks:
        warn_of_too_few(
            self.tell,
            self.timing.trials,
            FURTHER_LEAST,
            "further fresh starts",
            "show how much starts differ: the interval would mostly reflect the assumption made beforehand",
            "--plan capacity",
        )
        yield from stages(self.terms)

    def windows(self, spec: TrialSpec) -> Windows:
        terms, found = self.terms, WarmStart()
        if spec.name == SEARCH:
            start = search(terms, found)
        elif spec.name == BEHAVIOUR:
            start = showing(spec.windows, terms.slo, found)
        else:
            start = further(terms, spec.windows[0].rates_rps[self.label], spec.name, found)
        with suppress(Ended):
            yield from passed_on(start, made=self._tell_of)
            if found.search is not None:
                held, refused = map(tables.rate, found.search.edges)
                self.tell(f"  {len(found.probes)} probes: held at {held}, not at {refused}")

    # ---- what it says ----

    def _tell_of(self, record: WindowRecord) -> None:
        if text := self._came_to(record):
            self.tell(f"  {text}")

    def _came_to(self, record: WindowRecord) -> str | None:
        """What one window came to."""
        window, name = record.only, record.spec.name
        if name == CLOSED:
            return self._takes(window.goodput_rps)
        if record.spec.load == "closed" or not record.spec.settled or record.spec.freeze_s:
            return None  # a closed window once more, what comes after an overload, or a database that stands still
        try:
            if name in LOADS:
                load = behaviour(record, LOADS[name])
                return f"{load.share * 100:.0f}%: {load.goodput_rps:,.0f}/s of {load.offered_rps:,}/s"
            found = judge(window, self.terms.slo)
        except Ended as ended:
            return ended.text
        if found.percentile_ms is None:
            return str(found)
        return f"{found} ({self.terms.slo.percentile} {found.percentile_ms:,.1f} ms)"

    def _takes(self, goodput_rps: float) -> str | None:
        """How long the windows take where the estimate, which knew of no rate, supposed a faster variant."""
        try:
            seconds = self.terms.window_s(max(1, round(goodput_rps)))
        except Ended:
            return None
        if seconds <= self.timing.open_s:
            return None
        windows = TYPICAL_PROBES + self.timing.trials * PROBES_A_START + len(self.terms.loads(TYPICAL_RPS))
        return (
            f"a window near {tables.rate(round(goodput_rps))} needs {seconds} s to measure its {self.terms.slo.percentile}:"
            f" about {lasts(windows * seconds)} remain"
        )

    # ---- what follows ----

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[CapacityFound]:
        known = {trial.spec.key: trial for trial in trials}
        made = answered(stages(self.terms), lambda block: [known[spec.key] for spec in block])
        state, verdict = made.search.search, made.ended.verdict if made.ended else Verdict.OK
        found = CapacityFound(
            slo=self.terms.slo,
            closed_goodput_rps=made.search.goodput_rps,
            search=made.search.probes,
            decided=state is not None and state.decided,
            bracket_rps=(None, None) if state is None else state.edges,
            confirmations=[probe for start in made.further for probe in start.probes],
            fresh_starts=self.timing.trials,
            fit=made.capacity,
            behaviour=sorted(made.shown.behaviour, key=lambda load: load.share),
            frozen=made.shown.frozen,
        )
        found.estimates = estimates_of(found, self.label, verdict, max(0, len(made.starts) - 1))
        mark_ceilings(found, trials, baselines)
        return Concluded(
            verdict=verdict,
            reasons=[made.ended.text] if made.ended else [],
            findings=_warnings(trials),
            conclusions=found,
            headline=f"{tables.rate(found.capacity_rps)} with {found.slo}",
        )


def _warnings(trials: Sequence[Trial]) -> list[Finding]:
    """What the starts and ends of the trials say; what a load does to its window is told by its row."""
    return [
        finding.model_copy(update={"text": f"{trial.spec.key}: {finding.text}"})
        for trial in trials
        for findings in (trial.findings, *(start.findings for start in trial.starts.values()))
        for finding in findings
        if finding.severity == "warning"
    ]

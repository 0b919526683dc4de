"""The study behind `capacity`: it decides from window to window.

Block 1 is the search, in one warm start. Each block after it is a further fresh start that begins where the ones before
it had their limits, until there are enough. The last block shows the behaviour around the capacity.
"""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine import deciding
from tandem.engine.blocks import Blocks
from tandem.engine.grid import warm_up_of
from tandem.engine.study import Study, Windows
from tandem.errors import TandemError, UsageError
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Finding
from tandem.studies.capacity import report as tables
from tandem.studies.capacity.conclusions import (
    CapacityFound,
    behaviour,
    estimates_of,
    limited_by,
    mark_ceilings,
)
from tandem.studies.capacity.course import (
    AFTER,
    BEHAVIOUR,
    CLOSED,
    CONFIRMATION,
    LOAD,
    PROBE,
    SEARCH,
    Course,
    Searching,
    Terms,
    broken,
)
from tandem.studies.capacity.judged import judge
from tandem.studies.capacity.search import PROBES_A_START, Search, parse_slo
from tandem.wording import lasts

TYPICAL_PROBES = 9
TYPICAL_RPS = 1000
FURTHER_LEAST = 3


class Capacity(Study[CapacityFound]):
    """The highest rate that meets an objective. Options of the request: `slo`, `longest_s`."""

    name = "capacity"
    kind = CapacityFound
    whole = "it has one variant"
    report = staticmethod(tables.report)
    headline = staticmethod(tables.headline)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        if len(request.variants) != 1:
            raise UsageError(f"capacity takes one variant, not {len(request.variants)}")
        longest = request.options.get("longest_s")
        if not isinstance(longest, int):
            raise UsageError(f"the longest window is a whole number of seconds, not {longest}")
        slo = parse_slo(str(request.options.get("slo")))
        self.label = request.variants[0].label
        self.terms = Terms(self.label, slo, longest, self.timing, request.seed)

    # ---- what is made ----

    def outline(self) -> list[list[TrialSpec]]:
        """With a typical number of probes, and all windows as short as they can be."""
        search = [
            self.terms.open(f"{PROBE}-{n}", TYPICAL_RPS, self.timing.open_s) for n in range(TYPICAL_PROBES)
        ]
        further = [
            self.terms.open(f"{PROBE}-{n}", TYPICAL_RPS, self.timing.open_s) for n in range(PROBES_A_START)
        ]
        loads = [
            window.model_copy(update={"seconds": self.timing.open_s})
            for window in self.terms.loads(TYPICAL_RPS)
        ]
        return [
            [self._trial(SEARCH, 1, [self.terms.closed(CLOSED), *search])],
            *([self._further(number, further)] for number in range(1, self.timing.trials + 1)),
            [self._trial(BEHAVIOUR, self.timing.trials + 2, loads)],
        ]

    def plan(self) -> Blocks:
        course = Course(self.terms)
        for trial in (yield [self._trial(SEARCH, 1, [])]):
            course.tell(trial)
        number = 0
        while (start := course.next_start(number + 1)) is not None:
            number += 1
            first = start.next()
            assert first is not None
            for trial in (yield [self._further(number, [first])]):
                course.tell(trial)
        if course.ended is None and course.capacity_rps is not None:
            yield [self._trial(BEHAVIOUR, number + 2, self.terms.loads(course.capacity_rps))]

    def windows(self, spec: TrialSpec) -> Windows:
        if spec.name == SEARCH or spec.name.startswith(CONFIRMATION):
            searching = Searching(self.terms)
            if spec.name != SEARCH:
                [rate_rps] = spec.windows[0].rates_rps.values()
                searching = Searching.near(self.terms, rate_rps, spec.name)
            while (window := searching.next()) is not None:
                searching.tell((yield window))
            return
        for window in spec.windows:
            record = yield window
            if spec.name == BEHAVIOUR and self._lies(record):
                return

    def _lies(self, record: WindowRecord) -> bool:
        """Whether a load shows wrong answers: nothing is measured after that."""
        if record.spec.name.startswith(AFTER):
            return False
        try:
            behaviour(record, 1.0)
        except TandemError:
            return True
        return False

    def _trial(self, name: str, block: int, windows: list[WindowSpec]) -> TrialSpec:
        warm_up = warm_up_of(self.timing)
        return TrialSpec(name=name, block=block, variants=[self.label], warm_up=warm_up, windows=windows)

    def _further(self, number: int, windows: list[WindowSpec]) -> TrialSpec:
        """A fresh start. windows: the first; what follows is decided in it."""
        return self._trial(f"{CONFIRMATION}-{number}", number + 1, windows)

    # ---- what it says ----

    def ahead(self, expected_s: float) -> list[str]:
        return deciding.too_few(
            self.timing.trials,
            FURTHER_LEAST,
            "further fresh starts",
            expected_s,
            "show how much starts differ: the interval would mostly reflect the assumption made beforehand",
            "--plan capacity",
        )

    def line(self, made: Trial | WindowRecord) -> str | None:
        if made.spec.variants != [self.label]:
            return None  # a stand-in's
        return self._told(made) if isinstance(made, WindowRecord) else self._summed_up(made)

    def _told(self, record: WindowRecord) -> str | None:
        """What one window came to."""
        window, name = record.only, record.spec.name
        if name == CLOSED:
            return self._takes(window.goodput_rps)
        if record.spec.load == "closed" or name.startswith(AFTER):
            return None
        try:
            if name.startswith(LOAD):
                load = behaviour(record, 1.0)
                percent = name.removeprefix(f"{LOAD}-")
                return f"{percent}%: {load.goodput_rps:,.0f}/s of {load.offered_rps:,}/s"
            found = judge(window, self.terms.slo)
        except TandemError as error:
            return str(error)
        if found.percentile_ms is None:
            return str(found)
        return f"{found} ({self.terms.slo.percentile} {found.percentile_ms:,.1f} ms)"

    def _takes(self, goodput_rps: float) -> str | None:
        """How long the windows take where the estimate, which knew of no rate, supposed a faster variant."""
        try:
            seconds = self.terms.window_s(max(1, round(goodput_rps)))
        except TandemError:
            return None
        if seconds <= self.timing.open_s:
            return None
        windows = TYPICAL_PROBES + self.timing.trials * PROBES_A_START + len(self.terms.loads(TYPICAL_RPS))
        return (
            f"a window near {tables.rate(round(goodput_rps))} needs {seconds} s to measure its {self.terms.slo.percentile}:"
            f" about {lasts(windows * seconds)} remain"
        )

    def _summed_up(self, trial: Trial) -> str | None:
        """What a trial came to besides what its windows say."""
        if broken(trial) is not None:
            return None
        if trial.spec.name != SEARCH:
            return f"{trial.spec.name}: done"
        course = Course(self.terms)
        course.tell(trial)
        if course.ended is not None or course.searching.steps is None:
            return None
        search = course.searching.steps.search
        return (
            f"{len(course.searching.judged)} probes: held at {tables.rate(search.lower_rps)}, not at"
            f" {tables.rate(search.upper_rps)}"
        )

    # ---- what follows ----

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[CapacityFound]:
        course = Course(self.terms)
        for trial in trials:
            course.tell(trial)
        course.next_start(0)
        steps, further = course.searching.steps, course.further
        search = None if steps is None else steps.search
        capacity_rps = course.capacity_rps
        found = CapacityFound(
            slo=self.terms.slo,
            closed_goodput_rps=course.searching.goodput_rps,
            search=course.searching.judged,
            decided=isinstance(search, Search) and search.decided,
            bracket_rps=(None, None) if search is None else (search.lower_rps, search.upper_rps),
            confirmations=course.confirmations,
            confirmed=further.done if further else 0,
            fresh_starts=self.timing.trials,
            capacity_rps=capacity_rps,
            estimate=course.found,
            limited_by=limited_by([*course.searching.judged, *course.confirmations], capacity_rps),
            behaviour=sorted(course.behaviour, key=lambda load: load.share),
        )
        mark_ceilings(found, trials, baselines)
        found.estimates = estimates_of(found, self.request.variants[0].label, course.verdict)
        return Concluded(
            verdict=course.verdict,
            reasons=course.reasons,
            findings=_warnings(trials),
            conclusions=found,
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

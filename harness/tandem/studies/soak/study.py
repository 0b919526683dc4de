"""The study behind `soak`: one fresh start of each variant, minute after minute at one rate, then full load and a rest."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine.findings import together, worst
from tandem.engine.grid import fresh_start, windows_of
from tandem.engine.study import Options, Study, Windows, in_order
from tandem.errors import UsageError
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.soak import report as tables
from tandem.studies.soak.conclusions import AFTER, BURST, MINUTE, Soaked, estimates_of, run_of
from tandem.wording import lasts

LEAST_WINDOWS = 7
"""Fewest windows: the last four fifths of fewer give no slope."""
REST_S, AFTER_S, AFTER_SHARE = 60, 10, 0.1


class SoakOptions(Options):
    needs = "a long run needs its length, that of its windows and a share of the full rate"
    lasts_s: int
    window_s: int = 60
    share: float = 0.6


class Soak(Study[Soaked]):
    """Each variant once. A minute that the host disturbed is marked, and the run goes on: it would take as long again."""

    name = "soak"
    kind = Soaked
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = SoakOptions.read(request)
        if (number := self.asked.lasts_s // self.asked.window_s) < LEAST_WINDOWS:
            raise UsageError(
                f"{lasts(self.asked.lasts_s)} are {number} windows of {self.asked.window_s} s, and a slope needs {LEAST_WINDOWS}"
            )

    def outline(self) -> list[list[TrialSpec]]:
        starts = [fresh_start(self.timing, n, one.label) for n, one in enumerate(self.request.variants, 1)]
        return [[one.model_copy(update={"windows": self._all(*one.variants)})] for one in starts]

    def _all(self, label: str) -> list[WindowSpec]:
        asked, (closed, opened) = self.asked, windows_of(self.timing, label)
        at_once = {"settled": False, "counts": False}
        minute = opened.model_copy(update={"seconds": asked.window_s, "share": asked.share, **at_once})
        number = asked.lasts_s // asked.window_s
        width = len(str(number))
        after = {"name": AFTER, "seconds": AFTER_S, "share": AFTER_SHARE, "after_s": REST_S}
        return [
            closed,
            *(minute.model_copy(update={"name": f"{MINUTE}-{n:0{width}}"}) for n in range(1, number + 1)),
            closed.model_copy(update={"name": BURST, **at_once}),
            minute.model_copy(update=after),
        ]

    def windows(self, spec: TrialSpec) -> Windows:
        """Windows of a long run; nothing follows a full load that gives no rate."""
        closed, *others = spec.windows
        window = (yield closed).windows.get(spec.variants[0])
        if window and window.verdict is Verdict.OK:
            yield from in_order(others)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Soaked]:
        last = {trial.spec.variants[0]: trial for trial in trials}
        runs = [run_of(trial) for trial in last.values()]
        reached = Soaked(runs=runs, estimates=[one for run in runs for one in estimates_of(run)])
        concluded = together(trials, True, reached, tables.headline(reached))
        concluded.verdict = worst([concluded.verdict, *(run.verdict for run in runs)])
        concluded.reasons += [run.why for run in runs if run.verdict is not Verdict.OK]
        concluded.complete = True
        return concluded

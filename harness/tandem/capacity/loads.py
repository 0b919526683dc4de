"""The open windows of a capacity session: its probes, and the loads that show the behaviour around the capacity."""

from dataclasses import dataclass

from tandem.capacity import probe as probes
from tandem.capacity.journal import Asked
from tandem.capacity.probe import Probe
from tandem.capacity.record import Behaviour, Recovery
from tandem.capacity.search import window_s
from tandem.capacity.seconds import Responses, growth, per_second, recovered_at, responses
from tandem.errors import TandemError
from tandem.load.generator import read_report
from tandem.load.rows import read_rows
from tandem.old.lab import BenchLab
from tandem.old.session import Session
from tandem.record.window import Verdict, Window

SHARES, OVERLOADS = (0.5, 0.75, 0.9), (1.1, 1.5)
"""Of the capacity."""
RECOVERY_SHARE = 0.5


@dataclass
class Loads(Session):
    """What is measured inside a fresh start.

    under.plan: `open_s` is the shortest window. asked: its objective and the longest window are used.
    """

    asked: Asked

    def probe(self, lab: BenchLab, rate_rps: int) -> Probe:
        """One window at a rate, judged. Raises TandemError for wrong answers, and where the window would be too long."""
        seconds = self._window_s(rate_rps)
        window, found = self.open(lab, rate_rps, seconds)
        plan = self.under.plan
        made = probes.judge(
            window, growth(found, plan.trim_start_s, seconds - plan.trim_end_s), self.asked.slo
        )
        told = getattr(made.response_time_ms, self.asked.slo.percentile, None)
        figure = "" if told is None else f", {self.asked.slo.percentile} {told:,.1f} ms"
        self.view.note(
            f"  {rate_rps:,}/s: {made.state}{figure}{': ' if made.reasons else ''}{'; '.join(made.reasons)}"
        )
        return made

    def load(self, lab: BenchLab, share: float, capacity_rps: int) -> Behaviour:
        """One load, and after an overload what comes right after it. Raises TandemError for wrong answers."""
        made = self._load(lab, share, max(1, round(capacity_rps * share)))
        if share > 1:
            made.recovery = self._recover(lab, max(1, int(capacity_rps * RECOVERY_SHARE)), made)
        self.view.note(f"  {share:.0%}: {made.goodput_rps:,.0f}/s of {made.offered_rps:,}/s")
        return made

    def open(
        self, lab: BenchLab, rate_rps: int, seconds: int, settled: bool = True
    ) -> tuple[Window, Responses]:
        """An open window and the response times of its requests."""
        self.view.phase(f"open, {rate_rps:,}/s", seconds)
        window = lab.measure("open", seconds, rate_rps, settled)
        errors = sum(read_report(lab.folder / "open.json").errorDistribution.values())
        return window, responses(read_rows(lab.folder / "open.sqlite"), window, errors)

    def _window_s(self, rate_rps: int) -> int:
        plan = self.under.plan
        trims_s = plan.trim_start_s + plan.trim_end_s
        return window_s(self.asked.slo, rate_rps, plan.open_s, self.asked.longest_s, trims_s)

    def _load(self, lab: BenchLab, share: float, rate_rps: int) -> Behaviour:
        try:
            seconds = self._window_s(rate_rps)
        except TandemError:  # the percentile cannot be had at this rate: it stays null
            seconds = self.asked.longest_s
        window, _ = self.open(lab, rate_rps, seconds)
        probes.refuse_wrong(window)
        assert window.scheduled is not None
        return Behaviour(
            share=share,
            offered_rps=rate_rps,
            seconds=seconds,
            goodput_rps=window.goodput_rps,
            service_time_ms=window.service_time_ms,
            response_time_ms=window.response_time_ms,
            failed_share=probes.failed_share(window),
            unsent_share=(window.unsent or 0) / window.scheduled,
            bottleneck=window.bottleneck,
            verdict=Verdict.VOID if probes.voids(window) else Verdict.OK,
            findings=window.findings,
        )

    def _recover(self, lab: BenchLab, rate_rps: int, load: Behaviour) -> Recovery:
        assert lab.began_s is not None
        ended_s, seconds = lab.began_s + load.seconds, self.under.plan.open_s
        _, found = self.open(lab, rate_rps, seconds, settled=False)
        gap_s = max(0.0, lab.began_s - ended_s)
        values = per_second(found, self.asked.slo.quantile, 0.0, seconds)
        at = recovered_at(values, self.asked.slo.limit_ms)
        return Recovery(gap_s=gap_s, per_second_ms=values, recovery_s=None if at is None else gap_s + at)

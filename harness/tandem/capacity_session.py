"""Searches an implementation's capacity on real containers, confirms it, and shows what it does beyond it."""

import random
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tandem import probe as probes
from tandem.capacity import MOST_PROBES, Confirmation, Search, Slo, window_s
from tandem.capacity_record import Behaviour, Capacity, Recovery, limited_by
from tandem.catalog import Implementation, Plan
from tandem.errors import TandemError
from tandem.generator import read_report
from tandem.lab import BenchLab
from tandem.prepare import Prepared
from tandem.probe import Probe, State
from tandem.record import Environment, Verdict, Window
from tandem.rows import read_rows
from tandem.seconds import Responses, growth, per_second, recovered_at, responses
from tandem.session import BEFORE_AGAIN_S, VISIT_OVERHEAD_S, WINDOW_OVERHEAD_S, Session, folder_for
from tandem.store import write_atomically

RECOVER_S = 2.0
"""Between a probe that failed and the next window."""
SHARES, OVERLOADS = (0.5, 0.75, 0.9), (1.1, 1.5)
RECOVERY_SHARE = 0.5
VOID_STARTS = 2
"""So many further fresh starts may replace void ones."""
TYPICAL_PROBES = 9


@dataclass
class CapacitySession(Session):
    """One run of `tandem capacity`.

    under.plan: `trials` fresh starts confirm; `closed_s` and `open_s` are the first window and the shortest
    probe. longest_s: no window is longer.
    """

    slo: Slo
    longest_s: int
    _search: list[Probe] = field(default_factory=list)
    _confirmations: list[Probe] = field(default_factory=list)
    _behaviour: list[Behaviour] = field(default_factory=list)
    _goodput_rps: float = 0.0
    _environment: Environment | None = None
    _state: Search = field(default_factory=lambda: Search(1))
    _confirmation: Confirmation | None = None

    def run(self, implementation: Implementation) -> Capacity:
        """Raises UsageError, TandemError; whatever happens, the containers are removed."""
        started = self.now()
        self.under.check(self.scenario.name, [implementation])
        self.clean_up()
        folder = folder_for(self.results, f"capacity-{implementation.name}-{self.scenario.name}", started)
        prepared = self.under.prepare(implementation, self.scenario, folder / "app")
        reasons: list[str] = []
        with self.stack([prepared], folder):
            self._environment = self.environment(prepared)
            try:
                search = self._find(prepared, folder / "search", reasons)
                confirmation = self._confirm(prepared, folder, search, reasons)
                if confirmation and confirmation.confirmed:
                    self._show(prepared, folder / "behaviour", confirmation.lower_rps)
            except TandemError as error:  # what was found until then is kept
                self._write(
                    folder, self._report(implementation, started, [*reasons, str(error)], failed=True)
                )
                raise
            found = self._report(implementation, started, reasons)
            self._write(folder, found)
        return found

    def _write(self, folder: Path, found: Capacity) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "capacity.json", found.model_dump_json(indent=1) + "\n")

    # ---- the search, inside one warm start ----

    def _find(self, prepared: Prepared, folder: Path, reasons: list[str]) -> Search:
        plan, search = self.under.plan, self._state
        self.view.trial(f"search: at most {MOST_PROBES} probes in one fresh start")
        with self.fresh(prepared, folder) as lab:
            closed = self.closed(lab, plan.closed_s)
            self._goodput_rps = closed.goodput_rps
            search.start_rps = max(1, int(closed.goodput_rps * plan.open_load_fraction))
            self.view.note(
                f"  closed: {closed.goodput_rps:,.0f}/s; the search begins at {search.start_rps:,}/s"
            )
            while (rate := search.next_rps()) is not None:
                made = self._probe(lab, rate, self._search)
                if made.state is State.VOID:
                    reasons.append(f"the host disturbed the probe at {rate:,}/s twice: {made.reasons[0]}")
                    break
                search.tell(rate, made.state is State.PASSED)
                if made.state is State.FAILED:
                    time.sleep(RECOVER_S)
        if search.lower_rps is None and not reasons:
            reasons.append(f"no rate was found at which {self.slo} holds")
        return search

    def _probe(self, lab: BenchLab, rate_rps: int, kept: list[Probe]) -> Probe:
        """A probe; once more if it was void. What stalls the generator both times is a limit, not an accident."""
        made = self._once(lab, rate_rps, kept)
        if made.state is State.VOID:
            time.sleep(BEFORE_AGAIN_S)
            stalled, made = made.stalled, self._once(lab, rate_rps, kept)
            if stalled and made.stalled:
                made = kept[-1] = probes.stalled_again(made)
        return made

    def _once(self, lab: BenchLab, rate_rps: int, kept: list[Probe]) -> Probe:
        seconds = self._window_s(rate_rps)
        window, found = self._open(lab, rate_rps, seconds)
        made = probes.judge(window, growth(found, *self._measured(seconds)), self.slo)
        kept.append(made)
        told = getattr(made.response_time_ms, self.slo.percentile, None)
        figure = "" if told is None else f", {self.slo.percentile} {told:,.1f} ms"
        self.view.note(
            f"  {rate_rps:,}/s: {made.state}{figure}{': ' if made.reasons else ''}{'; '.join(made.reasons)}"
        )
        return made

    def _open(
        self, lab: BenchLab, rate_rps: int, seconds: int, settled: bool = True
    ) -> tuple[Window, Responses]:
        self.view.phase(f"open, {rate_rps:,}/s", seconds)
        window = lab.measure("open", seconds, rate_rps, settled)
        errors = sum(read_report(lab.folder / "open.json").errorDistribution.values())
        return window, responses(read_rows(lab.folder / "open.sqlite"), window, errors)

    def _window_s(self, rate_rps: int) -> int:
        plan = self.under.plan
        trims_s = plan.trim_start_s + plan.trim_end_s
        return window_s(self.slo, rate_rps, plan.open_s, self.longest_s, trims_s)

    def _measured(self, seconds: int) -> tuple[float, float]:
        return self.under.plan.trim_start_s, seconds - self.under.plan.trim_end_s

    # ---- confirmation, a fresh start each ----

    def _confirm(
        self, prepared: Prepared, folder: Path, search: Search, reasons: list[str]
    ) -> Confirmation | None:
        lower, upper, plan = search.lower_rps, search.upper_rps, self.under.plan
        if reasons or lower is None or upper is None:
            return None
        state, void = Confirmation(lower, upper, plan.trials), 0
        self._confirmation = state
        while (rate := state.next_rps()) is not None:
            number = len(self._confirmations) + 1
            self.view.trial(f"confirmation {len(state.outcomes) + 1} of {plan.trials} at {rate:,}/s")
            with self.fresh(prepared, folder / f"confirmation-{number}") as lab:
                made = self._once(lab, rate, self._confirmations)
            if made.state is not State.VOID:
                state.tell(made.state is State.PASSED)
                continue
            void += 1
            if void > VOID_STARTS:
                reasons.append(f"the host disturbed {void} confirmations: {made.reasons[0]}")
                return state
        if not state.confirmed:
            reasons.append(
                f"{self.slo} did not hold in {state.needed} of {plan.trials} fresh starts, at {state.lower_rps:,}/s either"
            )
        return state

    # ---- behaviour, one fresh start ----

    def _show(self, prepared: Prepared, folder: Path, capacity_rps: int) -> None:
        shares = list(SHARES)
        random.Random(self.seed).shuffle(shares)
        self.view.trial(f"behaviour around {capacity_rps:,}/s")
        with self.fresh(prepared, folder) as lab:
            for share in (*shares, *OVERLOADS):
                load = self._load(lab, share, capacity_rps)
                if share > 1:
                    load.recovery = self._recover(lab, max(1, int(capacity_rps * RECOVERY_SHARE)), load)
                self._behaviour.append(load)
                self.view.note(f"  {share:.0%}: {load.goodput_rps:,.0f}/s of {load.offered_rps:,}/s")
        self._behaviour.sort(key=lambda load: load.share)

    def _load(self, lab: BenchLab, share: float, capacity_rps: int) -> Behaviour:
        rate = max(1, round(capacity_rps * share))
        try:
            seconds = self._window_s(rate)
        except TandemError:  # the percentile cannot be had at this rate: it stays null
            seconds = self.longest_s
        window, _ = self._open(lab, rate, seconds)
        probes.refuse_wrong(window)
        assert window.scheduled is not None
        voids = probes.voids(window)
        return Behaviour(
            share=share,
            offered_rps=rate,
            seconds=seconds,
            goodput_rps=window.goodput_rps,
            service_time_ms=window.service_time_ms,
            response_time_ms=window.response_time_ms,
            failed_share=probes.failed_share(window),
            unsent_share=(window.unsent or 0) / window.scheduled,
            bottleneck=window.bottleneck,
            verdict=Verdict.VOID if voids else Verdict.OK,
            findings=window.findings,
        )

    def _recover(self, lab: BenchLab, rate_rps: int, load: Behaviour) -> Recovery:
        assert lab.began_s is not None
        ended_s, seconds = lab.began_s + load.seconds, self.under.plan.open_s
        _, found = self._open(lab, rate_rps, seconds, settled=False)
        gap_s = max(0.0, lab.began_s - ended_s)
        values = per_second(found, self.slo.quantile, 0.0, seconds)
        at = recovered_at(values, self.slo.limit_ms)
        return Recovery(gap_s=gap_s, per_second_ms=values, recovery_s=None if at is None else gap_s + at)

    # ---- the record ----

    def _report(
        self, implementation: Implementation, started: datetime, reasons: list[str], failed: bool = False
    ) -> Capacity:
        search, confirmation = self._state, self._confirmation
        confirmed = confirmation is not None and confirmation.confirmed
        capacity = confirmation.lower_rps if confirmation and confirmed else None
        verdict = Verdict.OK if confirmed else Verdict.INVALID
        if failed:
            verdict = Verdict.FAILED
        elif any("disturbed" in reason for reason in reasons):
            verdict = Verdict.VOID
        return Capacity(
            started_at=started,
            finished_at=self.now(),
            implementation=implementation.name,
            scenario=self.scenario.name,
            topology=self.under.topology,
            placement=self.under.placement,
            plan=self.under.plan.name,
            seed=self.seed,
            knobs=self.under.knobs,
            slo=self.slo,
            verdict=verdict,
            reasons=reasons,
            closed_goodput_rps=self._goodput_rps,
            search=self._search,
            decided=search.decided,
            bracket_rps=(search.lower_rps, search.upper_rps),
            confirmations=self._confirmations,
            confirmed=confirmation.passed if confirmation else 0,
            fresh_starts=self.under.plan.trials,
            capacity_rps=capacity,
            refused_rps=confirmation.upper_rps if confirmation and confirmed else None,
            limited_by=limited_by([*self._search, *self._confirmations], capacity),
            behaviour=self._behaviour,
            phases_s=dict(self.phases_s),
            environment=self._environment,
        )


def estimate_s(plan: Plan, longest_s: int) -> tuple[float, float]:
    """How long a session takes without builds, with the shortest and with the longest windows."""

    def total(window: float) -> float:
        each = window + WINDOW_OVERHEAD_S
        start = plan.warm_up_s + VISIT_OVERHEAD_S
        loads = (len(SHARES) + len(OVERLOADS)) * each + len(OVERLOADS) * plan.open_s
        return 2 * start + plan.closed_s + TYPICAL_PROBES * each + plan.trials * (start + each) + loads

    return total(plan.open_s), total(longest_s)

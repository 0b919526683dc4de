"""Searches an implementation's capacity on real containers, confirms it, and shows what it does beyond it."""

import random
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tandem.capacity import MOST_PROBES, Confirmation, Search
from tandem.capacity_loads import OVERLOADS, SHARES, Loads
from tandem.capacity_record import Behaviour, Capacity, limited_by
from tandem.catalog import Implementation, Plan
from tandem.errors import TandemError
from tandem.lab import BenchLab
from tandem.prepare import Prepared
from tandem.probe import Probe, State, stalled_again
from tandem.record import Environment, Verdict
from tandem.session import BEFORE_AGAIN_S, VISIT_OVERHEAD_S, WINDOW_OVERHEAD_S, folder_for
from tandem.store import write_atomically

RECOVER_S = 2.0
"""Between a probe that failed and the next window."""
VOID_STARTS = 2
"""So many further fresh starts may replace void ones."""
TYPICAL_PROBES = 9


@dataclass
class CapacitySession(Loads):
    """One run of `tandem capacity`.

    under.plan: `trials` fresh starts confirm; `closed_s` is the first window.
    """

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
                made = self._probe(lab, rate)
                if made.state is State.VOID:
                    reasons.append(f"the host disturbed the probe at {rate:,}/s twice: {made.reasons[0]}")
                    break
                search.tell(rate, made.state is State.PASSED)
                if made.state is State.FAILED:
                    time.sleep(RECOVER_S)
        if search.lower_rps is None and not reasons:
            reasons.append(f"no rate was found at which {self.slo} holds")
        return search

    def _probe(self, lab: BenchLab, rate_rps: int) -> Probe:
        """A probe; once more if it was void. What stalls the generator both times is a limit, not an accident."""
        kept = self._search
        kept.append(self.probe(lab, rate_rps))
        if kept[-1].state is State.VOID:
            time.sleep(BEFORE_AGAIN_S)
            kept.append(self.probe(lab, rate_rps))
            if kept[-2].stalled and kept[-1].stalled:
                kept[-1] = stalled_again(kept[-1])
        return kept[-1]

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
                made = self.probe(lab, rate)
            self._confirmations.append(made)
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
                self._behaviour.append(self.load(lab, share, capacity_rps))
        self._behaviour.sort(key=lambda load: load.share)

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

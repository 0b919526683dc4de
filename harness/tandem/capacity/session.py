"""Searches an implementation's capacity on real containers, confirms it, and shows what it does beyond it."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tandem.capacity.journal import Journal
from tandem.capacity.loads import OVERLOADS, SHARES, Loads
from tandem.capacity.probe import State
from tandem.capacity.record import Capacity, limited_by
from tandem.capacity.search import MOST_PROBES, Search
from tandem.capacity.steps import ConfirmationSteps, SearchSteps, confirmation_of, reasons, replay
from tandem.catalog.catalog import Plan
from tandem.ceiling.around import ceilings_of, look_s
from tandem.errors import TandemError
from tandem.old.prepare import Prepared
from tandem.old.run import Environment
from tandem.old.session import BEFORE_AGAIN_S, VISIT_OVERHEAD_S, WINDOW_OVERHEAD_S
from tandem.record.window import Verdict

RECOVER_S = 2.0
"""Between a probe that failed and the next window."""
TYPICAL_PROBES = 9


@dataclass
class CapacitySession(Loads):
    """One run of `tandem capacity`.

    under.plan: `trials` fresh starts confirm; `closed_s` is the first window.
    """

    _journal: Journal = field(init=False)
    _search: SearchSteps = field(init=False, default_factory=lambda: SearchSteps(Search(1)))
    _confirmation: ConfirmationSteps | None = field(init=False, default=None)
    _environment: Environment | None = field(init=False, default=None)
    _ceilings_rps: dict[str, float | None] = field(init=False, default_factory=dict)

    def run(self, resume: bool) -> Capacity:
        """Raises UsageError, TandemError; whatever happens, the containers are removed and what was measured is kept."""
        implementation = self.under.catalog.implementation(self.asked.implementation)
        self.under.check(self.scenario.name, [implementation])
        self.clean_up()
        journal = self._journal = Journal.begin(self.results, self.asked, resume, self.now())
        if resume:
            self._remember()
            self.view.note(f"going on with {journal.folder.name}: {journal.told()}")
        prepared = self.under.prepare(implementation, self.scenario, journal.folder / "app")
        with self._kept(), self.stack([prepared], journal.folder):
            self._environment = self.environment(prepared)
            if self.under.plan.ceilings:
                with self.timed("ceilings"):
                    self._ceilings_rps = ceilings_of(self, journal.folder)
            try:
                self._find(prepared)
                self._confirm(prepared)
                self._show(prepared)
            except TandemError as error:
                journal.finish(self._report(str(error)))
                raise
            found = self._report()
            journal.finish(found)
        return found

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """An error that leaves the session unfinished, such as the engine's, says how it goes on."""
        try:
            yield
        except Exception:
            if not self._journal.finished and self._journal.progress.closed_goodput_rps is not None:
                self.view.note("what was measured is kept; the same command with --resume goes on")
            raise

    def _remember(self) -> None:
        """Tells the search and its confirmation what was measured. Raises TandemError where that does not fit."""
        made, trials = self._journal.progress, self.under.plan.trials
        self.asked = self._journal.asked
        self._search.search.start_rps = self._start_rps()
        try:
            replay(self._search, made.search)
            self._confirmation = confirmation_of(self._search, trials)
            if self._confirmation is not None:
                replay(self._confirmation, made.confirmations)
        except TandemError as error:
            raise self._journal.unusable(str(error)) from None
        if made.confirmations and self._confirmation is None:
            raise self._journal.unusable("it has confirmations of a search that has not ended")
        if made.behaviour and self._capacity_rps() is None:
            raise self._journal.unusable("it has loads around a capacity that was not confirmed")

    def _capacity_rps(self) -> int | None:
        """The lower edge, once it is confirmed."""
        state = None if self._confirmation is None else self._confirmation.confirmation
        return state.lower_rps if state is not None and state.confirmed else None

    # ---- the search, inside one warm start ----

    def _find(self, prepared: Prepared) -> None:
        """Where it was interrupted it goes on in another fresh start, without the closed window."""
        made, steps = self._journal.progress, self._search
        if steps.next_rps() is None:
            return
        number = made.search_starts + 1
        self.view.trial(f"search: at most {MOST_PROBES} probes in one fresh start")
        with self.fresh(prepared, self._folder("search", number)) as lab:
            made.search_starts = number
            if made.closed_goodput_rps is None:
                made.closed_goodput_rps = self.closed(lab, self.under.plan.closed_s).goodput_rps
                self._journal.save()
                steps.search.start_rps = self._start_rps()
                self.view.note(
                    f"  closed: {made.closed_goodput_rps:,.0f}/s; the search begins at {steps.search.start_rps:,}/s"
                )
            while (rate := steps.next_rps()) is not None:
                probe = steps.tell(self.probe(lab, rate))
                made.search.append(probe)
                self._journal.save()
                if steps.again is not None:
                    time.sleep(BEFORE_AGAIN_S)
                elif probe.state is State.FAILED:
                    time.sleep(RECOVER_S)

    def _start_rps(self) -> int:
        goodput_rps = self._journal.progress.closed_goodput_rps or 0.0
        return max(1, int(goodput_rps * self.under.plan.open_load_fraction))

    def _folder(self, what: str, number: int) -> Path:
        """Of the number-th fresh start that something took."""
        return self._journal.folder / (what if number == 1 else f"{what}-{number}")

    # ---- confirmation, a fresh start each ----

    def _confirm(self, prepared: Prepared) -> None:
        made, trials = self._journal.progress, self.under.plan.trials
        steps = self._confirmation = self._confirmation or confirmation_of(self._search, trials)
        while steps is not None and (rate := steps.next_rps()) is not None:
            self.view.trial(f"confirmation {len(steps.confirmation.outcomes) + 1} of {trials} at {rate:,}/s")
            folder = self._journal.folder / f"confirmation-{len(made.confirmations) + 1}"
            with self.fresh(prepared, folder) as lab:
                made.confirmations.append(steps.tell(self.probe(lab, rate)))
                self._journal.save()

    # ---- behaviour, one fresh start ----

    def _show(self, prepared: Prepared) -> None:
        """Where it was interrupted it goes on in another fresh start."""
        made, capacity_rps = self._journal.progress, self._capacity_rps()
        shares = list(SHARES)
        random.Random(self.asked.seed).shuffle(shares)
        done = {load.share for load in made.behaviour}
        left = [share for share in (*shares, *OVERLOADS) if share not in done]
        if capacity_rps is None or not left:
            return
        number = made.behaviour_starts + 1
        self.view.trial(f"behaviour around {capacity_rps:,}/s")
        with self.fresh(prepared, self._folder("behaviour", number)) as lab:
            made.behaviour_starts = number
            for share in left:
                made.behaviour.append(self.load(lab, share, capacity_rps))
                self._journal.save()

    # ---- the record ----

    def _report(self, error: str | None = None) -> Capacity:
        """error: what ended the session before its end."""
        made, steps, asked = self._journal.progress, self._confirmation, self.asked
        search, capacity_rps = self._search.search, self._capacity_rps()
        verdict = Verdict.INVALID if capacity_rps is None else Verdict.OK
        if error is not None:
            verdict = Verdict.FAILED
        elif self._search.disturbed is not None or (steps is not None and steps.disturbed is not None):
            verdict = Verdict.VOID
        return Capacity(
            started_at=made.started_at,
            finished_at=self.now(),
            implementation=asked.implementation,
            scenario=asked.scenario,
            topology=asked.topology,
            placement=asked.placement,
            plan=self.under.plan.name,
            seed=asked.seed,
            knobs=asked.knobs,
            slo=asked.slo,
            verdict=verdict,
            reasons=[*reasons(self._search, steps, asked.slo), *([error] if error else [])],
            closed_goodput_rps=made.closed_goodput_rps or 0.0,
            search=made.search,
            search_starts=made.search_starts,
            decided=search.decided,
            bracket_rps=(search.lower_rps, search.upper_rps),
            confirmations=made.confirmations,
            confirmed=steps.confirmation.passed if steps else 0,
            fresh_starts=self.under.plan.trials,
            capacity_rps=capacity_rps,
            refused_rps=steps.confirmation.upper_rps if steps and capacity_rps is not None else None,
            limited_by=limited_by([*made.search, *made.confirmations], capacity_rps),
            behaviour=sorted(made.behaviour, key=lambda load: load.share),
            behaviour_starts=made.behaviour_starts,
            ceilings_rps=self._ceilings_rps,
            phases_s=dict(self.phases_s),
            environment=self._environment,
        )


def estimate_s(plan: Plan, longest_s: int) -> tuple[float, float]:
    """How long a session takes without builds, with the shortest and with the longest windows."""

    def total(window: float) -> float:
        each = window + WINDOW_OVERHEAD_S
        start = plan.warm_up_s + VISIT_OVERHEAD_S
        loads = (len(SHARES) + len(OVERLOADS)) * each + len(OVERLOADS) * plan.open_s
        return (
            look_s(plan)
            + 2 * start
            + plan.closed_s
            + TYPICAL_PROBES * each
            + plan.trials * (start + each)
            + loads
        )

    return total(plan.open_s), total(longest_s)

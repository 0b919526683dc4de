"""The study behind `compare`: blocks of fresh starts, all up and warm, a short window of each alone, one in which they take
turns in slices, windows of each at equal rates, and where the plan has them some of all at once (tandem.engine.side_by_side).

In slices, what the host does for longer than a second falls on all alike. What cannot be sliced takes turns in windows while
the others are frozen. What a request costs depends on the rate, so cost is compared at rates that are the same for all: shares
of what the slowest reaches.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from pydantic import ValidationError

from tandem.analysis.alternation import AlternatingBlock, alternation
from tandem.analysis.cost import APP, TOTAL, at
from tandem.analysis.looks import PlannedLook
from tandem.catalog.catalog import Catalog, Implementation, Pairing
from tandem.catalog.scenario import WHOLE_WINDOWS, Scenario
from tandem.engine import stand_ins
from tandem.engine.blocks import Blocks, in_blocks
from tandem.engine.estimate import Overheads, overheads_of, trial_s
from tandem.engine.side_by_side import (
    again,
    all_at_once,
    duet_of,
    honest,
    in_turn,
    is_duet,
    reached,
    second,
    warm_up_of,
    window_of,
)
from tandem.engine.study import Study, Windows, warn_of_too_few_blocks
from tandem.errors import UsageError, unknown
from tandem.facts.paired import good_facts
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.store import file_name
from tandem.record.trial import Slicing, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.studies.compare import report as tables
from tandem.studies.compare.conclusions import METRICS, Compared, against, conclude, decided
from tandem.studies.compare.detecting import PILOT, CompareOptions, Design, Pair, design, within

LOOK_S = 2
"""Seconds of the window of each variant alone, where figures come from slices."""
WAITS_MOST = 0.25
"""The longest wait, as a share of a slice: a request that waits for longer has too few answers in it."""
BLOCKS_MOST = 1000
"""The most blocks: the seed of a block's slices is the request's, times this, plus the block's number."""
DECIDING_SHARE = 0.6
"""The equal rate that is nearest to this share decides."""
NEAR_LIMIT = 0.75
"""Share from which on a moment's disturbance offers more than can be served: the study judges such a window itself."""
EQUAL_TRIMS_S = {"trim_start_s": 1.0, "trim_end_s": 0.5}
"""Trims at both ends of a window at an equal rate: its connections are opened first."""


def sliced_of(spec: WindowSpec, made: Sequence[WindowRecord]) -> WindowSpec | None:
    """The window in slices, of those whose own window was right; None below two."""
    labels = list(honest(spec.variants, made))
    return spec.model_copy(update={"variants": labels}) if len(labels) > 1 else None


def equal_of(spec: WindowSpec, labels: Sequence[str], made: Sequence[WindowRecord]) -> WindowSpec | None:
    """A variant's window at the rate for all, which follows from the windows before it; None where somebody reached
    nothing, or the variant is wrong. labels: the variants of the trial that are compared at this rate."""
    found, [label] = reached(labels, made), spec.variants
    if spec.equal_share is None or found is None or label not in found:
        return None
    rate = max(1, int(spec.equal_share * min(found.values())))
    return spec.model_copy(update={"rates_rps": {label: rate}})


def unsliced(implementation: Implementation, scenario: Scenario, slice_s: float) -> str | None:
    """Why a variant cannot be measured in slices; None if it can."""
    why = implementation.unsupported.slices or scenario.unsliced
    if why is None and scenario.delay_ms > WAITS_MOST * slice_s * 1e3:
        return f"a request waits {scenario.delay_ms} ms, too long for a slice of {slice_s:g} s"
    return why or (WHOLE_WINDOWS if scenario.scheduled else None)


def primary_of(pairing: Pairing) -> str:
    """The metric that decides where nobody names one: the cost at the equal rate nearest to DECIDING_SHARE, of all roles;
    without equal rates the application's, in the duet or alone."""
    if pairing.equal_shares:
        return at(TOTAL, min(pairing.equal_shares, key=lambda share: abs(share - DECIDING_SHARE)))
    return "duet_cpu_us_per_request" if pairing.duet_s else APP


def equal_orders(
    labels: list[str], shares: Sequence[float], blocks: int, seed: int
) -> list[list[tuple[float, str]]]:
    """The order of the windows at equal rates in each block: share and label. Shares and labels are drawn for the first block
    of a pair and reversed in the second, so a linear drift falls on all alike. More blocks change none of the first."""
    if not shares:
        return [[] for _ in range(blocks)]
    orders = {share: alternation(labels, blocks, 1, seed + n)[0].rounds for n, share in enumerate(shares, 1)}
    names = {str(share): share for share in shares}
    [drawn] = alternation(list(names), blocks, 1, seed)
    return [
        [(names[name], label) for name in order for label in orders[names[name]][number]]
        for number, order in enumerate(drawn.rounds)
    ]


class Compare(Study[Compared]):
    """Every variant, and the first a second time, in each block."""

    name = "compare"
    kind = Compared
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        if self.timing.compare is None:
            having = ", ".join(name for name, plan in catalog.plans.items() if plan.compare)
            raise UsageError(
                f"the plan {self.timing.name} has no [compare] table; these plans have one: {having}"
            )
        self.pairing: Pairing = self.timing.compare
        self.in_turns = self._in_turns()
        self.asked = CompareOptions.read(request)
        self.primary = self.asked.primary or primary_of(self.pairing)
        if self.primary not in METRICS:
            raise unknown("metric", self.primary, METRICS)
        self.labels, groups = [variant.label for variant in request.variants], self.asked.groups
        if groups and sorted(label for group in groups for label in group) != sorted(self.labels):
            raise UsageError(f"groups name each variant once, in lists of labels, not {groups}")
        self.pairs = self._pairs()
        planned = tuple(self.pairing.looks) if self.asked.looks is None else self.asked.looks
        self.looks = () if self.asked.aim else planned
        self._planned = PILOT if self.asked.aim else self.looks[-1] if self.looks else self.pairing.blocks
        """Number of blocks; with an aim, as far as it is known."""

    def _in_turns(self) -> dict[str, str]:
        """Variants that are not measured in slices, and why."""
        if not self.pairing.sliced_s:
            return {}
        found = {}
        for variant in self.request.variants:
            with suppress(UsageError, ValidationError):  # what there is not, is told where it is started
                implementation = self.catalog.implementation(variant.implementation)
                base = self.catalog.scenario(variant.scenario or self.request.scenario)
                scenario = base.with_changes(variant.scenario_changes)
                if (why := unsliced(implementation, scenario, self.pairing.slice_s)) is not None:
                    found[variant.label] = why
        return found

    def _pairs(self) -> list[Pair]:
        """Pairs whose both sides take part, and each program by its own of an earlier commit. Each once, in one direction: the
        other way round it would be a second draw of the same statement."""
        found: dict[frozenset[str], Pair] = {}
        earlier = [
            Pair(now.label, before.label)
            for before in self.request.variants
            for now in self.request.variants
            if before.tag and not now.tag and now.implementation == before.implementation
            if now.settings == before.settings
        ]
        for pair in [*self.asked.pairs, *earlier]:
            if {*pair} <= {*self.labels[1:]}:
                found.setdefault(frozenset(pair), pair)
        return list(found.values())

    @property
    def variants(self) -> list[Variant]:
        return [*self.request.variants, again(self.request.variants[0])]

    def outline(self) -> list[list[TrialSpec]]:
        return self._blocks(self._planned)

    def _blocks(self, number: int) -> list[list[TrialSpec]]:
        """The first so many blocks; more of them change none."""
        labels, pairing = [*self.labels, second(self.labels[0])], self.pairing
        seed = self.request.seed
        blocks = alternation(labels, pairing.rounds, number, seed)
        equal = equal_orders(labels, pairing.equal_shares, number, seed * BLOCKS_MOST)
        return [[self._trial(block, order)] for block, order in zip(blocks, equal, strict=True)]

    def plan(self) -> Blocks:
        """Blocks up to each look, void ones once more before it. The first look that decides is the last."""
        self._tell_what_decides()
        if self.asked.aim:
            yield from self._detecting()
            return
        blocks, made = self.outline(), list[Trial]()
        for number, (before, due) in enumerate(pairwise((0, *(self.looks or (len(blocks),)))), start=1):
            made += yield from in_blocks(blocks[before:due])
            look = PlannedLook(self.looks, number)
            if not look.last and decided(made, self.labels, self.primary, look):
                return

    def _tell_what_decides(self) -> None:
        tails = " the p99 at equal rates at another 5 %," if self.pairing.equal_shares else ""
        named = f"primary metric: {self.primary}, tested at 5 %;{tails} all others together at another 5 %"
        if self.asked.aim:
            named += (
                f"; after {PILOT} blocks it says how many this host needs, and goes on {self.asked.aim}. The estimate"
                f" is for the first {PILOT} blocks"
            )
        elif self.looks:
            *before, last = self.looks
            named += (
                f"; looks after {', '.join(map(str, before))} and {last} blocks: it ends at the first look that decides"
                f" the primary metric. The estimate is for all {last} blocks"
            )
        self.tell(named)
        if not self.asked.aim and not self.looks:
            warn_of_too_few_blocks(self, self.pairing.blocks, "--plan quick")

    def _detecting(self) -> Blocks:
        """The pilot; then, unless that decides, as many blocks as its scatter and the budget say."""
        pilot = yield from in_blocks(self._blocks(PILOT))
        found = self._design(pilot)
        if decided(pilot, self.labels, self.primary, found.look(PILOT)):
            self.tell(f"after {PILOT} blocks: the primary metric is decided")
            return
        self.tell(found.told)
        self._planned = found.blocks
        left_s = (self.asked.budget_s or math.inf) - self._spent_s(pilot)
        later = self._blocks(found.blocks)[PILOT:]
        yield from in_blocks(within(later, left_s, found.block_s, self._look_s))

    def _design(self, trials: Sequence[Trial]) -> Design:
        """What follows from the pilot among the trials, and from nothing behind it."""
        pilot = [trial for trial in trials if trial.spec.block <= PILOT]
        reference, *others = self.labels
        good = good_facts(pilot)
        scatter = [against(good, label, reference, self.primary) for label in others or [second(reference)]]
        made_again = max(1.0, len(pilot) / PILOT)
        [spec] = self._blocks(1)[0]
        block_s = (trial_s(spec, overheads_of(pilot)) + self._look_s) * made_again
        return design(self.asked, scatter, self._spent_s(pilot), block_s, BLOCKS_MOST - 1)

    def _spent_s(self, trials: Sequence[Trial]) -> float:
        return sum(trial.took_s + self._look_s for trial in trials)

    @property
    def _look_s(self) -> float:
        """What each block spends besides: a look at a ceiling."""
        if not stand_ins.wanted(self):
            return 0.0
        looks = stand_ins.expected(self.catalog, self.request, self._blocks(2))
        return trial_s(looks[-1], Overheads())

    def _trial(self, block: AlternatingBlock, equal: Sequence[tuple[float, str]]) -> TrialSpec:
        reference, pairing = self.labels[0], self.pairing
        sliced = [label for label in block.starts if label not in self.in_turns]
        if not pairing.sliced_s or reference in self.in_turns:
            sliced = []
        # What is not measured in slices takes turns with the reference. The others have one window alone, which tells
        # whether they do what they should: in slices and duets statements are counted for all together.
        turning = {label for label in block.starts if label not in sliced}
        turning |= {reference, second(reference)} if turning else set()
        windows = [
            in_turn(pairing, number, label, pairing.window_s if label in turning else LOOK_S)
            for number, order in enumerate(block.rounds, start=1)
            for label in order
            if number == 1 or label in turning
        ]
        if sliced:
            windows.append(self._in_slices(block.number, sliced))
        windows += [self._at_equal_rate(share, label) for share, label in equal]
        if pairing.duet_s:
            windows.append(all_at_once(pairing, block.starts, pairing.duet_s))
        if pairing.saturated_s:
            windows.append(all_at_once(pairing, block.starts, pairing.saturated_s, saturated=True))
        return TrialSpec(
            name=f"block-{block.number}",
            block=block.number,
            variants=block.starts,
            warm_up=warm_up_of(pairing),
            windows=windows,
        )

    def _in_slices(self, block: int, labels: list[str]) -> WindowSpec:
        """The window in slices, with one slice more of each variant, which opens its connections."""
        pairing = self.pairing
        each_s = (math.ceil(pairing.sliced_s / pairing.slice_s) + 1) * pairing.slice_s
        window = window_of(pairing, "slices", labels, math.ceil(each_s * len(labels)))
        how = Slicing(slice_s=pairing.slice_s, seed=self.request.seed * BLOCKS_MOST + block)
        return window.model_copy(update={"slices": how, "trim_start_s": 0.0, "trim_end_s": 0.0})

    def _at_equal_rate(self, share: float, label: str) -> WindowSpec:
        """A window through the whole path. Its rate follows from what was reached before it."""
        name = f"equal-{share * 100:.0f}-{file_name(label)}"
        window = window_of(self.pairing, name, [label], self.pairing.equal_s)
        how = {"load": "open", "equal_share": share, "counts": share < NEAR_LIMIT}
        return window.model_copy(update={**how, **EQUAL_TRIMS_S})

    def _beside(self, label: str, labels: Sequence[str]) -> list[str]:
        """Who is compared with a variant at equal rates: its group, the baseline's second start with the first; all, where
        there are no groups."""
        base = {second(self.labels[0]): self.labels[0]}
        own = next((group for group in self.asked.groups if base.get(label, label) in group), labels)
        return [one for one in labels if base.get(one, one) in own]

    def windows(self, spec: TrialSpec) -> Windows:
        """Windows of one variant each, the slices, then the windows whose rates follow from them."""
        made: list[WindowRecord] = []
        absent: set[str] = set()
        for window in spec.windows:
            wanted: WindowSpec | None = None
            if is_duet(window):
                wanted = duet_of(window, made)
            elif window.equal_share is not None:
                wanted = equal_of(window, self._beside(window.variants[0], spec.variants), made)
            elif window.slices is not None:
                wanted = sliced_of(window, made)
            elif absent.isdisjoint(window.variants):
                wanted = window
            if wanted is None:
                continue
            record = yield wanted
            if not is_duet(window):
                made.append(record)
            if not record.spec.variants:  # it did not start: that is told once
                absent.update(window.variants)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Compared]:
        planned = self._design(trials) if self.asked.aim else None
        looks, primary = self.looks, self.primary
        found = conclude(trials, self.variants, baselines, self.in_turns, primary, looks, planned, self.pairs)
        found.headline = tables.headline(found.conclusions)
        return found

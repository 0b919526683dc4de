"""The study behind `nightly`: each implementation's image of today against its frozen one, in duet blocks.

A block is one trial: today's image, the frozen one twice, and the one that was frozen first where that is another, up side by
side on the frozen stack. Each is loaded alone for one short window,
which tells how much it can do, and then all at once at one rate (see tandem.engine.side_by_side). Passes over all
implementations and scenarios follow each other until the budget is spent, so what the machine does meanwhile falls on all.
"""

import random
from collections.abc import Iterator, Sequence

from pydantic import Field

from tandem.analysis.change import LEARNED
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.estimate import Overheads, trial_s
from tandem.engine.side_by_side import again, all_at_once, duet_of, in_turn, is_duet, warm_up_of
from tandem.engine.study import Options, Study, Windows
from tandem.errors import UsageError
from tandem.record.part import Number
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Conclusions
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec, WindowRecord
from tandem.studies.nightly import report as tables
from tandem.studies.nightly.conclusions import beside, conclude

DUET_S = 6
"""Seconds of a duet where the plan has none."""
AT_MOST = 200
"""The most passes; a budget does not ask for more."""


class NightlyOptions(Options):
    needs = "the options of a night"
    frozen: dict[str, str] = Field(default_factory=dict)
    """Implementation -> tag of what it is compared with."""
    first: dict[str, str] = Field(default_factory=dict)
    """Implementation -> tag of what was frozen first, where its frozen image is another."""
    stack: dict[str, str] = Field(default_factory=dict)
    """Variables of compose/stack.yaml that name its images."""
    programs: dict[str, str] = Field(default_factory=dict)
    """Implementation -> tag of today's image."""
    budget_s: Number | None = None
    """Time of all trials together."""
    blocks: int = AT_MOST
    """Blocks of each implementation and scenario, where there is no budget."""


class Nightly(Study[Conclusions]):
    """Every implementation under every scenario that was asked for, a block of each in turn."""

    name = "nightly"
    kind = Conclusions
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        if self.timing.compare is None:
            raise UsageError(f"the plan {self.timing.name} has no table [compare]")
        self.pairing, self.asked = self.timing.compare, NightlyOptions.read(request)

    @property
    def variants(self) -> list[Variant]:
        every = [
            one.model_copy(update={"variables": {**one.variables, **self.asked.stack}})
            for one in self.request.variants
        ]
        found = [*every]
        for variant in every:
            frozen, _, first = beside(variant.label)
            kept = ("frozen", frozen, self.asked.frozen), ("first", first, self.asked.first)
            for image, label, tags in kept:
                if tag := tags.get(variant.implementation):
                    own = {"label": label, "base": variant.label, "tag": tag, "coordinates": {"image": image}}
                    one = variant.model_copy(update=own)
                    found += [one, again(one)] if image == "frozen" else [one]
        return found

    def outline(self) -> list[list[TrialSpec]]:
        """Blocks that the budget should have time for."""
        budget_s, spent_s = self.asked.budget_s, 0.0
        found = []
        for number, spec in enumerate(self._specs()):
            spent_s += trial_s(spec, Overheads())
            if budget_s is not None and number >= len(self.request.variants) and spent_s > budget_s:
                break
            found.append([spec])
        return found

    def _specs(self) -> Iterator[TrialSpec]:
        """Trials of one pass after the other, in an order that the seed fixes."""
        chance = random.Random(self.request.seed)
        for number in range(1, self.asked.blocks + 1):
            for variant in chance.sample(self.request.variants, len(self.request.variants)):
                labels = [variant.label, *beside(variant.label)]
                if variant.implementation not in self.asked.first:
                    labels.pop()
                chance.shuffle(labels)
                windows = [in_turn(self.pairing, 1, label, self.pairing.window_s) for label in labels]
                duet = all_at_once(self.pairing, labels, self.pairing.duet_s or DUET_S)
                yield TrialSpec(
                    name=f"{number:03}-{file_name(variant.label)}",
                    block=number,
                    variants=labels,
                    warm_up=warm_up_of(self.pairing),
                    windows=[*windows, duet],
                )

    def plan(self) -> Blocks:
        """Passes until the budget is spent, by the time that the trials took. A void block is not made again: the next pass is as
        good, and the budget holds."""
        each, budget_s = len(self.outline()) / len(self.request.variants), self.asked.budget_s
        self.tell(
            f"one night decides nothing: it has time for {each:.0f} blocks of each, and a series is not judged in its first"
            f" {LEARNED} nights"
        )
        spent_s, longest_s = 0.0, 0.0
        for number, spec in enumerate(self._specs()):
            once_each = number < len(self.request.variants)
            if budget_s is not None and not once_each and spent_s + longest_s > budget_s:
                return
            trials = yield [spec]
            took_s = sum(trial.took_s for trial in trials)
            spent_s, longest_s = spent_s + took_s, max(longest_s, took_s)

    def windows(self, spec: TrialSpec) -> Windows:
        """Windows of each image in turn, then the duet at rates that follow from them. An image of long ago may not serve today's
        contract: without the one that was frozen first the others go on."""
        made: list[WindowRecord] = []
        needed = {*spec.variants} - {beside(one.label)[-1] for one in self.request.variants}
        for window in spec.windows:
            if not is_duet(window):
                made.append((yield window))
            elif (duet := duet_of(window, made)) is not None and needed <= {*duet.variants}:
                yield duet

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Conclusions]:
        return conclude(trials, self.request.variants)
